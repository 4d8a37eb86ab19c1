"""Samplers whose trees depend on noises that no decision has looked at."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.sampling import Info, Rows, Sampler, State, noise
from tests.sampling.stepping import change

Ints = NDArray[np.int64]


class SiblingsLookBelow(Sampler):
    """The root's later children exist only if the live noise below the first one looks bad.

    To be absent, a child gets a noise so far off that it is neither accepted nor the nearest.
    """

    def commit(self, state: State, rows: Rows, f: Tensor) -> tuple[State, Info]:
        plan = rows.plan
        assert plan is not None
        below = int(plan.tree.child[min(1, len(plan.tree) - 1), 0])
        if below < 1:
            return super().commit(state, rows, f)
        first = np.concatenate(([0], plan.evaluated.sum(axis=1).cumsum()[:-1]))
        away = f[torch.from_numpy(first)] - plan.draft.guess[:, 0]
        absent = plan.noise[:, below - 1].square().sum(-1) < self.dim
        z = plan.noise.clone()
        far = torch.nn.functional.normalize(away, dim=-1)[absent].unsqueeze(1)
        z[absent, 1 : int((plan.tree.parent == 0).sum())] = (-1e8 * far).to(z)
        return super().commit(state, change(rows, plan=change(plan, noise=z)), f)


class CutsAtBadNoise(Sampler):
    """A child exists only if its own noise is small; the tree ends above the first that is not."""

    def plan(self, state: State) -> Rows:
        rows = super().plan(state)
        assert rows.plan is not None
        size = rows.plan.noise.norm(dim=-1).numpy()
        return cut(self, state, rows, (size < self.dim**0.5).cumprod(axis=1).sum(axis=1))


class CutsWhenBelowIsBad(Sampler):
    """The tree ends at depth 1 if the noise below, which is kept, looks bad."""

    def plan(self, state: State) -> Rows:
        rows = super().plan(state)
        assert rows.plan is not None
        if rows.plan.noise.shape[1] < 2:
            return rows
        bad = rows.plan.noise[:, 1].norm(dim=-1).numpy() > self.dim**0.5
        return cut(self, state, rows, np.where(bad, 1, self.tree.height))


def cut(sampler: Sampler, state: State, rows: Rows, depth: Ints) -> Rows:
    """Return the rows of a round whose trees (chains) end at ``depth``, where a bonus is drawn."""
    plan = rows.plan
    assert plan is not None
    limit = np.minimum(plan.limit, depth)
    exists = plan.tree.depth <= limit[:, None]
    kept = exists[plan.evaluated]
    at, z = torch.from_numpy(kept), plan.noise.clone()
    keys, batch = sampler.keys[noise.DRAFT][state.owner], np.nonzero(limit < plan.limit)[0]
    fresh = noise.normal(keys, state.step + limit, 10**6, sampler.dim, sampler.device)
    z[batch, limit[batch]] = fresh[batch].to(z)
    shorter = change(
        plan,
        limit=limit,
        depth_limit=np.minimum(plan.depth_limit, limit),
        exists=exists,
        evaluated=plan.evaluated & exists,
        full=False,
        noise=z,
    )
    thinner = {"x": rows.x[at], "level": rows.level[at]}
    return change(rows, **thinner, step=rows.step[kept], owner=rows.owner[kept], plan=shorter)
