"""Swept drafts: what a round does before it verifies, what it guesses, and what it costs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

import redraft
from redraft import chain, draft
from redraft.sampling import Info, Rows, Sampler, State
from tests.sampling.problems import bimodal
from tests.sampling.stepping import step

NUM = 12
PROBLEM = bimodal()._replace(chain=chain.ancestral(chain.karras(30, 3.0, 0.1, rho=3.0)))
TREES = ("chain:5", "kary:2,3")


class Call(NamedTuple):
    """A call of the target: the states before and after, its rows, and what was decided."""

    before: State
    after: State
    rows: Rows
    info: Info


def calls(drafter: draft.Swept, tree: str, verifier: str = "greedy") -> list[Call]:
    sampler = Sampler(
        PROBLEM.chain, NUM, (2,), 3, drafter=drafter, verifier=verifier, tree=tree, delta=True
    )
    state, made = sampler.init(), []
    while not state.done:
        after, info, rows = step(sampler, state, PROBLEM.target)
        made.append(Call(state, after, rows, info))
        state = after
    return made


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("sweeps", [1, 2, 7])
def test_a_sweep_keeps_state_and_noises_and_commits_nothing(sweeps: int, tree: str) -> None:
    made = calls(draft.Swept(sweeps), tree)
    seen = 0
    for now, then in zip(made, made[1:], strict=False):
        assert now.rows.plan is not None and then.rows.plan is not None
        held = ~now.rows.plan.verify
        owner = now.before.owner[held]
        assert (now.info.num_committed[held] == 0).all()
        here, there = (np.isin(call.before.owner, owner) for call in (now, then))
        assert (now.before.x.numpy()[here] == then.before.x.numpy()[there]).all()
        assert (now.before.step[here] == then.before.step[there]).all()
        size = min(len(now.rows.plan.tree), len(then.rows.plan.tree)) - 1
        old = now.rows.plan.noise.numpy()[here, :size]
        new = then.rows.plan.noise.numpy()[there, :size]
        exists = now.rows.plan.exists[here, 1 : size + 1]
        assert (old[exists] == new[exists]).all()
        seen += len(owner)
    assert seen > 20


@pytest.mark.parametrize("freeze", ["x0", "velocity"])
@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("sweeps", [1, 2, 3])
def test_nodes_above_depth_J_are_exact(sweeps: int, tree: str, freeze: str) -> None:
    deltas = []
    for call in calls(draft.Swept(sweeps, freeze), tree):
        assert call.info.path_delta is not None
        deltas.append(call.info.path_delta)
    delta = np.concatenate(deltas)
    assert np.nanmax(delta[:, :sweeps], initial=0.0) < 1e-4
    below = delta[:, sweeps : redraft.tree.grow(tree).height]
    assert below.size == 0 or np.nanmax(below) > 1e-2


@pytest.mark.parametrize("tree", TREES)
def test_a_guess_is_the_prediction_at_the_same_node_one_sweep_before(tree: str) -> None:
    made = calls(draft.Swept(2), tree)
    compared = 0
    for now, then in zip(made, made[1:], strict=False):
        assert now.rows.plan is not None and then.rows.plan is not None
        if len(now.before.owner) < NUM or len(then.before.owner) < NUM:
            break
        asked = now.rows.plan.evaluated & ~now.rows.plan.verify[:, None]
        f = torch.zeros(*asked.shape, 2)
        f[torch.from_numpy(asked)] = PROBLEM.target(now.rows.x, now.rows.level)[
            torch.from_numpy(asked[now.rows.plan.evaluated])
        ]
        size = min(asked.shape[1], then.rows.plan.draft.guess.shape[1])
        where = torch.from_numpy(asked[:, :size])
        assert torch.equal(then.rows.plan.draft.guess[:, :size][where], f[:, :size][where])
        compared += int(where.sum())
    assert compared > 100


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("sweeps", [1, 2])
def test_calls_and_rows_of_a_full_round(sweeps: int, tree: str) -> None:
    shape = redraft.tree.grow(tree)
    inner = int((shape.child[:, 0] >= 0).sum())
    made = calls(draft.Swept(sweeps), tree)[1 : 2 + sweeps]
    assert [int(call.info.num_committed.max() > 0) for call in made] == [0] * sweeps + [1]
    rows = [inner] + [inner - 1] * (sweeps - 1) + [len(shape) - 1]
    assert [len(call.rows) for call in made] == [NUM * count for count in rows]


def test_no_more_sweeps_than_the_draft_is_deep() -> None:
    made = calls(draft.Swept(50), "chain:3")[1:4]
    assert [int(call.info.num_committed.min()) for call in made] == [0, 0, 3]


def test_enough_sweeps_are_plain_sampling() -> None:
    def target(x: Tensor, level: Tensor) -> Tensor:
        return torch.tanh(2.0 * x / (1.0 + level.unsqueeze(-1)))

    table = chain.ancestral(chain.karras(9, 3.0, 0.1))
    swept = redraft.sample(
        target,
        table,
        5,
        (3,),
        seed=1,
        drafter=draft.Swept(8),
        tree="chain:9",
        dtype=torch.float64,
        trajectory=True,
    )
    plain = redraft.sequential(target, table, 5, (3,), seed=1, dtype=torch.float64, trajectory=True)
    assert swept.trajectory is not None and plain.trajectory is not None
    torch.testing.assert_close(swept.trajectory, plain.trajectory, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("sweeps", [0, -1, 1.5, True])
def test_bad_numbers_of_sweeps(sweeps: object) -> None:
    with pytest.raises(ValueError, match="sweeps must be a positive integer, got .*drafter='free'"):
        draft.Swept(sweeps)  # pyright: ignore[reportArgumentType]
