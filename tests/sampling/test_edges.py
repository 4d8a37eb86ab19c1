"""Edges: nothing to do, one step, steps without noise anywhere, odd shapes, extreme distances."""

from __future__ import annotations

import pytest
import torch

import redraft
from redraft import chain
from redraft.chain.chain import Chain
from redraft.sampling import Result
from tests.sampling.cases import CASES, Case, make_drafter, name
from tests.sampling.problems import Problem
from tests.sampling.small import by_hand, check_steps, elementwise

TABLE = chain.ancestral(chain.karras(8, 3.0, 0.2))


def run(case: Case, steps: Chain, num: int = 30, shape: tuple[int, ...] = (2,)) -> Result:
    problem = Problem(elementwise, lambda x, level: 0.5 * elementwise(x, level), steps, 2)
    return redraft.sample(
        elementwise,
        steps,
        num,
        shape,
        seed=4,
        drafter=make_drafter(case.drafter, problem),
        verifier=case.verifier,
        tree=case.tree,
        trajectory=True,
        log_prob=True,
    )


PATTERNS = {
    "first": [0.0, 0.5, 0.5, 0.5, 0.5],
    "last": [0.5, 0.5, 0.5, 0.5, 0.0],
    "middle": [0.5, 0.5, 0.0, 0.5, 0.5],
    "two in the middle": [0.5, 0.0, 0.0, 0.5, 0.5, 0.5],
    "every other": [0.5, 0.0, 0.5, 0.0, 0.5, 0.0],
    "both ends": [0.0, 0.5, 0.5, 0.5, 0.0],
    "all": [0.0, 0.0, 0.0, 0.0],
    "none": [0.5, 0.5, 0.5, 0.5],
    "one noisy step": [0.5],
    "one quiet step": [0.0],
}


@pytest.mark.parametrize("terminal", [None, 0.1])
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("case", CASES, ids=name)
def test_steps_without_noise_are_taken_exactly(
    case: Case, pattern: str, terminal: float | None
) -> None:
    steps = by_hand(PATTERNS[pattern], terminal)
    result = run(case, steps)
    check_steps(result, steps)
    assert (result.calls >= 1).all() and (result.calls <= 2 * steps.calls_sequential).all()


@pytest.mark.parametrize("case", CASES, ids=name)
def test_eta_zero_is_deterministic_and_equals_plain_sampling(case: Case) -> None:
    steps = chain.ancestral([3.0, 1.5, 0.7, 0.2], eta=0.0)
    result = run(case, steps)
    plain = redraft.sequential(elementwise, steps, 30, (2,), seed=4)
    torch.testing.assert_close(result.samples, plain.samples, rtol=1e-5, atol=1e-6)
    assert (result.calls == steps.calls_sequential).all()
    assert result.summary.num_drafts == 0


@pytest.mark.parametrize("case", CASES, ids=name)
def test_no_samples_and_one_sample(case: Case) -> None:
    empty, one = run(case, TABLE, 0), run(case, TABLE, 1)
    assert empty.samples.shape == (0, 2) and len(empty.calls) == 0
    assert empty.trajectory is not None and empty.trajectory.shape == (0, 9, 2)
    assert empty.summary.num_rounds == 0
    assert one.samples.shape == (1, 2)


def test_plain_sampling_of_no_samples() -> None:
    result = redraft.sequential(elementwise, TABLE, 0, (2,), seed=0, trajectory=True)
    assert result.samples.shape == (0, 2)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (3, 2), (2, 3, 4)])
@pytest.mark.parametrize("case", CASES, ids=name)
def test_any_shape_of_a_sample(case: Case, shape: tuple[int, ...]) -> None:
    result = run(case, TABLE, 10, shape)
    assert result.samples.shape == (10, *shape)
    check_steps(result, TABLE)


@pytest.mark.parametrize("tree", ["chain:1", "kary:3,1", "chain:2", "chain:100", "kary:2,6"])
def test_trees_smaller_and_larger_than_the_chain(tree: str) -> None:
    result = run(Case("free", "greedy", tree), TABLE, 10)
    check_steps(result, TABLE)
    if tree in ("chain:1", "kary:3,1"):
        assert (result.calls == TABLE.calls_sequential).all()
