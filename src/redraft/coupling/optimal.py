r"""Optimal list coupling: no rule accepts one of K i.i.d. drafts more often.

Let f be the density of N(delta, 1) and :math:`g(s) = K \Phi(s)^{K-1} \varphi(s)`, the law of the
largest of K parts along; with :math:`k(s) = K \Phi(s)^{K-1} = g / \varphi`, the ratio :math:`r(s) =
f / \varphi`, and

.. math:: H(s) = \int_{-\infty}^s (g - f) = \Phi(s)^K - \Phi(s - \delta).

:math:`\ln(f / g)` is convex, negative between two roots :math:`s_1 < s_2`, so H falls to
:math:`H(s_1) < 0`, rises to :math:`H(s_2) > 0` and falls to 0; :math:`s_0` is its root between. A
child with part along s has a *priority*:

.. math::
    s \ge s_0 &: \; s \\
    s < s_0 &: \; b \text{ with probability } w = \frac{r(s) - k(s)}{k(b) - k(s)}, \text{ else } s,

b being the partner of s, the other point below :math:`s_0` with H(b) = H(s). The child of the
largest priority is chosen. It is accepted always if :math:`s < s_0`, else with probability
:math:`\min(1, f / g)`; a recovered part along is drawn from :math:`(f - g)_+` on :math:`s > s_2`,
whose survival function is H itself.

Why it is exact. Level sets of H match ds at s with db at b so that :math:`|k - r| \varphi\,ds =
|k - r| \varphi\,db`; hence w moves as much mass from s to b as from b to s, and priorities are
again i.i.d. N(0, 1). A child at :math:`s < s_0` is then chosen with density :math:`\varphi(s)\,[(1
- w)\,k(s) + w\,k(b)] = \varphi\,r = f`, one above with density g. So the chosen law is f below
:math:`s_0` and g above, and :math:`\min(1, f / g)` with what is missing above :math:`s_2` completes
it (see `redraft.coupling.selection`). Where H is below 1e-18, it counts as 0.

Why it is optimal. An accepted measure :math:`\mu` has :math:`\mu \le f` and :math:`\mu(A) \le 1 -
(1 - p(A))^K`; with A = (c, inf), :math:`\alpha \le 1 - \Phi(c)^K + \Phi(c - \delta)`, so
:math:`\alpha \le \alpha^* = 1 - \max_c [\Phi(c)^K - \Phi(c - \delta)] = 1 - H(s_2)`, which is
attained.

References:
    | Rank-Aware Speculative Sampling for Diffusion Draft Trees (Bullo et al., 2026): the bound
    | https://arxiv.org/abs/2610.02251
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from redraft.coupling.normal import log_ndtr, ndtr, ndtri, phi
from redraft.coupling.pair import Floats
from redraft.coupling.root import solve
from redraft.coupling.selection import Choice, Selection

__all__ = ["Optimal", "promotions", "turns"]

Ints = NDArray[np.int64]

NOTHING = 1e-18
_LEAST = float(np.finfo(np.float64).tiny)
_MOST_STEPS = 60
_FAR = 40.0
_NEAR = 1e-6


class Turns(NamedTuple):
    """Where f and g change places, each (n,)."""

    s0: Floats
    s1: Floats
    s2: Floats


class Optimal(Selection):
    """Optimal list coupling: the most often that one of several drafts can be accepted."""

    name = "optimal"

    def choose(self, delta: Floats, log_ratio: Floats, uniform: Floats) -> Choice:
        """Choose the child of the largest priority; each child's coin promotes it.

        A child that its coin may promote is accepted if chosen, so no coin decides twice.
        """
        count, rows = log_ratio.shape[1], np.arange(len(delta))
        zeta = log_ratio / delta[:, None] + 0.5 * delta[:, None]
        at = turns(delta, count)
        rank = self.priority(delta, at, zeta, uniform).argmax(axis=1)
        s, ratio = zeta[rows, rank], log_ratio[rows, rank]
        chance = np.exp(np.minimum(ratio - np.log(count) - (count - 1) * log_ndtr(s), 0.0))
        return Choice(rank, uniform[rows, rank], np.where(s < at.s0, 1.0, chance))

    def priority(self, delta: Floats, at: Turns, zeta: Floats, uniform: Floats) -> Floats:
        """Return the priorities (n, K) of children at ``zeta``: their partners' if promoted."""
        partner, weight = promotions(delta, zeta.shape[1], at, zeta)
        return np.where(uniform < weight, partner, zeta)

    def residual(self, delta: Floats, count: int, uniform: Floats) -> Floats:
        """Return where H, the survival function beyond s2, is ``uniform`` of what it is there."""
        low = np.minimum(turns(delta, count).s2, delta + _FAR)
        goal = np.maximum(uniform * _above(delta, count, low), _LEAST)
        high = np.maximum(low, delta - ndtri(np.minimum(goal, 0.5 + 0.5 * uniform)))

        def left(s: Floats, at: Ints) -> tuple[Floats, Floats]:
            slope = phi(s - delta[at]) - _largest(count, s)
            return goal[at] - _above(delta[at], count, s), slope

        return solve(left, low, high)


def turns(delta: Floats, count: int) -> Turns:
    """Return s0, s1 and s2 for distances (n,) and ``count`` > 1 children.

    Newton steps for the convex ln(f / g) from points beyond its roots never overshoot. s0 is -inf
    if H(s1) counts as 0 (no promotions), +inf if H(s2) does (every child is accepted).
    """
    more = count - 1
    right = 0.5 * delta + np.log(count) / delta  # since ln Phi <= 0
    # since ln Phi(s) <= -s^2 / 2 - ln 2 for s <= 0
    slack = np.abs(more * np.log(2.0) - np.log(count) - 0.5 * delta * delta)
    left = -(delta + np.sqrt(delta * delta + 2.0 * more * slack)) / more
    ends = np.stack((left, right))
    for _ in range(_MOST_STEPS):
        log = log_ndtr(ends)
        value = delta * (ends - 0.5 * delta) - np.log(count) - more * log
        slope = delta - more * np.exp(-0.5 * ends * ends - 0.5 * np.log(2.0 * np.pi) - log)
        moved = np.where(value > 0.0, ends - value / np.where(slope == 0.0, 1.0, slope), ends)
        arrived = np.abs(moved - ends) <= 1e-14 * (1.0 + np.abs(ends))
        ends = np.where(arrived, ends, moved)
        if arrived.all():
            break
    s1, s2 = ends
    few = np.where(s1 > 0.0, _above(delta, count, s1), _below(delta, count, s1)) > -NOTHING
    many = _above(delta, count, s2) < NOTHING

    def log_tails(s: Floats, at: Ints) -> tuple[Floats, Floats]:
        of_f, of_g = ndtr(delta[at] - s), _tail(count, s)
        return np.log(of_f / of_g), _largest(count, s) / of_g - phi(s - delta[at]) / of_f

    s0 = solve(log_tails, s1, np.where(few | many, s1, s2))
    return Turns(np.where(many, np.inf, np.where(few, -np.inf, s0)), s1, s2)


def promotions(delta: Floats, count: int, at: Turns, zeta: Floats) -> tuple[Floats, Floats]:
    """Return the partners b (n, K) of parts along (n, K), and w, which is 0 above s0."""
    partner, weight = zeta.copy(), np.zeros_like(zeta)
    sample, rank = np.nonzero(zeta < at.s0[:, None])
    if not len(sample):
        return partner, weight
    s, shift, s0, s1 = zeta[sample, rank], delta[sample], at.s0[sample], at.s1[sample]
    wanted = _height(shift, count, s)
    depth = np.clip(-wanted, _LEAST, 1.0)
    up = s < s1
    # -H is at most Phi(b - delta), and at most K Phi(-b)
    low = np.where(up, s1, np.clip(shift + ndtri(depth), -_FAR, s1))
    high = np.where(up, np.minimum(-ndtri(np.minimum(depth / count, 0.5)), s0), s1)
    high = np.maximum(high, low)
    sign = np.where(up, 1.0, -1.0)

    def apart(b: Floats, at: Ints) -> tuple[Floats, Floats]:
        slope = _largest(count, b) - phi(b - shift[at])
        return sign[at] * (_height(shift[at], count, b) - wanted[at]), sign[at] * slope

    b = solve(apart, low, high)
    own, other = (count * ndtr(x) ** (count - 1) for x in (s, b))
    ratio = np.exp(np.minimum(shift * (s - 0.5 * shift), np.log(count)))
    gap = other - own
    share = np.divide(ratio - own, gap, out=np.zeros_like(gap), where=gap != 0.0)
    near = np.abs(s - s1) < _NEAR  # both differences are lost to rounding: their limits
    mills = phi(s1) / np.maximum(ndtr(s1), _LEAST)
    b = np.where(near, 2.0 * s1 - s, b)
    share = np.where(near, 0.5 - 0.5 * shift / np.maximum((count - 1) * mills, shift), share)
    partner[sample, rank], weight[sample, rank] = b, np.clip(share, 0.0, 1.0)
    return partner, weight


def _largest(count: int, s: Floats) -> Floats:
    """Return g, the density of the largest."""
    return count * ndtr(s) ** (count - 1) * phi(s)


def _tail(count: int, s: Floats) -> Floats:
    """Return the chance that the largest is above s."""
    return -np.expm1(count * log_ndtr(s))


def _above(delta: Floats, count: int, s: Floats) -> Floats:
    """Return H(s) as a difference of upper tails."""
    return ndtr(delta - s) - _tail(count, s)


def _below(delta: Floats, count: int, s: Floats) -> Floats:
    """Return H(s) as a difference of lower tails."""
    return ndtr(s) ** count - ndtr(s - delta)


def _height(delta: Floats, count: int, s: Floats) -> Floats:
    """Return H(s) from the tails that are smaller."""
    height, up = np.empty_like(s), s > 0.5 * delta
    height[up] = _above(delta[up], count, s[up])
    height[~up] = _below(delta[~up], count, s[~up])
    return height
