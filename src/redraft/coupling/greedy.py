r"""Greedy walk: from the root to the leaves, the first accepted child wins.

At a node with children :math:`y_1, y_2, \dots` drawn i.i.d. from P, in drafting order,

.. math::
    \lambda_0 = 0,\; G_1 = 1, \qquad
    \beta_k = \min\Big(1, \frac{(r(y_k) - \lambda_{k-1})_+}{G_k}\Big), \quad
    \lambda_k = \lambda_{k-1} + G_k, \quad G_{k+1} = E(1, \lambda_k).

Child k is accepted with probability :math:`\beta_k` (strict <, so that 0 never accepts); if none
is, the next state is drawn from :math:`(Q - \lambda_K P)_+ / G_{K+1}`.

Why it is exact. Suppose that after k - 1 rejections the accepted measure is
:math:`\min(q, \lambda_{k-1} p)` and the chance to get there is :math:`G_k`. Child k adds
:math:`p \min((r - \lambda_{k-1})_+, G_k) = \min(q, \lambda_k p) - \min(q, \lambda_{k-1} p)`. After
K rejections what is missing of q is :math:`(q - \lambda_K p)_+`, which is what is drawn.

A node's decision looks at nothing below its children, so the noises of a rejected child's subtree
stay live (see ``docs/contract.md``). All nodes are decided at once; the path is read off
afterwards.

References:
    | Accelerating Diffusion Sampling via Speculative Draft Trees (Bullo et al., 2026), Algorithm 2
    | https://arxiv.org/abs/2609.17691
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redraft.coupling.pair import Floats, Pair
from redraft.coupling.verifier import Verdict
from redraft.tree.tree import Tree

__all__ = ["LARGEST", "Greedy"]

LARGEST = 700.0
"""Log-ratios are cut here, below the overflow of exp; such a child is accepted anyway."""


class Greedy:
    """Greedy walk; on a chain, speculative sampling with a maximal coupling at every node.

    With one child per node a rejected draft is recovered by reflection, which samples
    (Q - P)_+ exactly and without an inversion.
    """

    name = "greedy"
    keeps_noise = True
    reflects = True
    max_width: int | None = None

    def walk(
        self, tree: Tree, pair: Pair, log_ratio: Floats, uniform: Floats, limit: NDArray[np.int64]
    ) -> Verdict:
        """Accept, node by node, the first child whose coin falls below its chance."""
        one = _ones(len(uniform))
        if tree.width <= 1:
            chance = np.empty(uniform.shape)
            chance[:, 0] = 1.0
            np.exp(np.minimum(log_ratio[:, :-1, 0], 0.0), out=chance[:, 1:])
            accepted = np.zeros(uniform.shape, dtype=bool)  # of each node, its child
            np.less(uniform[:, 1:], chance[:, 1:], out=accepted[:, :-1])
            return Verdict(np.minimum(accepted.argmin(axis=1), limit), one, one, chance)
        chance, lam = _chances(tree, pair, log_ratio)
        stop = _last(tree, (uniform < chance) & (tree.depth <= limit[:, None]))
        return Verdict(stop, one, lam[np.arange(len(stop)), stop], chance)

    def visited(
        self, tree: Tree, stop: NDArray[np.int64], limit: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Return the nodes on the committed path: the walk looks at no other."""
        return tree.ancestor[stop]

    def recover(
        self, pair: Pair, verdict: Verdict, count: NDArray[np.int64], uniform: Floats
    ) -> NDArray[Any]:
        """Draw from (rho Q - lam P)_+ / excess(rho, lam); see `Verifier.recover`."""
        return pair.sample_excess(verdict.rho, verdict.lam, uniform)


@lru_cache(maxsize=256)
def _ones(batch: int) -> Floats:
    """Return (batch,) ones, read-only."""
    ones = np.ones(batch)
    ones.flags.writeable = False
    return ones


def _chances(tree: Tree, pair: Pair, log_ratio: Floats) -> tuple[Floats, Floats]:
    """Return beta of every node (B, T) and lambda after all children of every node (B, T)."""
    ratio = np.exp(np.minimum(log_ratio, LARGEST))
    gap = np.ones(ratio.shape[:2])
    lam, chance = np.zeros_like(gap), np.zeros_like(gap)
    for rank in range(tree.width):
        has = tree.child[:, rank] >= 0
        surplus = np.maximum(ratio[:, has, rank] - lam[:, has], 0.0)
        chance[:, tree.child[has, rank]] = np.divide(
            surplus, gap[:, has], out=np.zeros_like(surplus), where=gap[:, has] > 0.0
        )
        lam = np.where(has, lam + gap, lam)
        missing = np.minimum(pair.excess(np.ones_like(lam), lam), gap)
        gap = np.where(has, missing, gap)
    return chance, lam


def _last(tree: Tree, accepted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the last node (B,) of the path of first accepted children that starts at the root."""
    offered = accepted[:, np.maximum(tree.child, 0)] & (tree.child >= 0)
    first = np.take_along_axis(tree.child[None], offered.argmax(axis=2)[..., None], axis=2)[..., 0]
    chosen = np.zeros_like(accepted)
    sample, node = np.nonzero(offered.any(axis=2))
    chosen[sample, first[sample, node]] = True
    chosen[:, 0] = True
    on_path = (chosen[:, None, :] | ~tree.ancestor).all(axis=2)
    return np.where(on_path, tree.depth, -1).argmax(axis=1)
