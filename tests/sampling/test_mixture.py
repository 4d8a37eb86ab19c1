"""A sharply bimodal mixture under few, large steps: residuals, neighbours, and plain sampling."""

from __future__ import annotations

import pytest
from torch import Tensor

import redraft
from tests.sampling.cases import CASES, Case, make_drafter, name, rejected
from tests.sampling.checks import check_rejections, check_residuals, check_same_law
from tests.sampling.problems import bimodal

pytestmark = pytest.mark.statistical
NUM = 20_000


@pytest.mark.parametrize("case", CASES, ids=name)
def test_residuals_are_white_and_paths_have_the_sequential_law(case: Case, fresh_seed: int) -> None:
    problem = bimodal()
    result = redraft.sample(
        problem.target,
        problem.chain,
        NUM,
        (2,),
        seed=fresh_seed,
        drafter=make_drafter(case.drafter, problem),
        verifier=case.verifier,
        tree=case.tree,
        trajectory=True,
    )
    check_rejections(result, rejected(case))
    paths = present(result.trajectory)
    check_residuals(paths, problem)
    check_same_law(paths, sequential(fresh_seed ^ 1), problem)


def test_sequential_sampling_has_white_residuals(fresh_seed: int) -> None:
    check_residuals(sequential(fresh_seed), bimodal())


def sequential(seed: int) -> Tensor:
    problem = bimodal()
    result = redraft.sequential(
        problem.target, problem.chain, NUM, (2,), seed=seed, trajectory=True
    )
    return present(result.trajectory)


def present(paths: Tensor | None) -> Tensor:
    assert paths is not None
    return paths
