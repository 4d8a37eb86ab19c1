"""Rounds that do not verify yet: sweeps over a draft whose noises stay; see `redraft.draft.swept`.

While a sample sweeps, its nodes keep their noises, and each node is guessed by what was predicted
there the time before. A leaf is not asked, because nothing hangs on its guess; nor is the root
after the first time, because it does not move.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from redraft.draft.drafter import Memory
from redraft.sampling.state import Bools, Ints, Plan
from redraft.tree.tree import Tree

__all__ = ["fill", "own_nodes", "own_noises", "sweep"]


def sweep(tree: Tree, limit: Ints, swept: Ints, sweeps: int) -> tuple[Bools, Bools]:
    """Return which nodes (B, T) are rows of the coming call, and which samples (B,) verify.

    Args:
        tree: Shape of the draft.
        limit: (B,) depth of each sample's tree.
        swept: (B,) sweeps made since the last commit.
        sweeps: Sweeps wanted; a tree has no use for more than its depth.
    """
    depth, limit = tree.depth, limit[:, None]
    verify = swept >= np.minimum(sweeps, limit[:, 0])
    asked = (depth < limit) & (tree.child[:, 0] >= 0) | (depth <= limit) & verify[:, None]
    asked[:, 0] = swept == 0
    return asked, verify


def fill(f: Tensor, plan: Plan, memory: Memory) -> None:
    """Give nodes of f (B, T, D) that exist and were not asked what is remembered of them."""
    sample, node = np.nonzero(plan.exists & ~plan.evaluated)
    if len(sample):
        source = np.minimum(node, memory.f.shape[1] - 1)
        at = torch.from_numpy(np.stack((sample, node, source))).to(f.device)
        f[at[0], at[1]] = memory.f[at[0], at[2]]


def own_nodes(plan: Plan, nodes: Ints) -> Ints:
    """Return ``nodes`` (B, M), or where a sample sweeps each node itself; 0 where it has none."""
    own = np.arange(nodes.shape[1])
    own[own >= len(plan.tree)] = 0
    return np.where(plan.verify[:, None], nodes, own)


def own_noises(plan: Plan, attempt: Ints) -> Ints:
    """Return the serial numbers (B, T) of noises kept; all of them where a sample sweeps."""
    own = np.full(attempt.shape, -1)
    own[:, : len(plan.tree)] = np.where(plan.exists, plan.attempt, -1)
    return np.where(plan.verify[:, None], attempt, own)
