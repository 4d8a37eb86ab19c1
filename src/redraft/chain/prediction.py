r"""Models that predict something else than x̂0, made into denoisers.

With x = alpha x_0 + sigma eps (x_0: the data) each usual prediction is linear in x and x_0. Taking
expectations given x, x̂0 is linear in x and the prediction:

    eps                                 x̂0 = (x - sigma eps)/alpha
    v = alpha eps - sigma x_0           x̂0 = (alpha x - sigma v)/(alpha² + sigma²)
    score = -eps/sigma (Tweedie)        x̂0 = (x + sigma² score)/alpha
    velocity u = eps - x_0              x̂0 = (x - sigma u)/(alpha + sigma)

alpha and sigma come from the chain, by the row's level. Where alpha = 0 (zero terminal
signal-to-noise ratio) x is pure noise, and eps and the score say nothing about x_0; v and u do.

`clip` clamps x̂0 to [-clip, clip]. It changes the sampler, so it is part of the *target*: drafts and
verification see the clipped x̂0, and the samples follow the law of the clipped sampler.

References:
    - Denoising Diffusion Probabilistic Models (eps), https://arxiv.org/abs/2006.11239
    - Progressive Distillation for Fast Sampling of Diffusion Models (v),
      https://arxiv.org/abs/2202.00512
    - Score-Based Generative Modeling through Stochastic Differential Equations (score),
      https://arxiv.org/abs/2011.13456
    - Flow Matching for Generative Modeling (velocity), https://arxiv.org/abs/2210.02747
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

import torch
from torch import Tensor

from redraft.chain.chain import Chain

Model: TypeAlias = Callable[..., Tensor]
Rule: TypeAlias = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True, eq=False)
class Converted:
    """Denoiser x̂0 = p x + q model(x, level), with (p, q) = rule(alpha, sigma) at the row's level.

    Attributes:
        model: ``model(x, level, **cond)`` -> prediction of x's shape.
        chain: Gives alpha and sigma.
        kind: What the model predicts; used in errors.
        rule: (alpha, sigma) -> (p, q), elementwise.
        clip: Bound of |x̂0|, or None.
    """

    model: Model
    chain: Chain
    kind: str
    rule: Rule
    clip: float | None

    def __post_init__(self) -> None:
        if self.clip is not None and not 0 < self.clip < inf:
            raise ValueError(f"clip must be positive and finite, or None, got {self.clip}")
        alpha, sigma = self.chain.scales(self.chain.call_levels)
        p, q = self.rule(alpha, sigma)
        bad = (~(p.isfinite() & q.isfinite())).nonzero()
        if len(bad):
            n = int(bad[0])
            raise ValueError(
                f"a model that predicts {self.kind} cannot give x̂0 at level "
                f"{self.chain.call_levels[n].item():.9g} of chain {self.chain.name!r}, where "
                f"alpha = {alpha[n].item():.3g} and sigma = {sigma[n].item():.3g}. Start the chain "
                "at a level with signal, or use a model that predicts v, a velocity or x̂0."
            )

    def __call__(self, x: Tensor, level: Tensor, **cond: Tensor) -> Tensor:
        """x̂0 at every row.

        Args:
            x: States, (R, *shape).
            level: (R,) levels of the chain.
            **cond: Conditioning, (R, ...) each, handed to the model.

        Returns:
            x̂0, (R, *shape), of x's dtype (computed in float32 at least).

        Raises:
            ValueError: If `level` is not (R,) or not of the chain, or if the model's output has
                another shape than x.
        """
        if level.shape != x.shape[:1]:
            raise ValueError(
                f"level must have shape ({len(x)},), one per row of x, got {tuple(level.shape)}"
            )
        dtype = torch.promote_types(x.dtype, torch.float32)
        per_row = (-1,) + (1,) * (x.ndim - 1)
        p, q = (scale.to(dtype).view(per_row) for scale in self.rule(*self.chain.scales(level)))
        prediction = self.model(x, level, **cond)
        if prediction.shape != x.shape:
            raise ValueError(
                f"the model of {self.kind} returned shape {tuple(prediction.shape)} for x of shape "
                f"{tuple(x.shape)}; if it also predicts a variance, cut that part off"
            )
        x0 = p * x + q * prediction
        if self.clip is not None:
            x0 = x0.clamp(-self.clip, self.clip)
        return x0.to(x.dtype)


def _eps_rule(alpha: Tensor, sigma: Tensor) -> tuple[Tensor, Tensor]:
    return 1 / alpha, -sigma / alpha


def _v_rule(alpha: Tensor, sigma: Tensor) -> tuple[Tensor, Tensor]:
    power = alpha.square() + sigma.square()
    return alpha / power, -sigma / power


def _score_rule(alpha: Tensor, sigma: Tensor) -> tuple[Tensor, Tensor]:
    return 1 / alpha, sigma.square() / alpha


def _velocity_rule(alpha: Tensor, sigma: Tensor) -> tuple[Tensor, Tensor]:
    return 1 / (alpha + sigma), -sigma / (alpha + sigma)


def from_eps(model: Model, chain: Chain, clip: float | None = None) -> Converted:
    """Denoiser of a noise-predicting model: x̂0 = (x - sigma eps)/alpha.

    Args:
        model: ``model(x, level, **cond)`` -> eps, of x's shape; level as in the chain.
        chain: Chain with alpha and sigma.
        clip: Clamp x̂0 to [-clip, clip]; part of the target.

    Raises:
        ValueError: If the chain has no scales, if alpha = 0 at a level, or if clip <= 0.

    References:
        Ho et al. 2020, eq. 15, https://arxiv.org/abs/2006.11239
    """
    return Converted(model, chain, "eps", _eps_rule, clip)


def from_v(model: Model, chain: Chain, clip: float | None = None) -> Converted:
    """Denoiser of a v-predicting model, v = alpha eps - sigma x_0: x̂0 = (alpha x - sigma
    v)/(alpha² + sigma²).

    Args:
        model: ``model(x, level, **cond)`` -> v, of x's shape; level as in the chain.
        chain: Chain with alpha and sigma.
        clip: Clamp x̂0 to [-clip, clip]; part of the target.

    Raises:
        ValueError: If the chain has no scales, or if clip <= 0.

    References:
        Salimans and Ho 2022, appendix D, https://arxiv.org/abs/2202.00512
    """
    return Converted(model, chain, "v", _v_rule, clip)


def from_score(model: Model, chain: Chain, clip: float | None = None) -> Converted:
    """Denoiser of a score model, score = grad log p(x) = -E[eps | x]/sigma: x̂0 = (x + sigma²
    score)/alpha.

    Args:
        model: ``model(x, level, **cond)`` -> score, of x's shape; level as in the chain.
        chain: Chain with alpha and sigma.
        clip: Clamp x̂0 to [-clip, clip]; part of the target.

    Raises:
        ValueError: If the chain has no scales, if alpha = 0 at a level, or if clip <= 0.

    References:
        Song et al. 2021, https://arxiv.org/abs/2011.13456
    """
    return Converted(model, chain, "a score", _score_rule, clip)


def from_velocity(model: Model, chain: Chain, clip: float | None = None) -> Converted:
    """Denoiser of a flow-matching model, u = eps - x_0 (from data to noise): x̂0 = (x - sigma
    u)/(alpha + sigma).

    Args:
        model: ``model(x, level, **cond)`` -> u, of x's shape; level as in the chain. Negate a model
            that predicts x_0 - eps.
        chain: Chain with alpha and sigma.
        clip: Clamp x̂0 to [-clip, clip]; part of the target.

    Raises:
        ValueError: If the chain has no scales, or if clip <= 0.

    References:
        Lipman et al. 2023, https://arxiv.org/abs/2210.02747
    """
    return Converted(model, chain, "velocity", _velocity_rule, clip)
