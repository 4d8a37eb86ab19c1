"""Classifier-free guidance: its algebra and its single call."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from redraft import zoo
from redraft.zoo.digits import DigitsConfig, DigitsDenoiser


class Counting:
    """A denoiser that depends on every argument and records the rows of each call."""

    def __init__(self) -> None:
        self.rows: list[int] = []

    def __call__(self, x: Tensor, level: Tensor, label: Tensor) -> Tensor:
        self.rows.append(len(x))
        return x.sin() * level[:, None] + label[:, None].to(x)


@pytest.fixture
def batch() -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(6, 3, generator=generator, dtype=torch.float64)
    return x, torch.rand(6, generator=generator), torch.arange(6)


@pytest.mark.parametrize("scale", [0.0, 0.5, 2.0, -1.0])
def test_guided_is_null_plus_scaled_difference_in_one_call(batch, scale):
    x, level, label = batch
    model = Counting()
    out = zoo.guided(model, scale)(x, level, label=label)
    assert model.rows == [12]
    null = model(x, level, torch.full_like(label, 10))
    wanted = null + scale * (model(x, level, label) - null)
    torch.testing.assert_close(out, wanted, rtol=0, atol=1e-14)


def test_scale_one_is_a_single_conditional_call(batch):
    model = Counting()
    out = zoo.guided(model, 1.0)(*batch)
    assert model.rows == [6]
    assert torch.equal(out, model(*batch))


def test_null_class_can_be_chosen(batch):
    x, level, label = batch
    out = zoo.guided(Counting(), 0.0, null_class=3)(x, level, label)
    torch.testing.assert_close(out, Counting()(x, level, torch.full_like(label, 3)))


@pytest.mark.parametrize("scale", [float("nan"), float("inf")])
def test_scale_must_be_finite(scale):
    with pytest.raises(ValueError, match="scale must be a finite number"):
        zoo.guided(Counting(), scale)


def test_guidance_of_the_digits_keeps_shape_and_dtype():
    model = DigitsDenoiser(DigitsConfig(16, 16, 1, 8)).eval()
    x = torch.randn(4, 1, 8, 8).bfloat16()
    out = zoo.guided(model, 2.0)(x, torch.ones(4), label=torch.arange(4))
    assert out.shape == x.shape and out.dtype == x.dtype
    assert repr(zoo.guided(model, 2.0)) == "guided(DigitsDenoiser, scale=2)"
