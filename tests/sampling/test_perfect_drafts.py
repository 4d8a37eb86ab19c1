"""Where the draft is the target, every draft is accepted and plain sampling is reproduced."""

from __future__ import annotations

import pytest
import torch

import redraft
from redraft import draft
from tests.sampling.cases import RULES
from tests.sampling.problems import Problem, bimodal, linear

PROBLEMS = {
    "ancestral": bimodal,
    "fixed_small": lambda: linear("fixed_small", 3),
    "fixed_large": lambda: linear("fixed_large", 2),
}


@pytest.mark.parametrize("family", PROBLEMS)
@pytest.mark.parametrize(("verifier", "tree"), RULES)
def test_the_sequential_path_is_reproduced_in_few_calls(
    verifier: str, tree: str, family: str, fresh_seed: int
) -> None:
    problem: Problem = PROBLEMS[family]()
    common = {"seed": fresh_seed, "trajectory": True, "log_prob": True, "dtype": torch.float64}
    plain = redraft.sequential(problem.target, problem.chain, 50, (problem.dim,), **common)
    fast = redraft.sample(
        problem.target,
        problem.chain,
        50,
        (problem.dim,),
        drafter=draft.Model(problem.target),
        verifier=verifier,
        tree=tree,
        **common,
    )
    levels = 4 if tree == "chain:4" else 3
    assert fast.summary.num_recovered == 0
    assert (fast.calls == -(-problem.chain.calls_sequential // levels)).all()
    torch.testing.assert_close(fast.trajectory, plain.trajectory, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(fast.samples, plain.samples, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(fast.log_prob, plain.log_prob, rtol=1e-9, atol=1e-9)


def test_single_precision_reproduces_it_to_rounding(fresh_seed: int) -> None:
    problem = bimodal()
    plain = redraft.sequential(problem.target, problem.chain, 50, (2,), seed=fresh_seed)
    drafter = draft.Model(problem.target)
    fast = redraft.sample(
        problem.target, problem.chain, 50, (2,), seed=fresh_seed, drafter=drafter, tree="chain:16"
    )
    assert fast.summary.num_recovered <= 1
    close = (fast.samples - plain.samples).abs().amax(dim=1) < 1e-3
    assert close.sum() >= 49


def test_corrections_vanish_where_the_cheap_model_is_the_target(fresh_seed: int) -> None:
    problem = bimodal()
    result = redraft.sample(
        problem.target,
        problem.chain,
        50,
        (2,),
        seed=fresh_seed,
        drafter=draft.Corrected(problem.target),
        tree="chain:4",
        dtype=torch.float64,
        rounds=True,
    )
    assert result.summary.num_recovered == 0
    assert all(
        (info.delta_per_depth[info.tried_per_depth > 0] < 1e-9).all()
        for info in result.rounds or []
    )
