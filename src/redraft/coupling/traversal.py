r"""Traversal: from the leaves to the root, the first node whose coin succeeds ends the path.

``commit(u, a)`` commits something at or below u with probability exactly a, and the state after u
then has law Q:

.. math::
    \text{leaf: succeed with probability } a \\
    \lambda_0 = 0,\; G_1 = 1; \quad\text{child } k:\;
    a_k = \min\Big(1, \frac{(a\,r(y_k) - \lambda_{k-1})_+}{G_k}\Big),\;
    \text{done if commit}(y_k, a_k);\;
    \lambda_k = \lambda_{k-1} + G_k,\; G_{k+1} = 1 - a + E(a, \lambda_k) \\
    \text{no child: succeed with probability } E(a, \lambda_K) / G_{K+1},
    \text{ and draw from } (a Q - \lambda_K P)_+ / E(a, \lambda_K)

Why it is exact. Child k contributes the measure :math:`p \min((a r - \lambda_{k-1})_+, G_k)`, in
all :math:`\min(a q, \lambda_K p)`; the chance that every child fails is :math:`G_{K+1} = 1 - a +
E(a, \lambda_K)`; the last branch adds :math:`(a q - \lambda_K p)_+`: in all :math:`a q`, so u
succeeds with probability a and the next state has law q. Induct from the leaves; the root has a =
1. A child's chance to fail, :math:`1 - a_k`, depends on its own part along only, so its part
across may be kept by a recovered state; nothing else survives, because deeper chances look at
whole paths.

The a's do not depend on the coins, so they are computed for all nodes from the top down; the node
that ends the path is then the first in post-order whose coin succeeds. On a chain the recursion
:math:`\log a_i = \min(0, \log a_{i-1} + \log r_i)` is a running sum less its running maximum, and
the rule is block verification; one level deep it is the greedy walk.

References:
    | Accelerating Speculative Diffusions via Block Verification (Soen et al., 2026)
    | https://arxiv.org/abs/2606.13426
    | Traversal Verification for Speculative Tree Decoding (2025)
    | https://arxiv.org/abs/2505.12398
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from redraft.coupling.greedy import LARGEST
from redraft.coupling.pair import Floats, Pair
from redraft.coupling.verifier import Verdict
from redraft.tree.tree import Tree

__all__ = ["Traversal"]


class Traversal:
    """Traversal; on a chain, block verification."""

    name = "traversal"
    keeps_noise = False
    reflects = False
    max_width: int | None = None

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: NDArray[np.int64]
    ) -> Verdict:
        """End the path at the first node in post-order whose coin succeeds."""
        scan = _chain if tree.width <= 1 else _tree
        a, lam, gap = scan(tree, pair, log_ratio)
        surplus = pair.excess(a, lam)
        chance = np.divide(surplus, gap, out=np.ones_like(gap), where=gap > 0.0)
        chance = np.where(tree.depth >= limit[:, None], a, chance)
        exists = tree.depth <= limit[:, None]
        success = (uniform < chance) & exists
        success[:, 0] = True
        order = tree.postorder
        stop = order[success[:, order].argmax(axis=1)]
        at = np.arange(len(stop)), stop
        return Verdict(stop, a[at], lam[at], chance)

    def visited(
        self, tree: Tree, stop: NDArray[np.int64], limit: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return all nodes: every chance on a path looks at the ratios above it."""
        return tree.depth <= limit[:, None]

    def recover(
        self, pair: Pair, verdict: Verdict, count: NDArray[np.int64], uniform: Floats
    ) -> NDArray[Any]:
        """Draw from (rho Q - lam P)_+ / excess(rho, lam); see `Verifier.recover`."""
        return pair.sample_excess(verdict.rho, verdict.lam, uniform)


def _chain(tree: Tree, pair: Pair, log_ratio: Floats) -> tuple[Floats, Floats, Floats]:
    """Return a, lambda and G_{K+1} (each (B, T)) of a chain by a scan."""
    total = np.zeros(log_ratio.shape[:2])
    np.cumsum(log_ratio[:, :-1, 0], axis=1, out=total[:, 1:])
    a = np.exp(total - np.maximum.accumulate(total, axis=1))
    lam = np.zeros_like(a) + (tree.child[:, 0] >= 0)
    return a, lam, 1.0 + lam * (pair.excess(a, lam) - a)


def _tree(tree: Tree, pair: Pair, log_ratio: Floats) -> tuple[Floats, Floats, Floats]:
    """Return a, lambda and G_{K+1} (each (B, T)), level by level and child by child."""
    ratio = np.exp(np.minimum(log_ratio, LARGEST))
    a = np.ones(ratio.shape[:2])
    lam, gap = np.zeros_like(a), np.ones_like(a)
    for depth in range(tree.height):
        for rank in range(tree.width):
            u = np.nonzero((tree.depth == depth) & (tree.child[:, rank] >= 0))[0]
            surplus = np.maximum(a[:, u] * ratio[:, u, rank] - lam[:, u], 0.0)
            share = np.divide(surplus, gap[:, u], out=np.ones_like(surplus), where=gap[:, u] > 0.0)
            a[:, tree.child[u, rank]] = np.minimum(share, 1.0)
            lam[:, u] += gap[:, u]
            gap[:, u] = (1.0 - a + pair.excess(a, lam))[:, u]
    return a, lam, gap
