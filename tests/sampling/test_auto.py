"""Runs that choose their own way: tree="auto", tune and plan=."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import redraft
from redraft import Strategy, chain, zoo
from redraft.execute import Local
from redraft.sampling import Sampler, TargetError
from redraft.sampling.adaptive import resized
from redraft.sampling.calibrate import teach
from redraft.sampling.sequential import carry_on
from tests.sampling.checks import check_linear_path, check_residuals
from tests.sampling.problems import bimodal, isotropic
from tests.sampling.stepping import step

TABLE = chain.ancestral(chain.karras(60, 3.0, 0.05))
TARGET = bimodal().target


class Clock:
    """A clock that only targets and looks at it move on."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        for room in ("adaptive", "latency", "race"):
            patch.setattr(sys.modules[f"redraft.sampling.{room}"], "perf_counter", self.read)

    def read(self) -> float:
        self.now += 1e-5
        return self.now

    def target(self, per_call: float, per_row: float) -> Any:
        """A target that takes a stated time."""

        def denoiser(x: Tensor, level: Tensor) -> Tensor:
            self.now += per_call + per_row * len(x)
            return TARGET(x, level)

        return denoiser


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_rows_for_nothing_are_used(clock: Clock) -> None:
    result = redraft.sample(clock.target(2e-3, 0.0), TABLE, 1, (2,), seed=0, tree="auto:32")
    assert result.plan is not None and result.plan.speculates and result.plan.chosen.rows >= 8
    assert result.calls[0] < 30


@pytest.mark.parametrize("num", [1, 3])
def test_rows_that_cost_as_much_as_calls_are_not(num: int, clock: Clock) -> None:
    result = redraft.sample(clock.target(0.0, 1.5e-3), TABLE, num, (2,), seed=0, tree="auto")
    assert result.plan is not None and not result.plan.speculates
    assert "Speculation stopped" in result.plan.notes[0]
    assert (result.rows <= TABLE.calls_sequential + 9).all() and (result.calls >= 50).all()


def test_a_plan_is_not_for_the_samples_that_chose_it(clock: Clock) -> None:
    """Their noises would choose their own drafts: the law would be another (contract rule 3)."""
    first = redraft.sample(clock.target(1e-3, 0.0), TABLE, 1, (2,), seed=3, tree="auto:16")
    plain = redraft.sample(clock.target(0.0, 1e-3), TABLE, 1, (2,), seed=3, tree="auto:16")
    assert first.plan is not None and plain.plan is not None and not plain.plan.speculates
    for plan in (first.plan, plain.plan):
        with pytest.raises(ValueError, match="samples of the same seeds"):
            redraft.sample(TARGET, TABLE, 1, (2,), seed=3, plan=plan)
        again, more = (redraft.sample(TARGET, TABLE, 1, (2,), seed=4, plan=plan) for _ in "ab")
        assert torch.equal(again.samples, more.samples) and again.plan is plan


def test_going_on_step_by_step_counts_reports_and_can_be_resumed(clock: Clock) -> None:
    seen: list[tuple[int, int]] = []
    slow, calls = clock.target(0.0, 1e-3), 0

    def flaky(x: Tensor, level: Tensor) -> Tensor:
        nonlocal calls
        calls += 1
        if calls == 20:
            raise RuntimeError("out of memory")
        return slow(x, level)

    def tell(done: int, total: int) -> None:
        seen.append((done, total))

    with pytest.raises(TargetError) as caught:
        redraft.sample(flaky, TABLE, 1, (2,), seed=3, tree="auto", progress=tell)
    run: Any = caught.value.run
    result = run.finish()
    whole = redraft.sample(clock.target(0.0, 1e-3), TABLE, 1, (2,), seed=3, tree="auto")
    assert torch.equal(result.samples, whole.samples)
    assert result.summary.num_rounds == result.calls[0] == whole.calls[0]
    assert result.summary.num_draft_rows == result.rows[0] == whole.rows[0]
    done = [committed for committed, _ in seen]
    assert len(set(done)) > 40 and done[-1] == TABLE.calls_sequential


@pytest.mark.statistical
@pytest.mark.parametrize("per_row", [0.0, 1.0])
def test_the_law_is_the_targets(
    per_row: float, fresh_seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sizes that change from round to round, by a clock that is made up."""
    clock = iter(np.random.default_rng(fresh_seed).uniform(0.5, 1.5, 10**6).cumsum())
    monkeypatch.setattr("redraft.sampling.adaptive.perf_counter", lambda: float(next(clock)))
    for problem in (bimodal(), isotropic()):
        result = redraft.sample(
            problem.target,
            problem.chain,
            20_000,
            (problem.dim,),
            seed=fresh_seed,
            tree="auto:8",
            trajectory=True,
        )
        assert result.trajectory is not None
        check_residuals(result.trajectory, problem)
        if problem.affine is not None:
            check_linear_path(result.trajectory, problem)


@pytest.mark.statistical
def test_stopping_half_way_keeps_the_law(fresh_seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sample at a time goes on by the plain sampler with what is left of its noises."""
    problem = isotropic()
    paths = []
    monkeypatch.setattr("redraft.tree.probing._STOP", 0.0)
    for seed in range(2000):
        result = redraft.sample(
            problem.target, problem.chain, 1, (6,), seed=fresh_seed + seed, tree="auto:4"
        )
        paths.append(result.samples.double() / 5.0)
    reference = redraft.sequential(
        problem.target, problem.chain, 2000, (6,), seed=fresh_seed + 10**6
    ).samples
    found = torch.cat(paths)
    spread = reference.double().std(dim=0) / 5.0
    assert (found.mean(dim=0).abs() < 6 * spread / 2000**0.5).all()
    assert ((found.std(dim=0) / spread - 1.0).abs() < 6 * (2 / 2000) ** 0.5).all()


def test_tune_finds_what_pays_and_says_when_nothing_does(tmp_path: Path, clock: Clock) -> None:
    common: dict[str, Any] = {"num": 16, "passes": 2, "max_rows": 16}
    fast = redraft.tune(clock.target(2e-3, 0.0), TABLE, (2,), **common)
    assert fast.speculates and fast.chosen.rows >= 8 and fast.speedup > 2.0
    slow = redraft.tune(clock.target(0.0, 1e-3), TABLE, (2,), **common)
    assert not slow.speculates and "does not pay" in slow.notes[0] and slow.speedup == 1.0
    plain = redraft.sample(TARGET, TABLE, 2, (2,), seed=1, plan=slow)
    assert (plain.calls == TABLE.calls_sequential).all()
    fast.save(tmp_path / "deep" / "plan.json")
    again = Strategy.load(tmp_path / "deep" / "plan.json")
    runs = [
        redraft.sample(TARGET, TABLE, 4, (2,), seed=1, plan=one, deterministic=True)
        for one in (fast, again)
    ]
    assert torch.equal(runs[0].samples, runs[1].samples)
    assert runs[0].calls.mean() < 25


def test_times_are_those_of_the_race_and_calls_those_of_the_teaching(clock: Clock) -> None:
    common: dict[str, Any] = {"num": 16, "passes": 2}
    made = redraft.tune(clock.target(2e-3, 0.0), TABLE, (2,), max_rows=8, **common)
    plain = made.options[0]
    assert made.chosen in made.options
    assert plain.seconds == pytest.approx(2e-3 * TABLE.calls_sequential, rel=0.02)
    assert made.chosen.seconds == pytest.approx(2e-3 * made.chosen.calls, rel=0.3)
    assert made.chosen.seconds != made.chosen.calls * 2e-3, "measured, not predicted"
    assert plain.seconds is not None and made.chosen.seconds is not None
    assert made.speedup == pytest.approx(plain.seconds / made.chosen.seconds)
    _, calls = teach(
        TARGET,
        TABLE,
        16,
        (2,),
        seed=0,
        drafter="recycled",
        verifier="greedy",
        tree="chain:8",
        cond=None,
        passes=2,
    )
    (longest,) = [o for o in made.options if (o.drafter, o.rows) == ("recycled", 8)]
    assert longest.calls == pytest.approx(calls.mean())
    assert longest.calls_error == pytest.approx(calls.std() / 4.0)


def test_a_small_gain_is_not_worth_it(clock: Clock) -> None:
    """What the race says to be less than 3 % faster is left alone."""
    made = redraft.tune(clock.target(5e-5, 1e-3), TABLE, (2,), num=16, passes=1, max_rows=2)
    best = min(option.seconds or 1.0 for option in made.options)
    assert made.options[0].seconds is not None and best < made.options[0].seconds
    assert not made.speculates


def test_carrying_on_is_a_chain_of_one_row() -> None:
    for rounds in range(2, 9):
        long, one = (
            Sampler(TABLE, 1, (2,), 5, drafter="recycled", tree=tree)
            for tree in ("chain:6", "chain:1")
        )
        state = long.init()
        for _ in range(rounds):
            state, _, _ = step(long, state, TARGET)
        done = carry_on(long, state, TARGET, Local())
        other = resized(state, one)
        while not other.done:
            other, _, _ = step(one, other, TARGET)
        torch.testing.assert_close(done.samples, other.samples, rtol=1e-4, atol=1e-5)
        assert done.calls == other.calls and done.rows == other.rows and done.done


def test_a_longer_chain_starts_from_the_deepest_prediction_that_is_known() -> None:
    short, long = (
        Sampler(TABLE, 3, (2,), 5, drafter="recycled", tree=tree) for tree in ("chain:4", "chain:7")
    )
    state = short.init()
    for _ in range(3):
        state, _, _ = step(short, state, TARGET)
    assert state.memory is not None
    f = resized(state, long).memory.f  # type: ignore[union-attr]
    assert torch.equal(f[:, :4], state.memory.f)
    assert torch.equal(f[:, 4:], state.memory.f[:, -1:].expand(-1, 3, -1))
    back = resized(resized(state, long), short)
    assert back.memory is not None and torch.equal(back.memory.f, state.memory.f)


def test_a_row_budget_is_kept_and_calls_can_be_the_goal() -> None:
    made = redraft.tune(TARGET, TABLE, (2,), num=16, passes=1, max_rows=6, goal="calls")
    assert made.chosen.rows == 6 and {option.rows for option in made.options} == {1, 6}


def test_long_chains_of_drafts_past_the_end_are_no_trouble() -> None:
    """The products of many factors of padded nodes underflow; their logarithms do not."""
    target = zoo.gaussian(4, 3)
    table = chain.ancestral(chain.karras(100, 8.0, 0.05))
    made = redraft.tune(target, table, (4,), max_rows=64, num=32, passes=2, goal="calls")
    assert made.chosen.rows == 64


def test_named_strategies_are_kept_and_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDRAFT_CACHE", str(tmp_path))
    calls = 0

    def counted(x: Tensor, level: Tensor) -> Tensor:
        nonlocal calls
        calls += 1
        return TARGET(x, level)

    common: dict[str, Any] = {"num": 4, "passes": 1, "max_rows": 4, "goal": "calls"}
    first = redraft.tune(counted, TABLE, (2,), name="mine", **common)
    seen = calls
    again = redraft.tune(counted, TABLE, (2,), name="mine", **common)
    assert calls == seen and again.chosen == first.chosen and again.notes == first.notes
    redraft.tune(counted, TABLE, (2,), name="mine", **{**common, "max_rows": 3})
    assert calls > seen, "another question has another answer"
    (file,) = [one for one in (tmp_path / "plans").iterdir() if '"rows": 3' not in one.read_text()]
    file.write_text(file.read_text().replace("redraft 0", "redraft 99"))
    seen = calls
    made = redraft.tune(counted, TABLE, (2,), name="mine", **common)
    assert calls > seen and "was ignored" in made.notes[-1]
    file.write_text("{")
    assert "was ignored" in redraft.tune(counted, TABLE, (2,), name="mine", **common).notes[-1]
    with pytest.raises(ValueError, match="name may have"):
        redraft.tune(counted, TABLE, (2,), name="../x", **common)


def test_a_cache_that_cannot_be_written_to_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("REDRAFT_CACHE", str(tmp_path / "file"))
    made = redraft.tune(TARGET, TABLE, (2,), num=2, passes=1, max_rows=2, name="mine")
    assert made.options


def test_chains_without_noise_are_not_speculated_on() -> None:
    still = chain.ancestral(chain.karras(10, 3.0, 0.05), eta=0.0)
    made = redraft.tune(TARGET, still, (2,), num=4)
    assert not made.speculates and made.notes == ("No step has noise.",)


def test_an_error_of_the_model_leaves_an_adaptive_run_to_go_on() -> None:
    calls = 0

    def flaky(x: Tensor, level: Tensor) -> Tensor:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise RuntimeError("out of memory")
        return TARGET(x, level)

    with pytest.raises(TargetError) as caught:
        redraft.sample(flaky, TABLE, 2, (2,), seed=0, tree="auto:8")
    run: Any = caught.value.run
    assert bool(run.finish().samples.isfinite().all())


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"tree": "auto:0"}, "auto or auto:M"),
        ({"tree": "autos"}, "Did you mean 'auto'"),
        ({"tree": "auto:many"}, "auto or auto:M"),
        ({"tree": "auto", "drafter": "free"}, "leave both out"),
        ({"tree": "auto", "deterministic": True}, "need a plan"),
    ],
)
def test_bad_requests(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        redraft.sample(TARGET, TABLE, 1, (2,), seed=0, **options)


def test_a_plan_of_another_chain_is_refused(tmp_path: Path) -> None:
    made = redraft.tune(TARGET, TABLE, (2,), num=2, passes=1, max_rows=2)
    with pytest.raises(ValueError, match="another chain"):
        redraft.sample(TARGET, chain.ancestral([3.0, 1.0, 0.1]), 1, (2,), seed=0, plan=made)
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(ValueError, match="no strategy of this version"):
        Strategy.load(tmp_path / "bad.json")
    with pytest.raises(ValueError, match="goal must be"):
        redraft.tune(TARGET, TABLE, (2,), goal="fast")
