"""The first half of a round: which nodes, which noises, which states.

The shape of the draft depends on the step alone (contract rule 2): how deep it may reach before a
zero-noise step or the end, and on whether a first prediction is known.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.draft.drafter import Draft, Frontier
from redraft.sampling import noise
from redraft.sampling.lone import every, largest, rows
from redraft.sampling.lookahead import Lookahead, look_ahead
from redraft.sampling.state import Ints, Plan, Rows, State, every_node, everyone
from redraft.sampling.sweep import sweep
from redraft.tree.tree import Tree

if TYPE_CHECKING:
    from redraft.sampling.sampler import Sampler

__all__ = ["plan"]


def plan(sampler: Sampler, state: State) -> Rows:
    """Return the rows of the next round; see `Sampler.plan`."""
    asks_root, sweeps = sampler.drafter.asks_root, sampler.drafter.sweeps
    reach = rows(sampler.reach, state.step)
    limit = reach if every(state.ready) else np.where(state.ready, reach, 0)
    deepest = largest(limit)
    tree = sampler.tree.cut(deepest)
    full = not (asks_root or sweeps) and (len(limit) == 1 or int(limit.min()) == deepest)
    verify = state.ready | (reach == 0) if asks_root else everyone(len(limit))
    if full:
        evaluated = exists = every_node(len(limit), len(tree))
    else:
        evaluated = exists = tree.depth <= limit[:, None]
    if asks_root:
        evaluated = exists.copy()
        evaluated[:, 0] = ~state.ready
    elif sweeps:
        swept = np.zeros_like(limit) if state.swept is None else state.swept
        evaluated, verify = sweep(tree, limit, swept, sweeps)
    place = sampler.windows.place.read(state.step, tree)
    attempt, drawn = state.attempt, state.drawn
    if not sampler.looks_ahead:  # else every step has its attempt 0 only
        attempt, drawn = _number(tree, state, exists)
    normals, coin, lookahead = _noise(sampler, state, tree, attempt, drawn)
    draft = _draft(sampler, state, tree, normals)
    if full:
        x, owner, step = draft.x, state.owner.repeat(len(tree)), place.reshape(-1)
    else:
        sample, node = np.nonzero(evaluated)
        at = torch.from_numpy(np.stack((sample, node))).to(sampler.device)
        x, owner, step = draft.x[at[0], at[1]], state.owner[sample], place[sample, node]
    states, level, cond = sampler.place(x, owner, step)
    depth_limit = limit if full else np.where(verify, limit, 0)
    laid_out = Plan(
        tree,
        state.step,
        limit,
        depth_limit,
        place,
        exists,
        evaluated,
        full,
        verify,
        attempt,
        drawn,
        normals,
        coin,
        draft,
        lookahead,
    )
    return Rows(states, level, step, owner, cond, laid_out)


def _draft(sampler: Sampler, state: State, tree: Tree, normals: Tensor) -> Draft:
    if len(tree) == 1:
        return Draft(state.x.unsqueeze(1), state.x.new_zeros(1, 1, 1))
    call = partial(sampler.call_cheap, state.owner)
    return sampler.draw(
        Frontier(tree, state.step, state.x, normals, state.memory, state.ready, call)
    )


def _number(tree: Tree, state: State, exists: np.ndarray) -> tuple[Ints, Ints]:
    """Give every fresh noise its serial number for its step; kept noises keep theirs.

    On a chain the nodes past a sample's end are numbered too, but not counted: the first of them is
    the place of the bonus noise.
    """
    kept = state.attempt[:, : len(tree)]
    if len(tree) == 1:
        return kept, state.drawn
    fresh = (kept < 0) & exists
    fresh[:, 0] = False
    above = np.maximum(tree.depth - 1, 0)
    drawn = state.drawn.copy()
    if tree.width <= 1:
        serial = drawn[:, above]
        drawn[:, : len(tree) - 1] += fresh[:, 1:]
        return np.where(kept < 0, serial, kept), drawn
    order = np.cumsum(fresh, axis=1)
    first = np.searchsorted(tree.depth, tree.depth)  # first node of each node's level
    before = np.where(first > 0, order[:, np.maximum(first - 1, 0)], 0)
    serial = drawn[:, above] + order - before - 1
    level = tree.depth[:, None] == np.arange(1, drawn.shape[1] + 1)
    drawn += fresh.astype(np.int64) @ level
    return np.where(fresh, serial, kept), drawn


def _noise(
    sampler: Sampler, state: State, tree: Tree, attempt: Ints, drawn: Ints
) -> tuple[Tensor, NDArray[np.float64], Lookahead | None]:
    """Return the noises, the coins (B, T), and the block of noises looked ahead; see `Plan`.

    The bonus noise of a chain's leaf comes along unnumbered: unless it is used, the next round
    draws the same one again.
    """
    draft, decide = sampler.keys[noise.DRAFT], sampler.keys[noise.DECIDE]
    if len(state.owner) < sampler.num:
        draft, decide = draft[state.owner], decide[state.owner]
    count = len(tree)
    if sampler.looks_ahead:
        total = sampler.steps.total
        block = look_ahead(state.lookahead, draft, decide, state.step, count, total, state.x)
        return *block.read(state.step, count), block
    incoming = np.maximum(state.step[:, None] + tree.depth - 1, 0)
    serial = np.maximum(attempt, 0)
    coin = noise.uniform(decide[:, None], incoming, serial)
    step, number = incoming[:, 1:], serial[:, 1:]
    if tree.width <= 1:
        step = state.step[:, None] + tree.depth
        number = np.concatenate((number, drawn[:, tree.height : tree.height + 1]), axis=1)
    normals = noise.normal(draft[:, None], step, number, sampler.dim, sampler.device)
    return normals, coin, None
