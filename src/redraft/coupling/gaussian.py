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

from typing import NamedTuple

import numpy as np

from redraft.coupling.normal import ndtr, ndtri, phi
from redraft.coupling.pair import Floats

__all__ = ["TINY", "GaussianPair"]

TINY = 1e-10
"""Distances delta below this count as this: the two laws differ by less than 4e-11 in variation."""

_FAR = 40.0
_LEAST = float(np.finfo(np.float64).tiny)
_MOST_STEPS = 60
_ROUNDING = 4e-16
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

        Solves h(zeta) = sqrt(-log uniform), h = sqrt(-log(S / S(c))), by Newton steps: S falls off
        like a parabola at its edge and like a Gaussian far out, so h is nearly a straight line. The
        start is the root of the tangent of h at the edge, if that is near, or else of the upper
        bound S(zeta) <= rho Phi(delta - zeta). A bracket catches steps lost to rounding.

        Args:
            rho: Weight of the target (...), positive.
            lam: Weight of the draft (...), non-negative.
            uniform: In (0, 1), shape (...).
        """
        delta = np.maximum(self.delta, TINY)
        edge, total = _edge(delta, rho, lam), np.maximum(self.excess(rho, lam), _LEAST)
        goal, aim = np.maximum(uniform * total, _LEAST), np.sqrt(-np.log(uniform))
        low = np.maximum(edge, delta - _FAR)
        high = np.maximum(low, delta - ndtri(np.minimum(goal / rho, 1.0 - 1e-16)))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            tangent = edge + aim * np.sqrt(2.0 * total / (rho * delta * phi(edge - delta)))
        zeta = np.where((uniform > 0.8) & (tangent > low), np.minimum(tangent, high), high)
        for _ in range(_MOST_STEPS):
            ahead, behind = rho * ndtr(delta - zeta), lam * ndtr(-zeta)
            mass, noise = ahead - behind, (1 + (zeta - delta) ** 2) * ahead + (1 + zeta**2) * behind
            density = rho * phi(zeta - delta) - lam * phi(zeta)
            left = mass > goal  # the root lies to the right of zeta
            low, high = np.where(left, zeta, low), np.where(left, high, zeta)
            height = np.sqrt(-np.log(np.clip(mass / total, _LEAST, 1.0)))
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                trial = zeta + 2.0 * height * (aim - height) * (mass / density)
            inside = (trial >= low) & (trial <= high)
            trial = np.where(inside, trial, 0.5 * (low + high))
            trial = np.where(np.abs(mass - goal) <= _ROUNDING * noise, zeta, trial)
            step, zeta = np.abs(trial - zeta), trial
            if np.all(step <= _TOLERANCE * (1.0 + np.abs(zeta))):
                break
        return zeta


def _survival(delta: Floats, zeta: Floats, rho: Floats, lam: Floats) -> Floats:
    """Return S(zeta), the mass of the excess density above zeta."""
    return rho * ndtr(delta - zeta) - lam * ndtr(-zeta)


def _edge(delta: Floats, rho: Floats, lam: Floats) -> Floats:
    """Return c, where the excess begins; -inf if lam = 0, +inf if rho = 0."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        edge = 0.5 * delta + (np.log(lam) - np.log(rho)) / delta
    return np.where(lam <= 0.0, -np.inf, np.where(rho <= 0.0, np.inf, edge))
