"""Rows in one call or in chunks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

import redraft
from redraft import chain
from redraft.execute import Local
from redraft.sampling import Rows


def some_rows(count: int) -> Rows:
    return Rows(
        x=torch.arange(2.0 * count).reshape(count, 2),
        level=torch.arange(float(count)),
        step=np.arange(count),
        owner=np.arange(count),
        cond={"tag": torch.arange(count), "wide": torch.ones(count, 3)},
        plan=None,
    )


class Records:
    """A target that records how many rows each call has, and mixes all it is given."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, x: Tensor, level: Tensor, tag: Tensor, wide: Tensor) -> Tensor:
        assert len(x) == len(level) == len(tag) == len(wide)
        self.sizes.append(len(x))
        return x + 10.0 * level[:, None] + 100.0 * tag[:, None] + wide.sum(-1, keepdim=True)


@pytest.mark.parametrize(
    ("most", "sizes"),
    [(None, [7]), (100, [7]), (7, [7]), (6, [6, 1]), (3, [3, 3, 1]), (1, [1] * 7)],
)
def test_chunks_are_as_large_as_allowed_and_in_order(most: int | None, sizes: list[int]) -> None:
    target, whole = Records(), Records()
    f = Local(most)(target, some_rows(7))
    assert target.sizes == sizes
    assert torch.equal(f, Local()(whole, some_rows(7)))


@pytest.mark.parametrize("most", [0, -1])
def test_fewer_than_one_row_is_refused(most: int) -> None:
    with pytest.raises(ValueError, match=f"max_rows must be at least 1.*{most}"):
        Local(most)


@pytest.mark.parametrize("sampler", [redraft.sample, redraft.sequential])
def test_no_call_has_more_rows_than_allowed(sampler) -> None:
    sizes: list[int] = []

    def target(x: Tensor, level: Tensor) -> Tensor:
        sizes.append(len(x))
        return 0.5 * x

    sampler(target, chain.ancestral([2.0, 1.0, 0.5]), 9, (2,), seed=0, executor=Local(4))
    assert max(sizes) == 4


def test_any_callable_is_an_executor() -> None:
    """It is given the target and the rows, and its answer is taken."""
    seen: list[int] = []

    def elsewhere(denoiser: object, rows: Rows) -> Tensor:
        seen.append(len(rows))
        return torch.zeros_like(rows.x)

    def never(x: Tensor, level: Tensor) -> Tensor:
        raise AssertionError("the executor decides who is called")

    table = chain.ancestral([2.0, 1.0, 0.5])
    result = redraft.sample(never, table, 3, (2,), seed=0, executor=elsewhere)
    assert sum(seen) == result.rows.sum() and not result.samples.any()
