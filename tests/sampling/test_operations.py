"""A round costs few tensor operations, whatever the batch; memory does not grow with steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from redraft import chain
from redraft.sampling import Sampler
from tests.sampling.cases import CASES, Case, growth, make_drafter, name
from tests.sampling.operations import per_round
from tests.sampling.problems import Problem
from tests.sampling.small import elementwise
from tests.sampling.stepping import step

IMAGE = (1, 8, 8)


def problem(steps: int) -> Problem:
    table = chain.ancestral(chain.karras(steps, 20.0, 0.02))
    return Problem(elementwise, lambda x, level: 0.9 * elementwise(x, level), table, 64)


def sampler(case: Case, num: int, steps: int) -> tuple[Sampler, Problem]:
    task = problem(steps)
    drafter = make_drafter(case.drafter, task)
    rule: dict[str, Any] = {"drafter": drafter, "verifier": case.verifier, "tree": case.tree}
    return Sampler(task.chain, num, IMAGE, 0, **rule), task


def test_a_round_of_one_sample_takes_at_most_45_operations() -> None:
    parts, task = sampler(Case("recycled", "greedy", "chain:16"), 1, 250)
    mean, kinds, rounds = per_round(parts, task)
    assert rounds > 10
    assert mean <= 45, f"{mean:.1f} operations per round: {kinds.most_common(12)}"


@pytest.mark.parametrize("case", CASES, ids=name)
def test_operations_do_not_grow_with_the_batch(case: Case) -> None:
    """Samples that end apart cost a little more; a loop over samples would cost many times."""
    few, _, _ = per_round(*sampler(case, 8, 40))
    many, kinds, _ = per_round(*sampler(case, 256, 40))
    assert many <= growth(case) * few + 4, f"{few:.1f} against {many:.1f} operations: {kinds}"


@pytest.mark.parametrize("case", [Case("recycled", "greedy", "chain:32"), CASES[2]], ids=name)
def test_operations_do_not_grow_with_the_depth_of_a_chain(case: Case) -> None:
    shallow, _, _ = per_round(*sampler(case._replace(tree="chain:4"), 4, 60))
    deep, kinds, _ = per_round(*sampler(case._replace(tree="chain:32"), 4, 60))
    assert deep <= 1.25 * shallow + 4, f"{shallow:.1f} against {deep:.1f}: {kinds}"


@pytest.mark.parametrize("case", CASES, ids=name)
def test_memory_of_a_state_does_not_grow_with_the_steps(case: Case) -> None:
    """What a state holds after 20 rounds of a chain of 100 or 1000 steps, in numbers."""
    held = []
    for steps in (100, 1000):
        parts, task = sampler(case, 4, steps)
        state = parts.init()
        for _ in range(20):
            if not state.done:
                state, _, _ = step(parts, state, task.target)
        held.append(numbers(state._replace(lookahead=None)))
        block = numbers(state.lookahead)
        assert block <= 4 * 321 * (64 + 2), "the noises computed ahead are more than a block"
    assert held[1] <= 1.1 * held[0]


def numbers(thing: Any) -> int:
    """Count the numbers that a structure holds."""
    if isinstance(thing, Tensor):
        return thing.untyped_storage().nbytes() // thing.element_size()
    if isinstance(thing, np.ndarray):
        return thing.size
    if isinstance(thing, tuple):
        return sum(numbers(part) for part in thing)
    return 0


def test_predictions_with_gradients_leave_none_in_the_state() -> None:
    """Predictions that require gradients leave none in the state."""
    parts, task = sampler(Case("recycled", "greedy", "chain:4"), 2, 10)
    weight = torch.ones(1, requires_grad=True)
    state = parts.init()
    while not state.done:
        rows = parts.plan(state)
        state, _ = parts.commit(state, rows, weight * task.target(rows.x, rows.level))
        assert not state.x.requires_grad and not state.samples.requires_grad
        assert state.memory is None or not state.memory.f.requires_grad
