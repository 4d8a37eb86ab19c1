"""Move every sample to its new root, and carry over what may be kept.

Where a recovered state took the place of a rejected child, the noises below that child are kept
(``docs/contract.md``, rule 4): they are live, nothing has looked at them. All that is kept of a
noise is its serial number. Nodes past the end of the chain or past a zero-noise step do not exist,
so nothing of them can be kept (rule 5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from redraft.draft.drafter import Memory
from redraft.sampling.lone import every, largest
from redraft.sampling.outcome import Outcome
from redraft.sampling.state import Bools, Ints, Plan, State
from redraft.sampling.sweep import own_noises

if TYPE_CHECKING:
    from redraft.sampling.sampler import Sampler

__all__ = ["shift"]


def shift(
    sampler: Sampler,
    state: State,
    plan: Plan,
    result: Outcome,
    x: Tensor,
    memory: Memory | None,
    ready: Bools,
) -> State:
    """Return the state after a round.

    Args:
        sampler: The parts.
        state: State before the round.
        plan: The round.
        result: Where the committed paths end, and which child is kept.
        x: (B, D) states after the paths.
        memory: What is remembered of the round.
        ready: (B,) for whom it is.
    """
    moved = plan.tree.depth[result.stop] + 1
    if not plan.full and not every(plan.verify):
        moved = np.where(plan.verify, moved, 0)
        hold = torch.from_numpy(~plan.verify).to(x.device).unsqueeze(-1)
        x = torch.where(hold, state.x, x)
    attempt, drawn = state.attempt, state.drawn
    if not sampler.looks_ahead:  # else every step has its attempt 0 only
        attempt, drawn = _attempts(sampler, plan, result.kept), _advance(plan.drawn, moved)
    swept = None
    if sampler.drafter.sweeps:
        attempt = own_noises(plan, attempt)
        swept = np.where(plan.verify, 0, 1 if state.swept is None else state.swept + 1)
    calls, rows = _count(state, plan)
    step = state.step + moved
    after = State(
        state.owner,
        step,
        x,
        attempt,
        drawn,
        memory,
        ready,
        plan.lookahead,
        state.samples,
        calls,
        rows,
        swept,
    )
    if largest(step) < sampler.steps.total:
        return after
    return _retire(after, step == sampler.steps.total)


def _count(state: State, plan: Plan) -> tuple[Ints, Ints]:
    """Return calls and rows of every sample of the run, this round's counted."""
    if plan.full and len(state.owner) == len(state.calls):
        return state.calls + 1, state.rows + len(plan.tree)
    calls, rows = state.calls.copy(), state.rows.copy()
    calls[state.owner] += plan.evaluated.any(axis=1)
    rows[state.owner] += plan.evaluated.sum(axis=1)
    return calls, rows


def _attempts(sampler: Sampler, plan: Plan, kept: Ints) -> Ints:
    """Return the serial numbers of the noises kept for the next tree, -1 where none is."""
    shape = (len(kept), len(sampler.tree))
    if not sampler.drafter.keeps_noise or not kept.any():
        return np.full(shape, -1)
    source = sampler.tree.subtree[kept]
    source = np.where(source < len(plan.tree), source, -1)
    found = (source >= 0) & (kept > 0)[:, None]
    found &= np.take_along_axis(plan.exists, np.maximum(source, 0), axis=1)
    serial = np.take_along_axis(plan.attempt, np.maximum(source, 0), axis=1)
    return np.where(found, serial, -1)


def _advance(drawn: Ints, moved: Ints) -> Ints:
    """Drop the counters of committed steps."""
    place = np.arange(drawn.shape[1]) + moved[:, None]
    inside = place < drawn.shape[1]
    return np.where(inside, np.take_along_axis(drawn, np.where(inside, place, 0), axis=1), 0)


def _retire(state: State, over: Bools) -> State:
    """Move finished samples out of the batch."""
    left = np.nonzero(~over)[0]
    gone = torch.from_numpy(np.nonzero(over)[0]).to(state.x.device)
    samples = state.samples.index_copy(
        0, torch.from_numpy(state.owner[over]).to(state.x.device), state.x[gone]
    )
    stay = torch.from_numpy(left).to(state.x.device)
    memory = state.memory
    if memory is not None:
        x = None if memory.x is None else memory.x[stay]
        step = None if memory.step is None else memory.step[left]
        memory = Memory(memory.f[stay], x, step)
    return State(
        owner=state.owner[left],
        step=state.step[left],
        x=state.x[stay],
        attempt=state.attempt[left],
        drawn=state.drawn[left],
        memory=memory,
        ready=state.ready[left],
        lookahead=None if state.lookahead is None else state.lookahead.take(left),
        samples=samples,
        calls=state.calls,
        rows=state.rows,
        swept=None if state.swept is None else state.swept[left],
    )
