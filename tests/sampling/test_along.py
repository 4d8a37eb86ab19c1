"""Under greedy, each committed state's noise is standard normal along the pair that decided on it.

Every noisy step n of a path is committed from one visited node u. The direction e_u from the draft
mean to the target mean depends on u's own path only, so <z_n, e_u> is N(0, 1), whatever n and
whatever the past. A wrong decision, or a guess that knows the noise it will be judged by, errs
along e_u and nowhere else: this sees a guess that peeks at one depth only, which whole paths hide.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from redraft.audit import Columns, assert_same_cdf, expect_caught
from redraft.draft import Recycled
from redraft.draft.drafter import Ints
from redraft.sampling import Sampler
from redraft.tree.tree import Tree
from tests.sampling.checks import RATE
from tests.sampling.problems import Problem, bimodal, isotropic

NUM = 40_000


class PeeksAtDepthTwo(Recycled):
    """At depth 2 the guess is the prediction one node further down: it has seen the noise."""

    def recall(self, tree: Tree, stop: Ints, base: Ints, limit: Ints) -> Ints | None:
        nodes = np.minimum(base[:, None] + np.arange(len(tree)), limit[:, None])
        nodes[:, 2] = np.minimum(base + 3, limit)
        return nodes


def along(problem: Problem, seed: int, drafter: Recycled, tree: str) -> Tensor:
    """Return <z_n, e_u> (NUM, steps), of the first coordinate where there is no pair."""
    steps = len(problem.chain.level)
    sampler = Sampler(
        problem.chain, NUM, (problem.dim,), seed, drafter=drafter, tree=tree, record=True
    )
    state, found = sampler.init(), torch.zeros(NUM, steps, dtype=torch.float64)
    table = sampler.steps
    while not state.done:
        rows = sampler.plan(state)
        f = problem.target(rows.x, rows.level)
        root, plan = state.x, rows.plan
        assert plan is not None
        state, info = sampler.commit(state, rows, f)
        assert info.states is not None
        by_node = torch.zeros(*plan.exists.shape, problem.dim)
        by_node[torch.from_numpy(plan.evaluated.copy())] = f
        gap = by_node - plan.draft.guess
        before = torch.cat((root.unsqueeze(1), info.states[:, :-1]), dim=1)
        path = _path(plan.tree, before, plan.draft.x)
        for depth in range(int(info.num_committed.max())):
            b = np.nonzero((info.num_committed > depth) & (info.step + depth < steps))[0]
            n, u = info.step[b] + depth, path[b, depth]
            a, weight, std = (
                torch.from_numpy(column[n])[:, None] for column in (table.a, table.b, table.std)
            )
            mean = a * before[b, depth] + weight * by_node[b, u]
            z = (info.states[b, depth] - mean) / std
            inner = torch.from_numpy(depth < plan.limit[b])[:, None]
            e = torch.where(inner, gap[b, u].double(), torch.eye(problem.dim)[0].double())
            found[info.owner[b], n] = (z * torch.nn.functional.normalize(e, dim=-1)).sum(-1)
    return found


def _path(tree: Tree, before: Tensor, drafted: Tensor) -> Ints:
    """Return the visited node at each depth (B, H + 1): the one whose state was committed."""
    path = np.zeros((len(before), tree.height + 1), dtype=np.int64)
    for depth in range(1, tree.height + 1):
        nodes = np.nonzero(tree.depth == depth)[0]
        same = (drafted[:, nodes] == before[:, depth : depth + 1]).all(-1)
        path[:, depth] = nodes[same.int().argmax(1).numpy()]
    return path


@pytest.mark.statistical
@pytest.mark.parametrize("tree", ["chain:6", "kary:2,3"])
def test_noise_is_normal_along_every_decision(fresh_seed, tree):
    found = along(bimodal(), fresh_seed, Recycled(), tree)
    columns = Columns(found, [f"step {n}" for n in range(found.shape[1])])
    assert_same_cdf(columns, torch.special.ndtr, detect=0.045, false_fail=RATE)


@pytest.mark.statistical
def test_a_guess_that_peeks_at_one_depth_is_caught(fresh_seed):
    found = along(isotropic(), fresh_seed, PeeksAtDepthTwo(), "chain:6")
    columns = Columns(found, [f"step {n}" for n in range(found.shape[1])])
    with expect_caught("a guess at depth 2 knows its outgoing noise"):
        assert_same_cdf(columns, torch.special.ndtr, detect=0.045, false_fail=RATE)
