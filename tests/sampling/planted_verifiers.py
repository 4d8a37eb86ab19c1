"""Verifiers with a bug. Each changes one thing of a correct rule."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from redraft.coupling.gaussian import GaussianPair
from redraft.coupling.greedy import Greedy
from redraft.coupling.optimal import Optimal, Turns
from redraft.coupling.pair import Floats, Pair
from redraft.coupling.ranked import Ranked
from redraft.coupling.selection import Choice
from redraft.coupling.traversal import Traversal
from redraft.coupling.verifier import Verdict
from redraft.tree.tree import Tree

Ints = NDArray[np.int64]


class AcceptsWithoutRatio(Greedy):
    """Every draft is accepted with the same probability, whatever the target says of it."""

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: Ints
    ) -> Verdict:
        flat = np.full_like(log_ratio, math.log(0.8))
        return super().walk(tree, pair, flat, uniform, limit)


class RecoversFromTarget(Greedy):
    """After a rejection the state is drawn from Q itself, not from what is missing of it."""

    reflects = False

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: Ints
    ) -> Verdict:
        verdict = super().walk(tree, pair, log_ratio, uniform, limit)
        return verdict._replace(lam=np.zeros_like(verdict.lam))


class RecoversWithOneLambda(Greedy):
    """After several rejections the state is drawn as if there had been one."""

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: Ints
    ) -> Verdict:
        verdict = super().walk(tree, pair, log_ratio, uniform, limit)
        return verdict._replace(lam=np.ones_like(verdict.lam))


class TraversalReflects(Traversal):
    """Traversal recovers by reflection."""

    reflects = True


class TraversalKeepsNoise(Traversal):
    """Noises below a rejected draft are used again, although traversal has looked at them."""

    keeps_noise = True


class SortsChildren(Greedy):
    """The children of the root (of a tree of one level) are tried best first."""

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: Ints
    ) -> Verdict:
        count = int((tree.child[0] >= 0).sum())
        if count == 0:
            return super().walk(tree, pair, log_ratio, uniform, limit)
        order = np.argsort(-log_ratio[:, 0, :count], axis=-1)
        ranked = log_ratio.copy()
        ranked[:, 0, :count] = np.take_along_axis(log_ratio[:, 0, :count], order, axis=-1)
        verdict = super().walk(tree, pair, ranked, uniform, limit)
        taken = order[np.arange(len(order)), np.maximum(verdict.stop - 1, 0)] + 1
        return verdict._replace(stop=np.where(verdict.stop > 0, taken, 0))


class SkipsAbsent(Greedy):
    """Knows that the siblings of the first child do not exist where their ratios are nothing."""

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: Ints
    ) -> Verdict:
        verdict = super().walk(tree, pair, log_ratio, uniform, limit)
        alone = log_ratio[np.arange(len(log_ratio)), verdict.stop, -1] < -1e3
        return verdict._replace(lam=np.where(alone, 1.0, verdict.lam))


class StopsWithTheSlowest(Greedy):
    """Both samples of a pair stop where the first of them has to, as if it had been rejected."""

    reflects = False

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: Ints
    ) -> Verdict:
        verdict = super().walk(tree, pair, log_ratio, uniform, limit)
        slowest = np.minimum.reduceat(verdict.stop, np.arange(0, len(verdict.stop), 2))
        return verdict._replace(stop=np.repeat(slowest, 2)[: len(verdict.stop)])


class OneCoinForAll(Greedy):
    """All samples use the coins of the first one."""

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: Ints
    ) -> Verdict:
        coin = np.broadcast_to(uniform[:1], uniform.shape)
        return super().walk(tree, pair, log_ratio, coin, limit)


class CoarseCoin(Greedy):
    """Coins are multiples of 1/4, 0 included."""

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: Ints
    ) -> Verdict:
        return super().walk(tree, pair, log_ratio, np.floor(4.0 * uniform) / 4.0, limit)


class AcceptsEqual(Greedy):
    """Accepts on u <= chance, so that u = 0 accepts a child whose chance is 0."""

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: Ints
    ) -> Verdict:
        return super().walk(tree, pair, log_ratio, np.nextafter(uniform, -1.0), limit)


class RankedByTheRatio(Ranked):
    """Accepts the child that was chosen by its rank as if it had been the only one."""

    def choose(self, delta: Floats, log_ratio: Floats, uniform: Floats) -> Choice:
        found = super().choose(delta, log_ratio, uniform)
        ratio = log_ratio[np.arange(len(delta)), found.rank]
        return found._replace(chance=np.exp(np.minimum(ratio, 0.0)))


class RankedTossesTwice(Ranked):
    """Accepts by the very coin that has drawn the rank."""

    def choose(self, delta: Floats, log_ratio: Floats, uniform: Floats) -> Choice:
        return super().choose(delta, log_ratio, uniform)._replace(coin=uniform[:, 0])


class RankedRecoversFromExcess(Ranked):
    """Recovers from (Q - P)_+, as if the rejected child had not been chosen."""

    def residual(self, delta: Floats, count: int, uniform: Floats) -> Floats:
        one = np.ones_like(delta)
        return GaussianPair(delta).sample_excess(one, one, uniform)


class OptimalRecoversFromExcess(Optimal):
    """Recovers from (Q - P)_+, as if the rejected child had not been chosen."""

    def residual(self, delta: Floats, count: int, uniform: Floats) -> Floats:
        one = np.ones_like(delta)
        return GaussianPair(delta).sample_excess(one, one, uniform)


class OptimalNeverPromotes(Optimal):
    """Chooses the largest, and accepts as if smaller ones had been promoted."""

    def priority(self, delta: Floats, at: Turns, zeta: Floats, uniform: Floats) -> Floats:
        return zeta
