r"""Two Gaussians with the same isotropic covariance, seen along the line that joins their means.

Let :math:`P = N(m_P, s^2 I)`, :math:`Q = N(m_Q, s^2 I)`, :math:`\delta = \|m_Q - m_P\| / s`,
:math:`e = (m_Q - m_P) / \|m_Q - m_P\|` and :math:`z = (y - m_P) / s`. The part *along*,
:math:`\zeta = \langle e, z \rangle`, is N(0, 1) under P and N(delta, 1) under Q; the part *across*,
:math:`z - \zeta e`, is standard normal and independent of it under both. Hence

.. math::
    r(y) = \exp(\delta (\zeta - \delta / 2)), \qquad
    (\rho Q - \lambda P)_+ = (\rho\,\varphi(\zeta - \delta) - \lambda\,\varphi(\zeta))_+
        \times \text{(the common law across)},

a density on :math:`\zeta \ge c = \delta/2 + \ln(\lambda/\rho)/\delta` whose survival function is
:math:`S(\zeta) = \rho\,\Phi(\delta - \zeta) - \lambda\,\Phi(-\zeta)`, so :math:`E(\rho, \lambda) =
S(c)`. Decisions look at :math:`\zeta` only; that is why a recovered state may keep the part across
of a rejected draft.

References:
    | Accelerating Speculative Diffusions via Block Verification (Soen et al., 2026), Prop. 3.1
    | https://arxiv.org/abs/2606.13426
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["TINY", "GaussianPair"]

TINY = 1e-10
"""Distances delta below this count as this: the two laws differ by less than 4e-11 in variation."""

_NEWTON_STEPS = 60
_TOLERANCE = 1e-13


class GaussianPair(NamedTuple):
    """The pair at every node, reduced to one number.

    Attributes:
        delta: Distance of the means in standard deviations, float64, any batch shape (...).
    """

    delta: Tensor

    def log_ratio(self, child: Tensor) -> Tensor:
        """Return delta (zeta - delta / 2) for the parts along ``child`` = zeta (..., K)."""
        delta = self.delta.unsqueeze(-1)
        return delta * torch.add(child, delta, alpha=-0.5)

    def excess(self, rho: Tensor, lam: Tensor) -> Tensor:
        """Return rho Phi(delta - c) - lam Phi(-c), clipped to [0, rho]."""
        delta = self.delta.clamp_min(TINY)
        mass = self._survival(delta, _edge(delta, rho, lam), rho, lam)
        return torch.minimum(mass.clamp_min(0.0), rho)

    def sample_excess(self, rho: Tensor, lam: Tensor, uniform: Tensor) -> Tensor:
        r"""Return the part along, zeta (...), by inverting the survival function.

        Solves S(zeta) = uniform * S(c) with Newton steps on log S, which is concave: from a start
        on the right the steps fall monotonically onto the root. The start is the root of the upper
        bound S(zeta) <= rho Phi(delta - zeta). A bracket catches steps lost to rounding.

        Args:
            rho: Weight of the target (...), positive.
            lam: Weight of the draft (...), non-negative.
            uniform: In (0, 1), shape (...).
        """
        delta = self.delta.clamp_min(TINY)
        edge = _edge(delta, rho, lam)
        goal = uniform * self.excess(rho, lam)
        goal = goal.clamp_min(torch.finfo(goal.dtype).tiny)
        zeta = delta - torch.special.ndtri((goal / rho).clamp_max(1.0 - 1e-16))
        low = torch.maximum(edge, delta - 40.0)
        zeta = torch.maximum(zeta, low)
        high = zeta
        for _ in range(_NEWTON_STEPS):
            mass = self._survival(delta, zeta, rho, lam)
            density = rho * _phi(zeta - delta) - lam * _phi(zeta)
            left = mass > goal  # the root lies to the right of zeta
            low, high = torch.where(left, zeta, low), torch.where(left, high, zeta)
            step = mass / density * torch.log(mass / goal)
            trial = zeta + step
            good = (trial >= low) & (trial <= high)
            trial = torch.where(good, trial, 0.5 * (low + high))
            done = (trial - zeta).abs() <= _TOLERANCE * (1.0 + zeta.abs())
            zeta = trial
            if bool(done.all()):
                break
        return zeta

    @staticmethod
    def _survival(delta: Tensor, zeta: Tensor, rho: Tensor, lam: Tensor) -> Tensor:
        return rho * torch.special.ndtr(delta - zeta) - lam * torch.special.ndtr(-zeta)


def _edge(delta: Tensor, rho: Tensor, lam: Tensor) -> Tensor:
    """Return c, where the excess begins; -inf if lam = 0, +inf if rho = 0."""
    edge = 0.5 * delta + (torch.log(lam) - torch.log(rho)) / delta
    return torch.where(lam <= 0.0, -math.inf, torch.where(rho <= 0.0, math.inf, edge))


def _phi(z: Tensor) -> Tensor:
    return torch.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
