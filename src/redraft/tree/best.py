r"""Trees that reach most: best-first growth under a row budget.

For i.i.d. children that a node tries in order, the chance that child k is the one accepted is
:math:`G_k - G_{k+1}`, where :math:`G_1 = 1` and :math:`G_{k+1}` is the chance that all of the first
k are rejected (`redraft.coupling.greedy`). It follows from one number, the chance A of the first
child: for two Gaussians :math:`A = 2 \Phi(-\delta/2)`, and with
:math:`E(\lambda) = \Phi(\delta - c) - \lambda \Phi(-c),\; c = \delta/2 + \ln \lambda / \delta`,

.. math:: \lambda_k = \lambda_{k-1} + G_k, \qquad G_{k+1} = E(\lambda_k).

The *reach* of a node is the product of these chances on its path; a round is expected to commit the
sum of the reaches of its rows. That sum is largest for the M nodes of largest reach, which a heap
finds: when a node is taken, its first child and its next sibling become candidates. The shape
depends on A alone, so nothing live is in it (contract rule 2). If a chain of as many rows reaches
as much, the chain is returned: nothing is verified faster than a chain.
"""

from __future__ import annotations

import heapq
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray

from redraft.tree.tree import Tree

__all__ = ["best", "chances", "reach"]

_MOST_CHILDREN = 64


@lru_cache(maxsize=256)
def chances(share: float, children: int = _MOST_CHILDREN) -> tuple[float, ...]:
    """Return the chance of each child to be the one accepted, if the first one's is ``share``.

    Raises:
        ValueError: If ``share`` is not inside (0, 1).
    """
    if not 0.0 < share < 1.0:
        raise ValueError(f"the chance of the first child must be inside (0, 1), got {share}")
    delta = -2.0 * float(torch.special.ndtri(torch.tensor(share / 2.0, dtype=torch.float64)))
    found, lam, gap = [], 0.0, 1.0
    for _ in range(children):
        lam += gap
        edge = delta / 2.0 + np.log(lam) / delta
        left = _normal(delta - edge) - lam * _normal(-edge)
        left = min(max(left, 0.0), gap)
        found.append(gap - left)
        gap = left
    return tuple(found)


def reach(tree: Tree, share: float) -> NDArray[np.float64]:
    """Return the reach (T,) of every node of a tree whose first children's chance is ``share``."""
    by_rank = np.array(chances(share, max(tree.width, 1)))
    found = np.ones(len(tree))
    for node in range(1, len(tree)):
        found[node] = found[tree.parent[node]] * by_rank[tree.rank[node]]
    return found


@lru_cache(maxsize=64)
def best(rows: int, share: float) -> Tree:
    """Return the tree of at most ``rows`` rows that reaches most, a chain if that does.

    Args:
        rows: Rows, root included.
        share: Chance of the first child of a node to be accepted.

    Raises:
        ValueError: If ``share`` is not inside (0, 1) or ``rows`` is below 1.
    """
    if rows < 1:
        raise ValueError(f"a tree needs at least 1 row, got {rows}")
    by_rank, name = chances(share), f"best:{rows},{share:g}"
    parent, value, depth = [-1], [1.0], [0]
    heap = [(-by_rank[0], 0, 0)]  # reach of a candidate, its parent, its rank
    while len(parent) < rows:
        reached, above, rank = heapq.heappop(heap)
        parent.append(above)
        value.append(-reached)
        depth.append(depth[above] + 1)
        heapq.heappush(heap, (reached * by_rank[0], len(parent) - 1, 0))
        if rank + 1 < len(by_rank):
            heapq.heappush(heap, (-value[above] * by_rank[rank + 1], above, rank + 1))
    order = np.argsort(np.array(depth), kind="stable")
    place = np.empty(rows, dtype=np.int64)
    place[order] = np.arange(rows)
    renumbered = np.array([-1 if p < 0 else place[p] for p in np.array(parent)[order]])
    grown = Tree(renumbered, name)
    chain = Tree(np.arange(rows) - 1, f"chain:{rows}")
    return grown if sum(value) > reach(chain, share).sum() * (1.0 + 1e-9) else chain


def _normal(z: float) -> float:
    return float(0.5 * torch.special.erfc(torch.tensor(-z * 0.5**0.5, dtype=torch.float64)))
