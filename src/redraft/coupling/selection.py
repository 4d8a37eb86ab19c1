r"""Verifiers that choose one child by the parts along of all of them, then accept it or not.

From the root to the leaves: a node with K children looks at their parts along, :math:`\zeta_1,
\dots, \zeta_K`, i.i.d. N(0, 1), and at a few coins, and *chooses* one child. Let g be the density
of the chosen :math:`\zeta` and f that of N(delta, 1), the target's. The child is accepted with
probability :math:`\min(1, f(\zeta) / g(\zeta))` (strict <); otherwise the next state's part along
is drawn from :math:`(f - g)_+`, divided by its mass.

Why it is exact. The accepted measure is :math:`g \min(1, f / g) = \min(f, g)`; what is missing of f
is :math:`(f - g)_+`, which is what is drawn, so the part along has density f. The parts across, and
all that lies below the children, are independent of everything a decision looks at, parts along and
coins; so an accepted child's part across is standard normal, and a recovered state may take over
that of any child picked by parts along, such as the nearest one, with the subtree below it. The
number of children is fixed before any of them is looked at.

With one child there is no choice: g is the density of N(0, 1) and the rule is the greedy walk.

One coin serves twice. If :math:`c_{r-1} \le U < c_r` decides on the outcome r of a choice, the
remainder :math:`(U - c_{r-1}) / (c_r - c_{r-1})` is again uniform, whatever r.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from redraft.coupling.gaussian import TINY, GaussianPair
from redraft.coupling.greedy import Greedy
from redraft.coupling.pair import Floats, Pair
from redraft.coupling.verifier import Verdict
from redraft.tree.tree import Tree

__all__ = ["Choice", "Selection"]

Ints = NDArray[np.int64]

BELOW_ONE = 1.0 - 2.0**-53


class Choice(NamedTuple):
    """What is chosen at n nodes.

    Attributes:
        rank: (n,) place of the chosen child in drafting order, from 0.
        coin: (n,) uniform that decides whether it is accepted, independent of the choice.
        chance: (n,) probability that it is.
    """

    rank: Ints
    coin: Floats
    chance: Floats


class Selection(ABC):
    """A rule that chooses a child by all parts along; Gaussian pairs only."""

    name = "selection"
    keeps_noise = True
    reflects = False
    max_width: int | None = None

    @abstractmethod
    def choose(self, delta: Floats, log_ratio: Floats, uniform: Floats) -> Choice:
        """Choose among K > 1 children.

        Args:
            delta: (n,) distances of the means, above TINY.
            log_ratio: (n, K) log-ratios of the children.
            uniform: (n, K) their coins.
        """

    @abstractmethod
    def residual(self, delta: Floats, count: int, uniform: Floats) -> Floats:
        """Return the part along (n,) of a recovered state after ``count`` > 1 children.

        Args:
            delta: (n,) distances of the means, at least TINY.
            count: Number K of children.
            uniform: (n,) in (0, 1).
        """

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: Ints
    ) -> Verdict:
        """Choose a child at every node on the path, until one is not accepted.

        Raises:
            TypeError: If the pair is not Gaussian.
        """
        distance = self._line(pair).delta
        if tree.width <= 1:
            return Greedy().walk(tree, pair, log_ratio, uniform, limit)
        chance = np.zeros(uniform.shape)
        chance[:, 0] = 1.0
        stop = np.zeros(len(uniform), dtype=np.int64)
        size = (tree.child >= 0).sum(axis=1)
        left = np.arange(len(stop))
        for depth in range(tree.height):
            left = left[(size[stop[left]] > 0) & (limit[left] > depth)]
            onward = []
            for count in np.unique(size[stop[left]]):
                b = left[size[stop[left]] == count]
                child = tree.child[stop[b], :count]
                ratio, coin = log_ratio[b, stop[b], :count], uniform[b[:, None], child]
                found = self._decide(distance[b, stop[b]], ratio, coin)
                chosen = child[np.arange(len(b)), found.rank]
                chance[b, chosen] = found.chance
                accepted = found.coin < found.chance
                stop[b[accepted]] = chosen[accepted]
                onward.append(b[accepted])
            left = np.concatenate(onward) if onward else left
        one = np.ones(len(stop))
        return Verdict(stop, one, one, chance)

    def recover(self, pair: Pair, verdict: Verdict, count: Ints, uniform: Floats) -> Floats:
        """Return the parts along (B,) of recovered states; see `Verifier.recover`."""
        line = self._line(pair)
        delta = np.maximum(line.delta, TINY)
        zeta = np.zeros(len(delta))
        for size in np.unique(count[count > 0]):
            b = np.nonzero(count == size)[0]
            if size == 1:
                alone = GaussianPair(delta[b])
                zeta[b] = alone.sample_excess(verdict.rho[b], verdict.lam[b], uniform[b])
            else:
                zeta[b] = self.residual(delta[b], int(size), uniform[b])
        return zeta

    def visited(self, tree: Tree, stop: Ints, limit: Ints) -> NDArray[np.bool_]:
        """Return the nodes on the committed path: the walk looks at no other."""
        return tree.ancestor[stop]

    def _decide(self, delta: Floats, log_ratio: Floats, coin: Floats) -> Choice:
        """Choose; a lone child, or the first one where the two laws are one, which is accepted."""
        same, alone = delta <= TINY, log_ratio.shape[1] == 1
        chance = np.exp(np.minimum(np.where(same, 0.0, log_ratio[:, 0]), 0.0))
        first = Choice(np.zeros(len(delta), dtype=np.int64), coin[:, 0], chance)
        if alone or same.all():
            return first
        found = self.choose(np.where(same, 1.0, delta), log_ratio, coin)
        found = found._replace(coin=np.minimum(found.coin, BELOW_ONE))
        return Choice(*(np.where(same, a, b) for a, b in zip(first, found, strict=True)))

    def _line(self, pair: Pair) -> GaussianPair:
        if not isinstance(pair, GaussianPair):
            raise TypeError(
                f"verifier {self.name!r} orders children along the line between two Gaussian "
                f"means, and pair is a {type(pair).__name__}, without delta; "
                "use verifier 'greedy' or 'traversal' with it"
            )
        return pair
