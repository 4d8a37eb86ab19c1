"""Traversal as its recursion, commit(root, 1), with one place where a bug can be planted.

Independent of `redraft.coupling.traversal`, which computes all chances first and reads the answer
off in post-order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from redraft.coupling import Pair, Traversal, Verdict
from redraft.coupling.pair import Floats
from redraft.tree import Tree

__all__ = ["Recursion"]


class Recursion(Traversal):
    """commit(u, a) ends the path at or below u with probability a.

    Args:
        accumulates: Whether lambda adds up over the children; it is wrong if it does not.
    """

    name = "recursion"

    def __init__(self, accumulates: bool = True) -> None:
        self.accumulates = accumulates

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: NDArray[np.int64]
    ) -> Verdict:
        """Commit from the root; see `Verifier.walk`."""
        chance, rho, lam_all = (np.zeros(uniform.shape) for _ in range(3))
        stop = np.full(len(uniform), -1)

        def commit(u: int, a: Floats) -> None:
            lam, gap = np.zeros_like(a), np.ones_like(a)
            children = [int(child) for child in tree.child[u] if child >= 0]
            law = _at(pair, u)
            for rank, child in enumerate(children):
                share = _ratio(np.maximum(a * np.exp(log_ratio[:, u, rank]) - lam, 0.0), gap)
                commit(child, np.minimum(share, 1.0))
                lam = lam + gap if self.accumulates else gap
                gap = 1.0 - a + law.excess(a, lam)
            leaf = (limit == tree.depth[u]) | (len(children) == 0)
            chance[:, u] = np.where(leaf, a, _ratio(law.excess(a, lam), gap))
            rho[:, u], lam_all[:, u] = a, lam
            ends = (uniform[:, u] < chance[:, u]) | (u == 0)
            stop[ends & (stop < 0) & (tree.depth[u] <= limit)] = u

        commit(0, np.ones(len(uniform)))
        at = np.arange(len(stop)), stop
        return Verdict(stop, rho[at], lam_all[at], chance)


def _at(pair: Any, node: int) -> Pair:
    """Return the pair at one node, batch shape (B,)."""
    return type(pair)(*(field[:, node] for field in pair))


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Return part / whole; 1 where it reads 0/0 or whole is lost to rounding (never reached)."""
    return np.divide(part, whole, out=np.ones_like(part), where=whole > 0.0)
