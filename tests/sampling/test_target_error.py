"""A model that raises in the middle of a run: nothing is lost, the run goes on."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import redraft
from redraft import TargetError
from redraft.sampling import Run, Sampler
from tests.sampling.cases import CASES, Case, make_drafter, name
from tests.sampling.problems import bimodal
from tests.sampling.stepping import same


class Flaky:
    """A target that raises in some of its calls."""

    def __init__(self, target: Any, bad: set[int]) -> None:
        self.target, self.bad, self.calls = target, bad, 0

    def __call__(self, x: Tensor, level: Tensor) -> Tensor:
        self.calls += 1
        if self.calls in self.bad:
            raise RuntimeError("out of memory, say")
        return self.target(x, level)


def options(case: Case) -> dict[str, Any]:
    drafter = make_drafter(case.drafter, bimodal())
    return {"drafter": drafter, "verifier": case.verifier, "tree": case.tree}


@pytest.mark.parametrize("case", CASES, ids=name)
def test_a_run_that_is_finished_later_gives_the_undisturbed_result(case: Case) -> None:
    problem = bimodal()
    asked: dict[str, Any] = {"seed": 5, "trajectory": True, "log_prob": True, **options(case)}
    calm = redraft.sample(problem.target, problem.chain, 6, (2,), **asked)
    flaky = Flaky(problem.target, {1, 3, 4})
    with pytest.raises(TargetError, match="RuntimeError.*out of memory.*finish") as caught:
        redraft.sample(flaky, problem.chain, 6, (2,), **asked)
    for _ in range(2):
        run = caught.value.run
        assert isinstance(run, Run) and isinstance(caught.value.__cause__, RuntimeError)
        with pytest.raises(TargetError) as caught:
            run.finish()
    run = caught.value.run
    assert isinstance(run, Run)
    result = run.finish()
    for word in ("samples", "trajectory", "log_prob"):
        assert torch.equal(getattr(result, word), getattr(calm, word))
    assert (result.calls == calm.calls).all() and (result.rows == calm.rows).all()
    assert flaky.calls == 3 + result.summary.num_rounds


def test_the_error_shows_the_state_and_the_rows_that_were_asked_for() -> None:
    problem = bimodal()
    with pytest.raises(TargetError) as caught:
        redraft.sample(Flaky(problem.target, {2}), problem.chain, 4, (2,), seed=0, tree="chain:4")
    error = caught.value
    assert (error.state.step == 1).all() and len(error.rows) == 16
    assert "16 rows (steps 1..4)" in str(error)


@pytest.mark.parametrize("case", CASES, ids=name)
def test_a_refused_commit_can_be_repeated_with_the_right_predictions(case: Case) -> None:
    problem = bimodal()
    sampler = Sampler(problem.chain, 5, (2,), 0, **options(case))
    state = sampler.init()
    while not state.done:
        rows = sampler.plan(state)
        f = problem.target(rows.x, rows.level)
        with pytest.raises(ValueError, match="returned shape"):
            sampler.commit(state, rows, f[:, :1])
        with pytest.raises(TypeError, match="floating-point"):
            sampler.commit(state, rows, f.long())
        with pytest.raises(redraft.NonFiniteError):
            sampler.commit(state, rows, torch.full_like(f, float("nan")))
        after, info = sampler.commit(state, rows, f)
        assert same((after, info)[0], sampler.commit(state, rows, f)[0])
        state = after


def test_keyboard_interrupts_pass_through_and_leave_the_run_usable() -> None:
    problem, stop = bimodal(), [True]

    def target(x: Tensor, level: Tensor) -> Tensor:
        if stop and len(x) > 4:
            stop.pop()
            raise KeyboardInterrupt
        return problem.target(x, level)

    sampler = Sampler(problem.chain, 4, (2,), 7, tree="chain:4")
    run = Run(sampler, target, None, None, None, False)
    with pytest.raises(KeyboardInterrupt):
        run.finish()
    calm = redraft.sample(problem.target, problem.chain, 4, (2,), seed=7, tree="chain:4")
    assert torch.equal(run.finish().samples, calm.samples)
