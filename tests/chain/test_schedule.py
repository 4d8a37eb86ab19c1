"""Spacing of levels, and the reading of users' lists, arrays and tensors."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from redraft.chain import karras
from redraft.chain.schedule import as_schedule


def test_karras_has_the_values_of_the_formula() -> None:
    i = np.arange(5) / 4
    expected = (80 ** (1 / 7) + i * (0.002 ** (1 / 7) - 80 ** (1 / 7))) ** 7
    np.testing.assert_allclose(karras(4, 80.0, 0.002).numpy(), expected, rtol=1e-13)


@given(st.integers(1, 300), st.floats(1e-4, 10), st.floats(1.01, 1e5), st.floats(0.5, 20))
def test_karras_decreases_strictly_between_exact_ends(n, sigma_min, factor, rho) -> None:
    sigma_max = sigma_min * factor
    sigmas = karras(n, sigma_max, sigma_min, rho)
    assert sigmas.shape == (n + 1,)
    assert sigmas.dtype == torch.float64
    assert sigmas[0].item() == sigma_max
    assert sigmas[-1].item() == sigma_min
    assert (sigmas.diff() < 0).all()


@given(st.integers(1, 50), st.floats(0.5, 20))
def test_karras_is_even_in_the_rho_th_root(n, rho) -> None:
    steps = (karras(n, 80.0, 0.002, rho) ** (1 / rho)).diff()
    torch.testing.assert_close(steps, steps.mean().expand(n), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1.0, 0.1), "n must be at least 1 step, got 0"),
        ((5, 1.0, 0.0), r"sigma_min = 0\.0; to end at 0, append it"),
        ((5, 0.1, 1.0), "got sigma_max = 0.1, sigma_min = 1.0"),
        ((5, float("inf"), 1.0), "got sigma_max = inf"),
        ((5, float("nan"), 1.0), "got sigma_max = nan"),
        ((5, 1.0, 0.1, 0.0), "rho must be positive and finite, got 0.0"),
        ((5, 1.0, 0.1, float("inf")), "rho must be positive and finite, got inf"),
    ],
)
def test_karras_names_the_wrong_argument(arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        karras(*arguments)


@pytest.mark.parametrize(
    "values",
    [
        [3, 2, 1],
        (3.0, 2.0, 1.0),
        range(3, 0, -1),
        np.arange(1, 4)[::-1],  # negative stride, as schedulers leave it
        np.array([3, 2, 1], dtype=np.float16),
        torch.tensor([3, 2, 1]),
        torch.tensor([3, 2, 1], dtype=torch.bfloat16),
        torch.tensor([3.0, 2.0, 1.0], requires_grad=True),
        [torch.tensor(3.0), torch.tensor(2.0), torch.tensor(1.0)],
        [np.float32(3), np.float32(2), np.float32(1)],
    ],
    ids=lambda values: type(values).__name__,
)
def test_any_list_array_or_tensor_becomes_float64_on_the_cpu(values) -> None:
    schedule = as_schedule(values, "sigmas")
    assert schedule.dtype == torch.float64
    assert schedule.device.type == "cpu"
    assert not schedule.requires_grad
    assert schedule.tolist() == [3, 2, 1]


def test_a_schedule_is_a_copy() -> None:
    mine = torch.tensor([2.0, 1.0], dtype=torch.float64)
    schedule = as_schedule(mine, "sigmas")
    mine.zero_()
    assert schedule.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([], ValueError, "sigmas is empty"),
        ([[2.0, 1.0]], ValueError, r"sigmas must be 1-D, got shape \(1, 2\)"),
        (np.float64(1), ValueError, r"sigmas must be 1-D, got shape \(\)"),
        ([2.0, float("nan")], ValueError, r"sigmas must be finite, got sigmas\[1\] = nan"),
        ([float("inf"), 1.0], ValueError, r"sigmas must be finite, got sigmas\[0\] = inf"),
        (5, TypeError, "sigmas must be a flat list.* got 5"),
        (None, TypeError, "sigmas must be a flat list.* got None"),
        ("karras", TypeError, "sigmas must be a flat list.* got 'karras'"),
        ([1.0, [2.0]], TypeError, "sigmas must be a flat list"),
        ([1j], TypeError, "sigmas must be a flat list"),
    ],
)
def test_what_is_no_schedule_is_refused_by_name(values, error, message) -> None:
    with pytest.raises(error, match=message):
        as_schedule(values, "sigmas")
