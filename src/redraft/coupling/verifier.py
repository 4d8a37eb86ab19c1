"""What every verifier is given and what it says.

A verifier looks at the *coins* (a uniform per node) and at the likelihood ratios of the drafted
children, and decides where the committed path ends. It never sees a state: the ratio and the pair
are all it uses.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from redraft.coupling.pair import Floats, Pair
from redraft.tree.tree import Tree

__all__ = ["Verdict", "Verifier", "offered"]


class Verdict(NamedTuple):
    """Outcome of a walk for each sample of a batch.

    Attributes:
        stop: (B,) node where the committed path ends. The state after it is a bonus, y ~ Q, if the
            node has no children here, else recovered, from the law of `Verifier.recover`.
        rho: (B,) weight of the target in the recovered law, where it has one.
        lam: (B,) float64 weight of the draft in it.
        chance: (B, T) probability of each node's coin (greedy: that the node is accepted, given
            that it is tried; traversal: that the path ends there, given that it is asked; ranked
            and optimal: that it is accepted, if it is the child chosen on the path, else 0). May
            exceed 1 where acceptance is certain. For audits and statistics.
    """

    stop: NDArray[np.int64]
    rho: Floats
    lam: Floats
    chance: Floats


class Verifier(Protocol):
    """A rule that ends the committed path and keeps the target's law."""

    name: str
    keeps_noise: bool
    """Whether noises below a rejected child stay unlooked-at (live), so that they can be kept."""
    reflects: bool
    """Whether a recovered state may be the mirror image of the one rejected child."""
    max_width: int | None
    """Largest number of children per node that the rule is valid for; None: any."""

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: NDArray[np.int64]
    ) -> Verdict:
        """Decide where the committed path ends.

        Args:
            tree: Shape of the draft, T nodes, at most K children each.
            pair: Draft and target law at every node, batch shape (B, T).
            log_ratio: (B, T, K) log dQ/dP of each node's children, in drafting order.
            uniform: (B, T) coin of each node, in (0, 1), independent of every draft noise.
            limit: (B,) depth at which each sample's tree is cut off; deeper nodes do not exist.
        """
        ...

    def visited(
        self, tree: Tree, stop: NDArray[np.int64], limit: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return the nodes (B, T) whose target prediction had a part in the decision."""
        ...

    def recover(
        self, pair: Pair, verdict: Verdict, count: NDArray[np.int64], uniform: Floats
    ) -> NDArray[Any]:
        """Draw the value of recovered states: what is missing of the target's law at the stops.

        For verifiers written over the excess algebra that is (rho Q - lam P)_+ / excess(rho, lam).

        Args:
            pair: Draft and target law at the stops, batch shape (B,).
            verdict: What the walk said.
            count: (B,) number of children that the walk found there; where it is 0 the state is a
                bonus, and the value has no meaning.
            uniform: (B,) in (0, 1), independent of noises and coins.
        """
        ...


def offered(tree: Tree, incoming: NDArray[Any]) -> NDArray[Any]:
    """Gather what leads to each node into what each node offers, its children in drafting order.

    Args:
        tree: Shape of the draft, T nodes, at most K children each.
        incoming: (B, T - 1, ...) values of nodes 1..T-1; a chain may have one more, for the child
            that its leaf would have had.

    Returns:
        (B, T, K, ...) values of the children; where there is no child, some other node's.
    """
    if tree.width <= 1 and incoming.shape[1] == len(tree):
        return incoming[:, :, None]
    if not incoming.shape[1]:
        return np.zeros((len(incoming), *tree.child.shape, *incoming.shape[2:]), incoming.dtype)
    slots = np.clip(tree.child - 1, 0, incoming.shape[1] - 1)
    return incoming[:, slots]
