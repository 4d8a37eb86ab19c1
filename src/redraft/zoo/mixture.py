r"""A mixture of isotropic Gaussians with its exact denoiser: a closed form with several modes.

For :math:`x_0 \sim \sum_k w_k N(m_k, s_k^2 I)` and :math:`x = x_0 + \sigma\epsilon`,

.. math::
    \hat x_0(x, \sigma)
        = \sum_k r_k \Bigl(m_k + \frac{s_k^2}{s_k^2 + \sigma^2} (x - m_k)\Bigr), \quad
    r_k \propto w_k\, N(x; m_k, (s_k^2 + \sigma^2) I)

where the responsibilities :math:`r_k` are computed from logarithms.

References:
    Pattern Recognition and Machine Learning (Bishop, 2006), section 9.2
"""

from __future__ import annotations

from functools import cached_property

import torch
from torch import Tensor

from redraft.zoo.gaussian import flat_rows


class Mixture:
    r"""Target :math:`\sum_k w_k N(m_k, s_k^2 I)`, called as a denoiser ``target(x, level)``.

    Args:
        means: Means m, shape (K, d).
        stds: Standard deviations s, shape (K,), positive.
        weights: Weights w, shape (K,), positive with sum 1.

    Attributes:
        means: Means, shape (K, d), float64.
        stds: Standard deviations, shape (K,), float64.
        weights: Weights, shape (K,), float64.
        mean: Mean of the mixture, shape (d,), float64.

    Raises:
        ValueError: The shapes do not fit, a number is not positive, or the weights do not sum to 1.
    """

    def __init__(self, means: Tensor, stds: Tensor, weights: Tensor) -> None:
        if means.ndim != 2 or stds.shape != means.shape[:1] or weights.shape != means.shape[:1]:
            shapes = [tuple(part.shape) for part in (means, stds, weights)]
            raise ValueError(f"means must be (K, d), stds (K,) and weights (K,); got {shapes}")
        self.means, self.stds, self.weights = (
            part.to(torch.float64) for part in (means, stds, weights)
        )
        if not (self.stds > 0).all() or not (self.weights > 0).all():
            raise ValueError(
                f"stds and weights must be positive, got {stds.tolist()} and {weights.tolist()}"
            )
        if abs(self.weights.sum().item() - 1) > 1e-6:
            total = self.weights.sum().item()
            raise ValueError(f"weights must sum to 1, got {total:.6g}: divide them by their sum")
        self.mean = self.weights @ self.means
        self._placed: dict[tuple[torch.device, torch.dtype], tuple[Tensor, Tensor, Tensor]] = {}

    @cached_property
    def cov(self) -> Tensor:
        """Covariance of the mixture, shape (d, d), float64; made when asked for."""
        spread = self.means - self.mean
        inside = (self.weights * self.stds.square()).sum()
        between = (spread * self.weights.unsqueeze(1)).T @ spread
        return between + inside * torch.eye(len(self.mean), dtype=torch.float64)

    def _constants(self, like: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Means, variances and log-weights on the device and in the dtype of a tensor."""
        key = (like.device, like.dtype)
        if key not in self._placed:
            self._placed[key] = (
                self.means.to(like),
                self.stds.square().to(like),
                self.weights.log().to(like),
            )
        return self._placed[key]

    def _parts(self, x: Tensor, level: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Offsets x - m (R, K, d), shrinkage and log joint density (R, K), and means (K, d)."""
        means, variances, log_weights = self._constants(x)
        total = variances + level.to(x).square().unsqueeze(1)
        # Differences before squares: |x|^2 - 2 x m + |m|^2 would cancel at high levels.
        offsets = x.unsqueeze(1) - means
        exponent = offsets.square().sum(-1) / total + x.shape[1] * (2 * torch.pi * total).log()
        return offsets, variances / total, log_weights - exponent / 2, means

    def __call__(self, x: Tensor, level: Tensor) -> Tensor:
        r"""Posterior mean :math:`E[x_0 \mid x_0 + \sigma\epsilon = x]`.

        Args:
            x: Noisy data, shape (R, *shape) with d numbers a row.
            level: Noise level sigma of each row, shape (R,).

        Returns:
            The posterior means, same shape and dtype as x; half precision is computed in float32.

        Raises:
            ValueError: A row of x has not d numbers.
        """
        flat = flat_rows(x, self.means.shape[1])
        offsets, shrink, log_joint, means = self._parts(flat, level)
        share = log_joint.log_softmax(1).exp()
        out = share @ means + ((share * shrink).unsqueeze(-1) * offsets).sum(1)
        return out.to(x.dtype).view_as(x)

    def log_density(self, x: Tensor, level: Tensor) -> Tensor:
        r"""Log-density of :math:`x_0 + \sigma\epsilon`; level 0 gives the target's own.

        Args:
            x: Points, shape (R, *shape) with d numbers a row.
            level: Noise level sigma of each row, shape (R,).

        Returns:
            The log-densities, shape (R,), float64 if x is, else float32.
        """
        return self._parts(flat_rows(x, self.means.shape[1]), level)[2].logsumexp(1)

    def sample(self, num: int, generator: torch.Generator) -> Tensor:
        """Draw from the target.

        Args:
            num: Number of draws.
            generator: Source of the randomness, on the CPU.

        Returns:
            The draws, shape (num, d), float64.
        """
        component = torch.multinomial(self.weights, num, replacement=True, generator=generator)
        noise = torch.randn(num, self.means.shape[1], generator=generator, dtype=torch.float64)
        return self.means[component] + self.stds[component].unsqueeze(1) * noise


def mixture(dim: int, components: int, seed: int = 0) -> Mixture:
    """Make a mixture drawn from a seed.

    Args:
        dim: Dimension d.
        components: Number K of components.
        seed: Seed of means (standard normal), standard deviations (uniform on [0.1, 0.4]) and
            weights (uniform on [0.5, 1.5] before their sum is set to 1).

    Returns:
        The target, with exact denoiser.

    Raises:
        ValueError: dim or components is below 1.
    """
    if dim < 1 or components < 1:
        raise ValueError(f"dim and components must be at least 1, got {dim} and {components}")
    generator = torch.Generator().manual_seed(seed)
    means = torch.randn(components, dim, generator=generator, dtype=torch.float64)
    stds = 0.1 + 0.3 * torch.rand(components, generator=generator, dtype=torch.float64)
    weights = 0.5 + torch.rand(components, generator=generator, dtype=torch.float64)
    return Mixture(means, stds, weights / weights.sum())
