"""A sample on its own takes a shorter way through the same round: bit for bit the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from redraft import chain, draft
from redraft.sampling import NonFiniteError, Sampler, State
from tests.sampling.cases import arbitrary
from tests.sampling.problems import Problem
from tests.sampling.stepping import same, step

SHAPE = (2, 3)
CHAINS = {
    "ancestral": chain.ancestral(chain.karras(40, 8.0, 0.05)),
    "to zero": chain.ancestral([*chain.karras(30, 8.0, 0.05).tolist(), 0.0]),
    "ddpm": chain.ddpm(torch.linspace(0.9999, 0.01, 60, dtype=torch.float64).cumprod(0)),
}


def target(x: Tensor, level: Tensor, shift: Tensor | None = None) -> Tensor:
    scale = level.view(-1, 1, 1)
    moved = torch.tanh(1.3 * x / (1 + scale)) + 0.2 * torch.sin(x)
    return moved if shift is None else moved + shift.view(-1, 1, 1)


def pair(table: str, tree: str, **options: Any) -> tuple[Sampler, Sampler]:
    """Two samplers of one sample, the second without the short way."""
    short, long = (Sampler(CHAINS[table], 1, SHAPE, 5, tree=tree, **options) for _ in range(2))
    assert short._solo is not None
    long._solo = None
    return short, long


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("verifier", ["greedy", "reflection"])
@pytest.mark.parametrize("tree", ["chain:2", "chain:5", "chain:16", "chain:80"])
@pytest.mark.parametrize("table", CHAINS)
def test_every_round_is_the_general_one(
    table: str, tree: str, verifier: str, dtype: torch.dtype
) -> None:
    short, long = pair(table, tree, verifier=verifier, dtype=dtype, cond={"shift": torch.ones(1)})
    state, other = short.init(), long.init()
    rounds = 0
    while not state.done:
        state, info, rows = step(short, state, target)
        other, other_info, other_rows = step(long, other, target)
        assert same(rows, other_rows) and same(state, other) and same(info, other_info)
        rounds += 1
    assert other.done and rounds > 1


@pytest.mark.parametrize("tree", ["chain:2", "chain:5", "chain:16"])
@pytest.mark.parametrize("table", CHAINS)
def test_calibrated_rounds_are_the_general_ones_up_to_rounding(table: str, tree: str) -> None:
    problem = Problem(target, target, CHAINS[table], 6)
    short, long = pair(table, tree, drafter=draft.Recycled(arbitrary(problem)))
    state, other = short.init(), long.init()
    bonus = 0
    while not state.done:
        state, info, rows = step(short, state, target)
        other, other_info, other_rows = step(long, other, target)
        torch.testing.assert_close(rows.x, other_rows.x, rtol=1e-5, atol=1e-5)
        assert rows.plan is not None and other_rows.plan is not None
        guess, wanted = rows.plan.draft.guess.double(), other_rows.plan.draft.guess.double()
        torch.testing.assert_close(guess, wanted, rtol=1e-5, atol=1e-5)
        assert info.depth == other_info.depth and np.array_equal(state.step, other.step)
        torch.testing.assert_close(state.x, other.x, rtol=1e-5, atol=1e-5)
        if state.memory is not None and not state.done:
            mine, theirs = state.memory, other.memory
            assert mine.x is not None and theirs is not None and theirs.x is not None
            assert same(mine.step, theirs.step)
            torch.testing.assert_close(mine.x.float(), theirs.x.float(), rtol=1e-5, atol=1e-5)
        bonus += info.num_bonus
    assert other.done and bonus > 1


def test_a_hole_in_what_is_remembered_is_left_to_the_general_way() -> None:
    problem = Problem(target, target, CHAINS["ancestral"], 6)
    short, long = pair("ancestral", "chain:8", drafter=draft.Recycled(arbitrary(problem)))
    state, holes = short.init(), 0
    while not state.done:
        rows, other = short.plan(state), long.plan(state)
        torch.testing.assert_close(rows.x, other.x, rtol=1e-5, atol=1e-5)
        f = target(rows.x, rows.level)
        stop = int(long.commit(state, rows, f)[1].depth[0])
        if stop + 3 < len(rows):
            f[stop + 3] = float("nan")
            holes += 1
        state, _ = short.commit(state, rows, f)
    assert holes > 2


def test_a_gain_that_gives_way_does_so_here_too() -> None:
    problem = Problem(target, target, CHAINS["ancestral"], 6)
    steep = arbitrary(problem)
    steep.gram[..., 1:, 0] = steep.gram[..., 0, 1:] = -40.0
    short, long = pair("ancestral", "chain:5", drafter=draft.Recycled(steep))
    state, other = short.init(), long.init()
    while not state.done:
        state, _, rows = step(short, state, target)
        other, _, other_rows = step(long, other, target)
        torch.testing.assert_close(rows.x, other_rows.x, rtol=1e-4, atol=1e-4)


def test_most_rounds_go_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    short, _ = pair("ancestral", "chain:8")
    taken: list[bool] = []
    assert short._solo is not None
    commit = short._solo.commit

    def watched(*arguments: Any) -> Any:
        answer = commit(*arguments)
        taken.append(answer is not None)
        return answer

    monkeypatch.setattr(short._solo, "commit", watched)
    state = short.init()
    while not state.done:
        state, _, _ = step(short, state, target)
    assert sum(taken) >= len(taken) - 3 and len(taken) > 5


@pytest.mark.parametrize(
    "options",
    [
        {"drafter": "free"},
        {"drafter": "frozen"},
        {"verifier": "traversal", "drafter": "free"},
        {"tree": "kary:2,3"},
        {"tree": "chain:1"},
        {"dtype": torch.bfloat16},
        {"log_prob": True},
        {"delta": True},
        {"record": True},
    ],
)
def test_other_rounds_have_no_short_way(options: dict[str, Any]) -> None:
    assert Sampler(CHAINS["ddpm"], 1, SHAPE, 0, **options)._solo is None


def test_a_prediction_that_is_not_finite_is_found_at_a_visited_node_only() -> None:
    short, long = pair("ancestral", "chain:8")
    state = _settle(short)
    rows = short.plan(state)
    f = target(rows.x, rows.level)
    stop = int(short.commit(state, rows, f)[1].depth[0])
    for node in range(len(rows)):
        bad = f.clone()
        bad[node] = float("nan") if node % 2 else float("inf")
        if node <= stop:
            with pytest.raises(NonFiniteError, match=f"step {int(state.step[0]) + node}"):
                short.commit(state, rows, bad)
        else:
            answers = (parts.commit(state, rows, bad) for parts in (short, long))
            assert all(same(mine, other) for mine, other in zip(*answers, strict=True))


def test_what_the_model_writes_to_is_its_own() -> None:
    """A model that overwrites its input, or its output later on, changes nothing."""

    def rude(x: Tensor, level: Tensor) -> Tensor:
        f = target(x, level)
        x.zero_()
        level.zero_()
        return f

    short, long = pair("ancestral", "chain:8")
    state, other = short.init(), long.init()
    while not state.done:
        rows = short.plan(state)
        f = rude(rows.x, rows.level)
        state, _ = short.commit(state, rows, f)
        f.zero_()
        other, _, _ = step(long, other, target)
        assert same(state, other)


def test_a_lone_survivor_of_a_batch_is_as_if_alone() -> None:
    together = Sampler(CHAINS["ancestral"], 3, SHAPE, [4, 5, 6], tree="chain:6")
    state = together.init()
    while not state.done:
        state, _, _ = step(together, state, target)
    for seed in (4, 5, 6):
        alone = Sampler(CHAINS["ancestral"], 1, SHAPE, [seed], tree="chain:6")
        lone = alone.init()
        while not lone.done:
            lone, _, _ = step(alone, lone, target)
        assert torch.allclose(lone.samples[0], state.samples[seed - 4], rtol=0, atol=1e-5)
        assert np.array_equal(lone.calls[0], state.calls[seed - 4])


def _settle(sampler: Sampler) -> State:
    state = sampler.init()
    for _ in range(4):
        state, _, _ = step(sampler, state, target)
    return state
