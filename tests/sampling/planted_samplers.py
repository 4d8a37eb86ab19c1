"""Samplers with a bug in what they keep, draw or commit, and the loop that drives them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.draft import Frontier
from redraft.sampling import Info, Rows, Sampler, State, noise
from tests.sampling.stepping import change

Ints = NDArray[np.int64]


class SharesInitStream(Sampler):
    """The initial state and the first step are driven by the same noise."""

    def init(self, x_init: Tensor | None = None) -> State:
        self.keys[noise.INIT] = self.keys[noise.DRAFT]
        return super().init(x_init)


class RepeatsNoise(Sampler):
    """The noise of a rejected draft drives a later draft again, whole (chains)."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.rejected = torch.zeros(self.num, self.dim, dtype=torch.float64)
        self.held = np.zeros(self.num, dtype=bool)

    def plan(self, state: State) -> Rows:
        rows = super().plan(state)
        plan, again = rows.plan, self.held[state.owner]
        if plan is None or len(plan.tree) == 1:
            return rows
        z = plan.noise.clone()
        z[again, 0] = self.rejected[state.owner[again]]
        return redraft(self, state, rows, z)

    def commit(self, state: State, rows: Rows, f: Tensor) -> tuple[State, Info]:
        after, info = super().commit(state, rows, f)
        plan, stop = rows.plan, info.num_committed - 1
        self.held[state.owner] = (stop >= 0) & (stop < info.limit)
        recovered = np.nonzero(self.held[state.owner])[0]
        assert plan is not None
        self.rejected[state.owner[recovered]] = plan.noise[recovered, stop[recovered]]
        return after, info


class KeepsZeta(Sampler):
    """A recovered state keeps the rejected draft's noise whole, also its part along (chains)."""

    def commit(self, state: State, rows: Rows, f: Tensor) -> tuple[State, Info]:
        after, info = super().commit(state, rows, f)
        plan, steps = rows.plan, self.steps
        assert plan is not None
        stop = info.num_committed - 1
        fixed = np.nonzero((stop >= 0) & (stop < info.limit))[0]
        node = np.zeros(plan.evaluated.shape, dtype=np.int64)
        node[plan.evaluated] = np.arange(len(f))
        f_stop = f.reshape(len(f), -1)[node[np.arange(len(stop)), stop]]
        place = state.step + stop
        a, b, std = (torch.from_numpy(c[place])[:, None] for c in (steps.a, steps.b, steps.std))
        batch = np.arange(len(stop))
        z = plan.noise[batch, np.minimum(stop, plan.noise.shape[1] - 1)]
        wrong = a * plan.draft.x[batch, stop] + b * f_stop + std * z
        return rewrite(after, info, state.owner[fixed], stop[fixed], wrong[fixed]), info


class RoundsState(Sampler):
    """The chain state is kept in bfloat16."""

    def commit(self, state: State, rows: Rows, f: Tensor) -> tuple[State, Info]:
        after, info = super().commit(state, rows, f)
        assert info.states is not None
        info.states.copy_(info.states.bfloat16())
        return change(after, x=after.x.bfloat16().to(after.x)), info


class KeepsWithoutBlock(Sampler):
    """Not a bug: kept noises of a chain by serial number, as on trees; the control of the next."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.looks_ahead = False


class RedrawsKeptNoise(KeepsWithoutBlock):
    """A kept noise that is large is drawn anew."""

    def plan(self, state: State) -> Rows:
        z = noise.normal(
            self.keys[noise.DRAFT][state.owner][:, None],
            np.maximum(state.step[:, None] + self.tree.depth - 1, 0),
            np.maximum(state.attempt, 0),
            self.dim,
            self.device,
        )
        large = z.norm(dim=-1).numpy() > 0.8 * self.dim**0.5
        return super().plan(change(state, attempt=np.where(large, -1, state.attempt)))


def redraft(sampler: Sampler, state: State, rows: Rows, z: Tensor) -> Rows:
    """Return the rows of the same round driven by other noises."""
    plan = rows.plan
    assert plan is not None
    call = partial(sampler.call_cheap, state.owner)
    draft = sampler.draw(
        Frontier(plan.tree, state.step, state.x, z, state.memory, state.ready, call)
    )
    x = draft.x[torch.tensor(plan.evaluated)].reshape(len(rows), *sampler.shape)
    return change(rows, x=x, plan=change(plan, noise=z, draft=draft))


def rewrite(after: State, info: Info, owner: Ints, stop: Ints, x: Tensor) -> State:
    """Put other states in the place of the last committed ones of some samples."""
    assert info.states is not None
    info.states[np.searchsorted(info.owner, owner), stop] = x.to(info.states)
    left = np.nonzero(np.isin(owner, after.owner))[0]
    states = after.x.clone()
    states[np.searchsorted(after.owner, owner[left])] = x[left].to(states)
    return change(after, x=states)
