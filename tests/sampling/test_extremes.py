"""Extreme distances, and dtypes of the model that are narrower or wider than the state's."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

import redraft
from redraft import chain, draft
from tests.sampling.cases import CASES, Case, make_drafter, name
from tests.sampling.problems import Problem
from tests.sampling.small import by_hand, check_steps, elementwise

TABLE = chain.ancestral(chain.karras(8, 3.0, 0.2))


@pytest.mark.parametrize("verifier", ["greedy", "traversal", "reflection"])
@pytest.mark.parametrize("gap", [0.0, 1e-12, 1e-6, 1e-3, 1.0, 30.0, 1e3, 1e6])
def test_extreme_distances_give_finite_states(gap: float, verifier: str) -> None:
    """A distance of 0 always accepts, a vast one never."""

    def cheap(x: Tensor, level: Tensor) -> Tensor:
        return elementwise(x, level) + gap

    steps = by_hand([0.5] * 6)
    for tree in ("chain:4", "kary:3,3"):
        if verifier == "reflection" and tree != "chain:4":
            continue
        result = redraft.sample(
            elementwise,
            steps,
            200,
            (2,),
            seed=3,
            drafter=draft.Model(cheap),
            verifier=verifier,
            tree=tree,
            trajectory=True,
            log_prob=True,
            dtype=torch.float64,
        )
        check_steps(result, steps)
        share = result.summary.acceptance_by_depth[0]
        assert share > 0.99 if gap < 1e-3 else math.isfinite(share)
        assert share == 0.0 or gap < 1e3


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("case", CASES, ids=name)
def test_the_model_sees_its_dtype_and_states_stay_single_or_better(
    case: Case, dtype: torch.dtype
) -> None:
    seen: set[tuple[torch.dtype, torch.dtype]] = set()

    def target(x: Tensor, level: Tensor) -> Tensor:
        seen.add((x.dtype, level.dtype))
        return elementwise(x, level)

    problem = Problem(target, lambda x, level: 0.5 * elementwise(x, level), TABLE, 2)
    result = redraft.sample(
        target,
        TABLE,
        20,
        (2,),
        seed=0,
        drafter=make_drafter(case.drafter, problem),
        verifier=case.verifier,
        tree=case.tree,
        dtype=dtype,
        trajectory=True,
    )
    wide = torch.promote_types(dtype, torch.float32)
    assert seen == {(dtype, wide)}
    assert result.samples.dtype == wide and result.trajectory is not None
    last = result.trajectory[:, 4]
    assert not torch.equal(last, last.to(torch.bfloat16).to(wide)), "states were rounded"
