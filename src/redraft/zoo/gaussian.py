r"""A Gaussian target with its exact denoiser: the reference for everything that has a closed form.

For :math:`x_0 \sim N(m, C)` and :math:`x = x_0 + \sigma\epsilon`, the posterior mean is affine
in x: with the eigenvalues :math:`\lambda_i` and the orthogonal eigenvectors :math:`U` of :math:`C`,

.. math::
    \hat x_0(x, \sigma) = A x + (I - A) m, \quad
    A = C (C + \sigma^2 I)^{-1}
      = U\, \mathrm{diag}\Bigl(\frac{\lambda_i}{\lambda_i + \sigma^2}\Bigr) U^T

so that every state of a chain is Gaussian with a mean and covariance that follow from A.

References:
    Tweedie's Formula and Selection Bias (Efron, 2011), https://doi.org/10.1198/jasa.2011.tm11181
"""

from __future__ import annotations

import torch
from torch import Tensor


class Gaussian:
    r"""Target :math:`N(m, C)`, called as a denoiser ``target(x, level)``.

    Args:
        mean: Mean m, shape (d,).
        cov: Covariance C, shape (d, d), symmetric and positive semi-definite.

    Attributes:
        mean: Mean, shape (d,), float64.
        cov: Covariance, shape (d, d), float64.

    Raises:
        ValueError: The shapes do not fit, or cov is not symmetric and positive semi-definite.
    """

    def __init__(self, mean: Tensor, cov: Tensor) -> None:
        if mean.ndim != 1 or cov.shape != (len(mean), len(mean)):
            raise ValueError(
                f"mean must be (d,) and cov (d, d); got {tuple(mean.shape)} and {tuple(cov.shape)}"
            )
        self.mean = mean.to(torch.float64)
        self.cov = cov.to(torch.float64)
        if not torch.allclose(self.cov, self.cov.T, rtol=1e-6, atol=1e-9):
            raise ValueError("cov must be symmetric: give (cov + cov.T) / 2")
        self._eigenvalues, self._basis = torch.linalg.eigh(self.cov)
        smallest = self._eigenvalues[0].item()
        if smallest < -1e-9 * max(1.0, self._eigenvalues[-1].item()):
            raise ValueError(
                f"cov must be positive semi-definite; its smallest eigenvalue is {smallest:.3g}"
            )
        self._eigenvalues = self._eigenvalues.clamp(min=0)
        self._placed: dict[tuple[torch.device, torch.dtype], tuple[Tensor, Tensor, Tensor]] = {}

    def _constants(self, like: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Mean, eigenvalues and basis on the device and in the dtype of a tensor."""
        key = (like.device, like.dtype)
        if key not in self._placed:
            self._placed[key] = (
                self.mean.to(like),
                self._eigenvalues.to(like),
                self._basis.to(like),
            )
        return self._placed[key]

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
        flat = flat_rows(x, len(self.mean))
        mean, eigenvalues, basis = self._constants(flat)
        variance = level.to(flat).square().unsqueeze(1)
        # At level 0 a null eigenvalue would give 0 / 0; its coordinate is known, so that any
        # shrinkage does.
        shrink = eigenvalues / (eigenvalues + variance).clamp(min=torch.finfo(flat.dtype).tiny)
        return (mean + (((flat - mean) @ basis) * shrink) @ basis.T).to(x.dtype).view_as(x)

    def affine(self, level: float) -> tuple[Tensor, Tensor]:
        r"""The denoiser at one level as :math:`\hat x_0 = A x + c`.

        Args:
            level: Noise level sigma, positive.

        Returns:
            A, shape (d, d), and c, shape (d,), both float64.
        """
        shrink = self._eigenvalues / (self._eigenvalues + level**2)
        matrix = (self._basis * shrink) @ self._basis.T
        return matrix, self.mean - matrix @ self.mean

    def sample(self, num: int, generator: torch.Generator) -> Tensor:
        """Draw from the target.

        Args:
            num: Number of draws.
            generator: Source of the randomness, on the CPU.

        Returns:
            The draws, shape (num, d), float64.
        """
        noise = torch.randn(num, len(self.mean), generator=generator, dtype=torch.float64)
        return self.mean + (noise * self._eigenvalues.sqrt()) @ self._basis.T


def flat_rows(x: Tensor, dim: int) -> Tensor:
    """Flatten the trailing shape of x, and widen half precision.

    Args:
        x: Data, shape (R, *shape) with dim numbers a row.
        dim: Numbers a row.

    Returns:
        The same numbers, shape (R, dim), float64 if x is, else float32.

    Raises:
        ValueError: A row of x has not dim numbers.
    """
    flat = x.reshape(x.shape[0], -1)
    if flat.shape[1] != dim:
        raise ValueError(
            f"x has {flat.shape[1]} numbers a row, the target {dim}: "
            f"give shape (R, *shape) with {dim} in all"
        )
    return flat if flat.dtype == torch.float64 else flat.float()


def gaussian(
    dim: int, seed: int = 0, *, mean: Tensor | None = None, cov: Tensor | None = None
) -> Gaussian:
    """Make a Gaussian target; what is not given is drawn from the seed.

    Args:
        dim: Dimension d.
        seed: Seed of a normal mean of standard deviation 0.5, of eigenvalues uniform on [0.05, 1]
            and of the eigenbasis.
        mean: Mean, shape (d,).
        cov: Covariance, shape (d, d).

    Returns:
        The target, with exact denoiser.

    Raises:
        ValueError: dim is below 1, or a shape does not fit it.
    """
    if dim < 1:
        raise ValueError(f"dim must be at least 1, got {dim}")
    generator = torch.Generator().manual_seed(seed)
    drawn_mean = 0.5 * torch.randn(dim, generator=generator, dtype=torch.float64)
    eigenvalues = 0.05 + 0.95 * torch.rand(dim, generator=generator, dtype=torch.float64)
    basis, _ = torch.linalg.qr(torch.randn(dim, dim, generator=generator, dtype=torch.float64))
    target = Gaussian(
        drawn_mean if mean is None else mean,
        (basis * eigenvalues) @ basis.T if cov is None else cov,
    )
    if len(target.mean) != dim:
        raise ValueError(f"mean and cov must have dimension {dim}, got {len(target.mean)}")
    return target
