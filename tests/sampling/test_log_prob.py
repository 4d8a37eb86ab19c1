"""Log-densities of every step, against the kernel's own density of the returned trajectory."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

import redraft
from tests.sampling.cases import CASES, Case, make_drafter, name
from tests.sampling.checks import predictions
from tests.sampling.problems import Problem, bimodal, linear

PROBLEMS = {
    "ancestral": bimodal,
    "fixed_small": lambda: linear("fixed_small", 3),
    "fixed_large": lambda: linear("fixed_large", 1),
}


def density(path: Tensor, problem: Problem) -> Tensor:
    """Return log N(x_{n+1}; a x_n + b f, std^2 I) of every step, 0 for zero-noise steps."""
    table, dim = problem.chain, path.shape[-1]
    mean = table.a[:, None] * path[:, :-1] + table.b[:, None] * predictions(path, problem)
    std = table.std.clamp_min(1e-300)
    z = (path[:, 1:] - mean) / std[:, None]
    log = -0.5 * z.square().sum(-1) - dim * (std.log() + 0.5 * math.log(2.0 * math.pi))
    return torch.where(table.std > 0, log, 0.0)


@pytest.mark.parametrize("family", PROBLEMS)
@pytest.mark.parametrize("case", CASES, ids=name)
def test_log_prob_is_the_density_of_the_trajectory(
    case: Case, family: str, fresh_seed: int
) -> None:
    problem = PROBLEMS[family]()
    result = redraft.sample(
        problem.target,
        problem.chain,
        60,
        (problem.dim,),
        seed=fresh_seed,
        drafter=make_drafter(case.drafter, problem),
        verifier=case.verifier,
        tree=case.tree,
        trajectory=True,
        log_prob=True,
        dtype=torch.float64,
    )
    assert result.trajectory is not None and result.log_prob is not None
    assert result.log_prob.dtype == torch.float64
    assert result.log_prob.shape == (60, problem.chain.num_steps)
    expected = density(result.trajectory, problem)
    torch.testing.assert_close(result.log_prob, expected, rtol=1e-8, atol=1e-7)


def test_plain_sampling_reports_the_same_density(fresh_seed: int) -> None:
    problem = bimodal()
    result = redraft.sequential(
        problem.target,
        problem.chain,
        60,
        (2,),
        seed=fresh_seed,
        trajectory=True,
        log_prob=True,
        dtype=torch.float64,
    )
    assert result.trajectory is not None and result.log_prob is not None
    expected = density(result.trajectory, problem)
    torch.testing.assert_close(result.log_prob, expected, rtol=1e-8, atol=1e-7)


def test_single_precision_log_prob_is_close(fresh_seed: int) -> None:
    problem = bimodal()
    result = redraft.sample(
        problem.target, problem.chain, 60, (2,), seed=fresh_seed, trajectory=True, log_prob=True
    )
    assert result.trajectory is not None
    expected = density(result.trajectory.double(), problem)
    torch.testing.assert_close(result.log_prob, expected, rtol=1e-3, atol=1e-3)


def test_nothing_is_recorded_unless_asked_for() -> None:
    problem = bimodal()
    result = redraft.sample(problem.target, problem.chain, 2, (2,), seed=0)
    assert result.trajectory is None and result.log_prob is None and result.rounds is None
