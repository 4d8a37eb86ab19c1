"""Which predictions of a round are guesses of the next one.

Only predictions of evaluated nodes are remembered: nodes past the end of the chain or past a
zero-noise step have none (``docs/contract.md``, rule 5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from torch import Tensor

from redraft.draft.drafter import Memory
from redraft.draft.gather import pick
from redraft.sampling.moments import Moments
from redraft.sampling.outcome import Outcome
from redraft.sampling.state import Bools, Ints, Plan, State, everyone
from redraft.sampling.sweep import own_nodes
from redraft.tree.tree import Tree

if TYPE_CHECKING:
    from redraft.sampling.sampler import Sampler

__all__ = ["recall", "remember"]


def recall(sampler: Sampler, plan: Plan, finite: Bools | None, result: Outcome) -> Ints | None:
    """Return the nodes (B, M) whose predictions the drafter wants, None if it wants none.

    Args:
        sampler: The parts.
        plan: The round.
        finite: (B, T) where the predictions are finite; one that is not is replaced by the nearest
            one above it that is. None: everywhere.
        result: What was decided.
    """
    base = np.maximum(result.kept, result.stop)  # a kept child comes after its parent
    nodes = sampler.drafter.recall(sampler.tree, result.stop, base, plan.limit)
    if nodes is not None and sampler.drafter.sweeps:
        nodes = own_nodes(plan, nodes)
    if nodes is not None and finite is not None:
        nodes = np.take_along_axis(_finite_above(plan.tree, finite), nodes, axis=1)
    return nodes


def remember(
    sampler: Sampler,
    state: State,
    plan: Plan,
    f: Tensor,
    seen: Moments,
    nodes: Ints | None,
) -> tuple[Memory | None, Bools]:
    """Return the memory after a round and for whom (B,) it holds something.

    Args:
        sampler: The parts.
        state: State before the round.
        plan: The round.
        f: (B, T, D) predictions.
        seen: The same predictions, as vectors.
        nodes: (B, M) nodes whose predictions are wanted; None if none are.
    """
    drafter = sampler.drafter
    if drafter.asks_root:  # either this round has asked at the root, or the next one will
        x = state.x.unsqueeze(1) if drafter.keeps_state else None
        asked = ~plan.verify
        return (Memory(f[:, :1], x, state.step[:, None]) if asked.any() else state.memory), asked
    if nodes is None:
        return None, state.ready
    remembered = seen.vectors.pick(nodes)
    if not drafter.keeps_state:
        return Memory(remembered, None, None), everyone(len(nodes))
    step = np.take_along_axis(plan.place, nodes, axis=1)
    return Memory(remembered, pick(plan.draft.x, nodes), step), everyone(len(nodes))


def _finite_above(tree: Tree, finite: Bools) -> Ints:
    """Return the nearest node at or above each node whose prediction is finite."""
    table = np.tile(np.arange(finite.shape[1]), (len(finite), 1))
    for node in range(1, finite.shape[1]):
        above = table[:, tree.parent[node]]
        table[:, node] = np.where(finite[:, node], node, above)
    return table
