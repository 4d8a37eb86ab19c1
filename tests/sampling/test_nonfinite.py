"""NaN and infinity from the model: named where they matter, ignored where nobody looked."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import redraft
from redraft import NonFiniteError, chain, draft
from redraft.execute import Local
from redraft.sampling import Result, Rows
from tests.sampling.cases import CASES, Case, make_drafter, name
from tests.sampling.problems import bimodal
from tests.sampling.small import elementwise

LEVELS = chain.ancestral(chain.karras(8, 3.0, 0.1))


class Spoils:
    """An executor that spoils the rows of a sample at a step, or those deep in a draft."""

    def __init__(self, value: float, where: Any) -> None:
        self.value, self.where, self.spoilt = value, where, 0

    def __call__(self, denoiser: Any, rows: Rows) -> Tensor:
        f = Local()(denoiser, rows).clone()
        bad = torch.tensor([self.where(rows, i) for i in range(len(rows))])
        f[bad] = self.value
        self.spoilt += int(bad.sum())
        return f


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("case", CASES, ids=name)
def test_a_visited_row_is_named_by_sample_step_and_level(case: Case, value: float) -> None:
    problem = bimodal()
    spoil = Spoils(value, lambda rows, i: rows.owner[i] == 2 and rows.step[i] == 5)
    with pytest.raises(NonFiniteError, match="prediction of the target") as caught:
        redraft.sample(
            problem.target,
            problem.chain,
            4,
            (2,),
            seed=0,
            drafter=make_drafter(case.drafter, problem),
            verifier=case.verifier,
            tree=case.tree,
            executor=spoil,
        )
    error = caught.value
    assert (error.sample, error.step) == (2, 5)
    assert error.level == pytest.approx(float(problem.chain.level[5]))
    assert "sample 2 at step 5" in str(error) and f"level {error.level:g}" in str(error)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_plain_sampling_names_it_too(value: float) -> None:
    spoil = Spoils(value, lambda rows, i: rows.owner[i] == 1 and rows.step[i] == 3)
    with pytest.raises(NonFiniteError, match="sample 1 at step 3"):
        redraft.sequential(elementwise, LEVELS, 4, (2,), seed=0, executor=spoil)


def below_the_root(rows: Rows, i: int) -> bool:
    return rows.step[i] > rows.step[rows.owner == rows.owner[i]].min()


def far_off(drafter: Any, tree: str, executor: Any = None) -> Result:
    """Sample where the first draft of every round is rejected, so that deeper rows are unseen."""
    return redraft.sample(
        lambda x, level: 100.0 * torch.cos(40.0 * x),
        LEVELS,
        6,
        (2,),
        seed=1,
        drafter=drafter,
        tree=tree,
        executor=executor,
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("tree", ["chain:4", "kary:2,3"])
@pytest.mark.parametrize("drafter", ["recycled", "free"])
def test_a_row_that_greedy_does_not_visit_may_be_anything(
    drafter: str, tree: str, value: float
) -> None:
    """Rows below a rejected draft are spoilt; neither error nor reuse: the samples are finite."""
    spoil = Spoils(value, below_the_root)
    result = far_off(drafter, tree, spoil)
    assert spoil.spoilt > 0 and bool(result.samples.isfinite().all())
    assert result.summary.num_recovered > 0


def test_where_drafts_are_always_rejected_unseen_rows_do_not_change_the_law() -> None:
    """With constant cheap guesses nothing is remembered, so that spoilt rows change no bit."""
    cheap = draft.Model(lambda x, level: torch.full_like(x, 1e4))
    spoil = Spoils(float("nan"), below_the_root)
    clean, dirty = far_off(cheap, "chain:4"), far_off(cheap, "chain:4", spoil)
    assert spoil.spoilt > 0
    assert torch.equal(clean.samples, dirty.samples)


@pytest.mark.parametrize("word", ["model", "corrected"])
def test_a_cheap_model_that_is_not_finite_costs_speed_only(word: str) -> None:
    def cheap(x: Tensor, level: Tensor) -> Tensor:
        return torch.where(x > 0.0, torch.nan, elementwise(x, level))

    drafter = draft.Model(cheap) if word == "model" else draft.Corrected(cheap)
    result = redraft.sample(elementwise, LEVELS, 20, (2,), seed=0, drafter=drafter, tree="chain:4")
    assert bool(result.samples.isfinite().all())
    assert (result.calls <= LEVELS.calls_sequential).all()
