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

import numpy as np
import torch

from redraft.coupling.pair import Floats

__all__ = ["TINY", "GaussianPair"]

TINY = 1e-10
"""Distances delta below this count as this: the two laws differ by less than 4e-11 in variation."""

_FAR = 40.0
_MOST_STEPS = 60
_TOLERANCE = 1e-13


class GaussianPair(NamedTuple):
    """The pair at every node, reduced to one number.

    Attributes:
        delta: Distance of the means in standard deviations, any batch shape (...).
    """

    delta: Floats

    def log_ratio(self, child: Floats) -> Floats:
        """Return delta (zeta - delta / 2) for the parts along ``child`` = zeta (..., K)."""
        delta = self.delta[..., None]
        return delta * (child - 0.5 * delta)

    def excess(self, rho: Floats, lam: Floats) -> Floats:
        """Return rho Phi(delta - c) - lam Phi(-c), clipped to [0, rho]."""
        delta = np.maximum(self.delta, TINY)
        mass = _survival(delta, _edge(delta, rho, lam), rho, lam)
        return np.minimum(np.maximum(mass, 0.0), rho)

    def sample_excess(self, rho: Floats, lam: Floats, uniform: Floats) -> Floats:
        r"""Return the part along, zeta (...), by inverting the survival function.

        Solves S(zeta) = uniform * S(c) with Newton steps on log S, which is concave: from a start
        on the right the steps fall monotonically onto the root. The start is the root of the upper
        bound S(zeta) <= rho Phi(delta - zeta). A bracket catches steps lost to rounding.

        Args:
            rho: Weight of the target (...), positive.
            lam: Weight of the draft (...), non-negative.
            uniform: In (0, 1), shape (...).
        """
        delta = np.maximum(self.delta, TINY)
        goal = np.maximum(uniform * self.excess(rho, lam), np.finfo(np.float64).tiny)
        low = np.maximum(_edge(delta, rho, lam), delta - _FAR)
        zeta = delta - _ndtri(np.minimum(goal / rho, 1.0 - 1e-16))
        zeta = high = np.maximum(zeta, low)
        for _ in range(_MOST_STEPS):
            mass = _survival(delta, zeta, rho, lam)
            density = rho * _phi(zeta - delta) - lam * _phi(zeta)
            left = mass > goal  # the root lies to the right of zeta
            low, high = np.where(left, zeta, low), np.where(left, high, zeta)
            with np.errstate(divide="ignore", invalid="ignore"):
                trial = zeta + mass / density * np.log(mass / goal)
            inside = (trial >= low) & (trial <= high)
            trial = np.where(inside, trial, 0.5 * (low + high))
            step, zeta = np.abs(trial - zeta), trial
            if np.all(step <= _TOLERANCE * (1.0 + np.abs(zeta))):
                break
        return zeta


def _survival(delta: Floats, zeta: Floats, rho: Floats, lam: Floats) -> Floats:
    """Return S(zeta), the mass of the excess density above zeta."""
    return rho * _ndtr(delta - zeta) - lam * _ndtr(-zeta)


def _edge(delta: Floats, rho: Floats, lam: Floats) -> Floats:
    """Return c, where the excess begins; -inf if lam = 0, +inf if rho = 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        edge = 0.5 * delta + (np.log(lam) - np.log(rho)) / delta
    return np.where(lam <= 0.0, -np.inf, np.where(rho <= 0.0, np.inf, edge))


def _phi(z: Floats) -> Floats:
    return np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


def _ndtr(z: Floats) -> Floats:
    return torch.special.ndtr(torch.as_tensor(z)).numpy()


def _ndtri(mass: Floats) -> Floats:
    return torch.special.ndtri(torch.as_tensor(mass)).numpy()
