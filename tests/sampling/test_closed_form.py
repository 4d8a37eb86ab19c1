"""Linear-Gaussian chains against the closed-form mean and covariance of their whole path."""

from __future__ import annotations

import pytest

import redraft
from tests.sampling.cases import CASES, FREEZES, Case, make_drafter, name, rejected
from tests.sampling.checks import check_linear_path, check_rejections
from tests.sampling.problems import linear

pytestmark = pytest.mark.statistical
NUM = 10_000
FAMILIES = ("ancestral", "fixed_small", "fixed_large")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("case", CASES, ids=name)
def test_whole_path_has_the_closed_form_law(case: Case, family: str, fresh_seed: int) -> None:
    dim = 1 + (CASES.index(case) + FAMILIES.index(family)) % 3
    check(case, family, dim, fresh_seed)


@pytest.mark.parametrize("freeze", FREEZES)
@pytest.mark.parametrize("drafter", ["free/{}/nearest", "free/{}/parent", "frozen/{}"])
def test_law_does_not_depend_on_what_is_frozen(drafter: str, freeze: str, fresh_seed: int) -> None:
    family = FAMILIES[FREEZES.index(freeze) % 3]
    check(Case(drafter.format(freeze), "greedy", "chain:4"), family, 2, fresh_seed)


@pytest.mark.parametrize(
    "case",
    [
        Case("free/velocity/nearest", "traversal", "kary:2,3"),
        Case("swept/1/velocity", "greedy", "chain:4"),
        Case("recycled", "greedy", "kary:2,3"),
        Case("frozen", "reflection", "chain:4"),
    ],
    ids=name,
)
def test_a_churned_flow_has_the_closed_form_law(case: Case, fresh_seed: int) -> None:
    check(case, "flow", 2, fresh_seed)


def check(case: Case, family: str, dim: int, seed: int) -> None:
    problem = linear(family, dim)
    result = redraft.sample(
        problem.target,
        problem.chain,
        NUM,
        (dim,),
        seed=seed,
        drafter=make_drafter(case.drafter, problem),
        verifier=case.verifier,
        tree=case.tree,
        trajectory=True,
    )
    check_rejections(result, rejected(case))
    assert result.trajectory is not None
    check_linear_path(result.trajectory, problem)
