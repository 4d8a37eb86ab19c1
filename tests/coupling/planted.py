"""Bugs of the coupling, each a verifier or a pair that is wrong in one place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from redraft.coupling import CategoricalPair, Greedy, Pair, Traversal, Verdict, Verifier
from redraft.coupling.pair import Floats
from redraft.tree import Tree

__all__ = [
    "NoRatio",
    "NotStrict",
    "OtherWeights",
    "ResidualFromDraftSide",
    "ResidualFromTarget",
    "RootFirst",
    "SortedChildren",
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
