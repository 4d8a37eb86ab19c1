"""Plan and commit are pure, accepted states are the drafted ones, paths begin and end right."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch

import redraft
from redraft.sampling import Rows, Sampler, State
from tests.sampling.cases import CASES, Case, make_drafter, name
from tests.sampling.problems import bimodal, linear
from tests.sampling.stepping import same, step, walk

NUM = 40


def sampler(case: Case, seed: int = 3, **options: Any) -> Sampler:
    problem = bimodal()
    drafter = make_drafter(case.drafter, problem)
    rule = {"drafter": drafter, "verifier": case.verifier, "tree": case.tree}
    return Sampler(problem.chain, NUM, (2,), seed, record=True, log_prob=True, **rule, **options)


@pytest.mark.parametrize("case", CASES, ids=name)
def test_every_round_can_be_planned_and_committed_again(case: Case) -> None:
    parts, target = sampler(case), bimodal().target
    state, history = parts.init(), []
    while not state.done:
        before = copy.deepcopy(state)
        after, info, rows = step(parts, state, target)
        history.append((state, rows, after))
        assert same(state, before), "a round has written to the state it started from"
        again = parts.commit(state, rows, target(rows.x, rows.level))
        assert same(again[0], after) and same(again[1], info)
        state = after
    for old, rows, after in history[::3]:
        replayed, _, planned = step(parts, old, target)
        assert same(planned.plan, rows.plan) and torch.equal(planned.x, rows.x)
        assert same(replayed, after)


@pytest.mark.parametrize("case", CASES, ids=name)
def test_accepted_states_are_bit_identical_to_drafted_ones(case: Case) -> None:
    parts, target = sampler(case), bimodal().target
    state, accepted = parts.init(), 0
    while not state.done:
        after, info, rows = step(parts, state, target)
        assert rows.plan is not None and info.states is not None
        drafts = rows.plan.draft.x.to(info.states.dtype)
        for row, count in enumerate(info.num_committed):
            for entry in range(int(count) - 1):
                level = np.nonzero(rows.plan.tree.depth == entry + 1)[0]
                equal = (drafts[row, level] == info.states[row, entry]).all(dim=1)
                assert bool(equal.any()), "an accepted state is none of the drafted ones"
                accepted += 1
        state = after
    assert accepted > NUM


@pytest.mark.parametrize("family", ["ancestral", "fixed_small", "fixed_large"])
@pytest.mark.parametrize("case", CASES, ids=name)
def test_trajectories_start_at_x_init_and_end_at_the_samples(case: Case, family: str) -> None:
    problem = linear(family, 2)
    start = torch.randn(NUM, 2, generator=torch.Generator().manual_seed(0))
    result = redraft.sample(
        problem.target,
        problem.chain,
        NUM,
        (2,),
        seed=1,
        drafter=make_drafter(case.drafter, problem),
        verifier=case.verifier,
        tree=case.tree,
        x_init=start,
        trajectory=True,
    )
    path = result.trajectory
    assert path is not None and path.shape == (NUM, problem.chain.num_steps + 1, 2)
    assert torch.equal(path[:, 0], start)
    if problem.chain.terminal is None:
        assert torch.equal(path[:, -1], result.samples)
    else:
        level = torch.full((NUM,), problem.chain.terminal)
        torch.testing.assert_close(problem.target(path[:, -1], level), result.samples)


def test_driving_by_hand_and_by_sample_is_the_same(fresh_seed: int) -> None:
    case, problem = Case("recycled", "greedy", "chain:4"), bimodal()
    path = walk(sampler(case, fresh_seed), problem.target)
    result = redraft.sample(
        problem.target, problem.chain, NUM, (2,), seed=fresh_seed, tree="chain:4", trajectory=True
    )
    assert result.trajectory is not None
    assert torch.equal(path[:, :-1].float(), result.trajectory)
    assert torch.equal(path[:, -1].float(), result.samples)


def test_rows_without_a_plan_are_refused() -> None:
    parts = sampler(Case("free", "greedy", "chain:4"))
    state: State = parts.init()
    rows = parts.plan(state)
    stripped = Rows(rows.x, rows.level, rows.step, rows.owner, rows.cond, None)
    with pytest.raises(ValueError, match="pass the rows that `plan` returned"):
        parts.commit(state, stripped, rows.x)


def test_progress_counts_committed_steps_up_to_all_of_them() -> None:
    problem, told = bimodal(), []
    redraft.sample(
        problem.target,
        problem.chain,
        3,
        (2,),
        seed=0,
        progress=lambda done, total: told.append((done, total)),
    )
    done = [entry[0] for entry in told]
    assert done == sorted(done) and told[-1] == (27, 27)
