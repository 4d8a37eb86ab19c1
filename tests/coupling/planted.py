"""Bugs of the coupling, each a verifier or a pair that is wrong in one place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from redraft.coupling import (
    CategoricalPair,
    GaussianPair,
    Greedy,
    Optimal,
    Pair,
    Ranked,
    Traversal,
    Verdict,
    Verifier,
)
from redraft.coupling.optimal import Turns
from redraft.coupling.pair import Floats
from redraft.coupling.ranked import Ranks
from redraft.coupling.selection import Choice, Selection
from redraft.tree import Tree

__all__ = [
    "GreedyRatio",
    "NeverPromotes",
    "NoRatio",
    "NotStrict",
    "OtherRanks",
    "OtherWeights",
    "PlainResidual",
    "ResidualFromDraftSide",
    "ResidualFromTarget",
    "RootFirst",
    "SortedChildren",
    "TossedTwice",
]

Ints = NDArray[np.int64]


class ResidualFromTarget(CategoricalPair):
    """Draws the recovered state from Q."""

    def sample_excess(self, rho: Floats, lam: Floats, uniform: Floats) -> Ints:
        return super().sample_excess(rho, np.zeros_like(lam), uniform)


class ResidualFromDraftSide(CategoricalPair):
    """Draws the recovered state from (lam P - rho Q)_+."""

    def sample_excess(self, rho: Floats, lam: Floats, uniform: Floats) -> Ints:
        return CategoricalPair(self.q, self.p).sample_excess(lam, rho, uniform)


class Wrapped:
    """Passes everything on to a verifier."""

    def __init__(self, verifier: Verifier) -> None:
        self.verifier = verifier
        self.name = type(self).__name__
        self.keeps_noise = verifier.keeps_noise
        self.reflects = verifier.reflects
        self.max_width = verifier.max_width

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: Ints
    ) -> Verdict:
        return self.verifier.walk(tree, pair, log_ratio, uniform, limit)

    def visited(self, tree: Tree, stop: Ints, limit: Ints) -> NDArray[np.bool_]:
        return self.verifier.visited(tree, stop, limit)

    def recover(self, pair: Pair, verdict: Verdict, count: Ints, uniform: Floats) -> NDArray[Any]:
        return self.verifier.recover(pair, verdict, count, uniform)


class NoRatio(Wrapped):
    """Accepts without the ratio."""

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: Ints
    ) -> Verdict:
        return super().walk(tree, pair, np.zeros_like(log_ratio), uniform, limit)


class NotStrict(Wrapped):
    """Accepts if u <= chance."""

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: Ints
    ) -> Verdict:
        return super().walk(tree, pair, log_ratio, np.nextafter(uniform, -np.inf), limit)


class OtherWeights(Wrapped):
    """Draws the recovered state with rho or lambda 1, as if the node had one child and a = 1."""

    def __init__(self, verifier: Verifier, field: str) -> None:
        super().__init__(verifier)
        self.field = field

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: Ints
    ) -> Verdict:
        verdict = super().walk(tree, pair, log_ratio, uniform, limit)
        return verdict._replace(**{self.field: np.ones(len(uniform))})


class SortedChildren(Greedy):
    """Tries the children by falling ratio, on a tree with one level of children."""

    name = "sorted"

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: Ints
    ) -> Verdict:
        order = np.argsort(-log_ratio[:, 0], axis=1, kind="stable")
        ranked = log_ratio.copy()
        ranked[:, 0] = np.take_along_axis(log_ratio[:, 0], order, axis=1)
        verdict = super().walk(tree, pair, ranked, uniform, limit)
        chosen = 1 + order[np.arange(len(order)), np.maximum(verdict.stop - 1, 0)]
        return verdict._replace(stop=np.where(verdict.stop > 0, chosen, 0))


class RootFirst(Traversal):
    """Walks a chain from the root and stops at the first coin that fails."""

    name = "root first"

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: Ints
    ) -> Verdict:
        chance = super().walk(tree, pair, log_ratio, uniform, limit).chance
        success = (uniform < chance) & (tree.depth <= limit[:, None])
        stop = np.logical_and.accumulate(success[:, 1:], axis=1).sum(axis=1)
        coin = np.where(np.arange(len(tree)) == stop[:, None], -np.inf, np.inf)
        return super().walk(tree, pair, log_ratio, coin, limit)


class Chooses(Selection):
    """Passes everything on to a verifier that chooses."""

    def __init__(self, verifier: Ranked | Optimal) -> None:
        self.verifier = verifier
        self.name = verifier.name

    def choose(self, delta: Floats, log_ratio: Floats, uniform: Floats) -> Choice:
        return self.verifier.choose(delta, log_ratio, uniform)

    def residual(self, delta: Floats, count: int, uniform: Floats) -> Floats:
        return self.verifier.residual(delta, count, uniform)


class GreedyRatio(Chooses):
    """Accepts the chosen child as if it had not been chosen."""

    def choose(self, delta: Floats, log_ratio: Floats, uniform: Floats) -> Choice:
        found = super().choose(delta, log_ratio, uniform)
        ratio = log_ratio[np.arange(len(delta)), found.rank]
        return found._replace(chance=np.exp(np.minimum(ratio, 0.0)))


class PlainResidual(Chooses):
    """Recovers from (Q - P)_+, as if the rejected child had not been chosen."""

    def residual(self, delta: Floats, count: int, uniform: Floats) -> Floats:
        one = np.ones_like(delta)
        return GaussianPair(delta).sample_excess(one, one, uniform)


class TossedTwice(Chooses):
    """Uses the coin that drew the rank, instead of its remainder, for acceptance."""

    def choose(self, delta: Floats, log_ratio: Floats, uniform: Floats) -> Choice:
        return super().choose(delta, log_ratio, uniform)._replace(coin=uniform[:, 0])


class OtherRanks(Ranked):
    """Accepts with drawn ranks, recovers as if the largest were always chosen."""

    def law(self, delta: Floats, count: int) -> Ranks:
        largest = np.zeros((len(delta), count))
        largest[:, -1] = 1.0
        return Ranks(delta, largest)


class NeverPromotes(Optimal):
    """Chooses the largest, but accepts as if smaller ones had been promoted."""

    def priority(self, delta: Floats, at: Turns, zeta: Floats, uniform: Floats) -> Floats:
        return zeta
