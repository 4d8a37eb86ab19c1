"""What must not matter: the batch, its order, chunks; and conditioning follows its sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import redraft
from redraft import chain
from redraft.execute import Local
from redraft.sampling import Result, Rows
from tests.sampling.cases import CASES, Case, make_drafter, name
from tests.sampling.problems import Problem
from tests.sampling.small import elementwise

SEEDS = [11, 22, 33, 44, 55, 66, 77]
TABLE = chain.ancestral(chain.karras(12, 3.0, 0.2))


def problem() -> Problem:
    return Problem(elementwise, lambda x, level: 0.7 * elementwise(x, level), TABLE, 3)


def run(case: Case, seeds: list[int], **options: Any) -> Result:
    drafter = make_drafter(case.drafter, problem())
    return redraft.sample(
        elementwise,
        TABLE,
        len(seeds),
        (3,),
        seed=seeds,
        drafter=drafter,
        verifier=case.verifier,
        tree=case.tree,
        trajectory=True,
        **options,
    )


def path(result: Result) -> Tensor:
    assert result.trajectory is not None
    return result.trajectory


@pytest.mark.parametrize("case", CASES, ids=name)
def test_a_sample_is_the_same_alone_and_in_a_batch(case: Case) -> None:
    whole = run(case, SEEDS)
    for i in (0, 3, 6):
        alone = run(case, SEEDS[i : i + 1])
        torch.testing.assert_close(path(alone)[0], path(whole)[i], rtol=1e-4, atol=1e-5)
        assert alone.calls[0] == whole.calls[i] and alone.rows[0] == whole.rows[i]


@pytest.mark.parametrize("case", CASES, ids=name)
def test_the_order_of_seeds_permutes_the_samples(case: Case) -> None:
    forward, backward = run(case, SEEDS), run(case, SEEDS[::-1])
    torch.testing.assert_close(path(backward).flip(0), path(forward), rtol=1e-5, atol=1e-6)
    assert (backward.calls[::-1] == forward.calls).all()
    assert (backward.seeds[::-1] == forward.seeds).all()


@pytest.mark.parametrize("most", [1, 3, 1000])
@pytest.mark.parametrize("case", CASES, ids=name)
def test_chunks_change_no_bit_and_count_as_one_call(case: Case, most: int) -> None:
    whole, parts = run(case, SEEDS), run(case, SEEDS, executor=Local(most))
    assert torch.equal(path(whole), path(parts))
    assert (whole.calls == parts.calls).all() and (whole.rows == parts.rows).all()


def test_result_seeds_reproduce_a_sample_alone(fresh_seed: int) -> None:
    whole = redraft.sample(elementwise, TABLE, 5, (3,), seed=fresh_seed)
    alone = redraft.sample(elementwise, TABLE, 1, (3,), seed=[int(whole.seeds[3])])
    torch.testing.assert_close(alone.samples[0], whole.samples[3], rtol=1e-5, atol=1e-6)


def test_the_first_samples_do_not_depend_on_how_many_there_are(fresh_seed: int) -> None:
    few, many = (redraft.sample(elementwise, TABLE, num, (3,), seed=fresh_seed) for num in (3, 9))
    torch.testing.assert_close(few.samples, many.samples[:3], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", CASES, ids=name)
def test_conditioning_follows_its_sample_into_every_row(case: Case) -> None:
    """The tag tells a row's sample; plain and cheap model see it, and the sample depends on it."""
    tags = torch.arange(7.0)
    seen: list[bool] = []

    def target(x: Tensor, level: Tensor, tag: Tensor) -> Tensor:
        return elementwise(x + 0.1 * tag[:, None], level)

    def executor(denoiser: Any, rows: Rows) -> Tensor:
        seen.append(np.array_equal(rows.cond["tag"].numpy(), rows.owner))
        return Local()(denoiser, rows)

    def cheap(x: Tensor, level: Tensor, tag: Tensor) -> Tensor:
        return 0.7 * target(x, level, tag)

    def go(which: list[int], **options: Any) -> Result:
        drafter = make_drafter(case.drafter, Problem(target, cheap, TABLE, 3))
        return redraft.sample(
            target,
            TABLE,
            len(which),
            (3,),
            seed=[SEEDS[i] for i in which],
            cond={"tag": tags[which]},
            drafter=drafter,
            verifier=case.verifier,
            tree=case.tree,
            **options,
        )

    whole = go(list(range(7)), executor=executor)
    assert len(seen) == whole.summary.num_rounds and all(seen)
    for i in (2, 5):
        torch.testing.assert_close(go([i]).samples[0], whole.samples[i], rtol=1e-4, atol=1e-5)


def test_plain_sampling_gives_each_row_its_conditioning() -> None:
    def target(x: Tensor, level: Tensor, tag: Tensor) -> Tensor:
        return tag[:, None].expand_as(x)

    tags = torch.tensor([1.0, 2.0, 3.0])
    plain = redraft.sequential(target, TABLE, 3, (2,), seed=0, cond={"tag": tags})
    assert torch.equal(plain.samples, tags[:, None].expand(3, 2))
    fast = redraft.sample(target, TABLE, 3, (2,), seed=0, cond={"tag": tags})
    assert torch.equal(fast.samples, plain.samples)
