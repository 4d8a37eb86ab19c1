r"""Ranked verification: the rank of the chosen child is drawn, with weights that suit the distance.

The K children of a node are ordered by their parts along, and rank r is chosen with probability
:math:`\lambda_r(\delta, K)`, which does not depend on the children. The chosen part along has

.. math::
    g(s) = \varphi(s)\,\beta(\Phi(s)), \qquad
    \beta(u) = \sum_r \lambda_r\,K \binom{K-1}{r-1} u^{r-1} (1-u)^{K-r}, \qquad
    P(S > s) = \sum_{j<K} \Big(\sum_{r>j} \lambda_r\Big) \binom{K}{j} \Phi(s)^j \Phi(-s)^{K-j},

so the child is accepted with probability :math:`\min(1, f / g) = \min(1, r(s) / \beta(\Phi(s)))`,
and otherwise the part along is drawn from :math:`(f - g)_+`, f the density of N(delta, 1). Why it
is exact: see `redraft.coupling.selection`; any weights are, and `redraft.coupling.weights` finds
those that accept most often.

:math:`(f - g)_+` may have several intervals. Their ends are the sign changes of :math:`\ln(f / g)`
on a grid that holds its turning points, polished by Newton steps; the mass of an interval is a
difference of survival functions, which is inverted inside the interval that the uniform falls into.
The grid ends at delta +- 9, beyond which f has a mass of 2e-19.

Of more than 32 children the first 32 are ranked, the others are not looked at.

References:
    | Rank-Aware Speculative Sampling for Diffusion Draft Trees (Bullo et al., 2026)
    | https://arxiv.org/abs/2610.02251
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from redraft.coupling.normal import ndtr, phi
from redraft.coupling.pair import Floats
from redraft.coupling.root import solve
from redraft.coupling.selection import Choice, Selection
from redraft.coupling.weights import rank_weights

__all__ = ["Ranked", "Ranks"]

Ints = NDArray[np.int64]

MOST = 32
"""Number of children that are ranked, at most."""

_GRID = np.linspace(-9.0, 9.0, 73)


class Ranked(Selection):
    """Ranked verification: a drawn rank among the children, for trees with several per node."""

    name = "ranked"

    def choose(self, delta: Floats, log_ratio: Floats, uniform: Floats) -> Choice:
        """Choose a rank by the first child's coin, whose remainder decides on acceptance."""
        count, rows = min(log_ratio.shape[1], MOST), np.arange(len(delta))
        ratio, coin = log_ratio[:, :count], uniform[:, 0]
        weight = rank_weights(delta, count)
        above = np.cumsum(weight, axis=1)
        above /= above[:, -1:]
        rank = np.minimum((above <= coin[:, None]).sum(axis=1), count - 1)
        start = np.where(rank > 0, above[rows, rank - 1], 0.0)
        chosen = np.argsort(ratio, axis=1, kind="stable")[rows, rank]
        log = ratio[rows, chosen]
        beta = Ranks(delta, weight).density_ratio(log / delta + 0.5 * delta)
        with np.errstate(divide="ignore"):
            chance = np.exp(np.minimum(log - np.log(beta), 0.0))
        return Choice(chosen, (coin - start) / (above[rows, rank] - start), chance)

    def residual(self, delta: Floats, count: int, uniform: Floats) -> Floats:
        """Return the part along of the law (f - g)_+, by inverse distribution."""
        law = self.law(delta, min(count, MOST))
        left, right, start, end = _pieces(law)
        mass = np.maximum(start - end, 0.0)
        total = np.cumsum(mass, axis=1)
        goal = uniform * total[:, -1]
        piece = np.arange(len(goal)), (total > goal[:, None]).argmax(axis=1)
        rest = start[piece] - (goal - total[piece] + mass[piece])

        def passed(s: Floats, at: Ints) -> tuple[Floats, Floats]:
            here = law.take(at)
            slope = phi(s - here.delta) - phi(s) * here.density_ratio(s)
            return rest[at] - here.missing(s), slope

        return solve(passed, left[piece], right[piece])

    def law(self, delta: Floats, count: int) -> Ranks:
        """Return the law of the part along that is chosen among ``count`` children."""
        return Ranks(delta, rank_weights(delta, count))


class Ranks:
    """The law g of the chosen part along, and f, at n nodes.

    Args:
        delta: (n,) distances.
        weight: (n, K) weights of the ranks, lowest first.
    """

    def __init__(self, delta: Floats, weight: Floats) -> None:
        self.delta, self.weight, self.count = delta, weight, weight.shape[1]
        self.above = np.cumsum(weight[:, ::-1], axis=1)[:, ::-1]

    def take(self, rows: Ints) -> Ranks:
        """Return the laws at some of the nodes."""
        return Ranks(self.delta[rows], self.weight[rows])

    def density_ratio(self, s: Floats) -> Floats:
        """Return beta(Phi(s)) = g / phi at points (n, ...)."""
        return self.count * self._sum(self.weight, s)

    def missing(self, s: Floats) -> Floats:
        """Return the mass of f - g above points (n, ...)."""
        above = np.concatenate((self.above, np.zeros_like(self.above[:, :1])), axis=1)
        return ndtr(_over(self.delta, s) - s) - self._sum(above, s)

    def log_ratio(self, s: Floats) -> tuple[Floats, Floats]:
        """Return ln(f / g) and its slope at points (n, ...)."""
        delta, beta = _over(self.delta, s), self.density_ratio(s)
        bend = np.diff(self.weight, axis=1)
        rise = self.count * (self.count - 1) * phi(s) * self._sum(bend, s)
        with np.errstate(divide="ignore", invalid="ignore"):
            return delta * (s - 0.5 * delta) - np.log(beta), delta - rise / beta

    def _sum(self, weight: Floats, s: Floats) -> Floats:
        """Return the sum of weights (n, m + 1) times Bernstein's polynomials of degree m."""
        degree, u, v = weight.shape[1] - 1, ndtr(s), ndtr(-s)
        total, power = np.zeros_like(s), np.ones_like(s)
        for j in range(degree, -1, -1):
            total = total * u + math.comb(degree, j) * _over(weight[:, j], s) * power
            power = power * v
        return total


def _pieces(law: Ranks) -> tuple[Floats, Floats, Floats, Floats]:
    """Return both ends (n, m) of pieces where f > g, and the mass of f - g above each end.

    The ends are the same where there is no such piece.

    Between neighbours of the grid a point is put where the slope of ln(f / g) passes through zero,
    so that a pair of sign changes between them is seen.
    """
    grid = law.delta[:, None] + _GRID
    value, slope = law.log_ratio(grid)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = slope[:, :-1] / (slope[:, :-1] - slope[:, 1:])
    share = np.where((share > 0.0) & (share < 1.0), share, 0.5)
    turn = grid[:, :-1] + share * np.diff(grid, axis=1)
    s = np.empty((len(grid), 2 * len(_GRID) - 1))
    sign = np.empty(s.shape, dtype=bool)
    s[:, ::2], s[:, 1::2] = grid, turn
    sign[:, ::2], sign[:, 1::2] = value > 0.0, law.log_ratio(turn)[0] > 0.0
    mass = law.missing(s)
    left, start, end = s[:, :-1].copy(), mass[:, :-1].copy(), mass[:, 1:].copy()
    right = np.where(sign[:, :-1] | sign[:, 1:], s[:, 1:], left)
    end = np.where(sign[:, :-1] | sign[:, 1:], end, start)
    sample, cell = np.nonzero(sign[:, :-1] != sign[:, 1:])
    rises = sign[sample, cell + 1]
    upward = np.where(rises, 1.0, -1.0)

    def crossing(s: Floats, at: Ints) -> tuple[Floats, Floats]:
        value, slope = law.take(sample[at]).log_ratio(s)
        return upward[at] * value, upward[at] * slope

    root = solve(crossing, left[sample, cell], right[sample, cell])
    there = law.take(sample).missing(root)
    for at, ends, masses in ((rises, left, start), (~rises, right, end)):
        ends[sample[at], cell[at]], masses[sample[at], cell[at]] = root[at], there[at]
    return left, right, start, end


def _over(delta: Floats, s: Floats) -> Floats:
    return delta.reshape(-1, *[1] * (s.ndim - 1))
