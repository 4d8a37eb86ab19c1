"""The table itself: validation, look-up of scales, description."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from redraft.chain import Chain, ancestral, ddpm

GOOD = {
    "level": [3.0, 2.0, 1.0],
    "a": [0.5, 0.5, 0.0],
    "b": [0.5, 0.5, 1.0],
    "std": [1.0, 0.5, 0.0],
    "alpha": [1.0, 0.9, 0.8],
    "sigma": [3.0, 2.0, 1.0],
}


def table(**changes) -> Chain:
    columns: dict[str, Any] = {name: f64(*values) for name, values in GOOD.items()}
    return Chain(**(columns | {"init_std": 3.0, "name": "mine"} | changes))


def f64(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def test_counts_steps_and_calls() -> None:
    assert table().num_steps == 3
    assert table().calls_sequential == 3
    with_terminal = table(terminal=0.5, alpha=f64(1, 0.9, 0.8, 0.7), sigma=f64(3, 2, 1, 0.5))
    assert with_terminal.num_steps == 3
    assert with_terminal.calls_sequential == 4
    assert with_terminal.call_levels.tolist() == [3, 2, 1, 0.5]


def test_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        table().init_std = 1.0  # pyright: ignore[reportAttributeAccessIssue]


def test_is_compared_and_hashed_by_identity() -> None:
    chain = table()
    assert {chain: 1}[chain] == 1
    assert chain != table()


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (torch.ones(3), "float32"),
        (torch.ones(3, 1, dtype=torch.float64), r"1-D .* got shape \(3, 1\)"),
        (torch.ones((), dtype=torch.float64), r"1-D .* got shape \(\)"),
        (torch.ones(3, dtype=torch.float64, device="meta"), "on the CPU"),
        (f64(1, float("nan"), 1), r"\[1\] = nan"),
        (f64(1, 1, float("inf")), r"\[2\] = inf"),
    ],
)
def test_refuses_a_column_that_is_not_finite_float64_on_the_cpu(name, value, message) -> None:
    with pytest.raises(ValueError, match=f"^{name} must .*{message}"):
        table(**{name: value})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"a": f64(1, 2)}, "a must have 3 entries, got 2"),
        ({"level": f64(), "a": f64(), "b": f64(), "std": f64()}, "level is empty"),
        ({"std": f64(1, -0.5, 0)}, r"std must be >= 0, got std\[1\] = -0.5"),
        ({"alpha": f64(1, -1, 0)}, r"alpha must be >= 0, got alpha\[1\] = -1"),
        ({"sigma": f64(1, 1, -2)}, r"sigma must be >= 0, got sigma\[2\] = -2"),
        ({"init_std": -1.0}, "init_std must be finite and >= 0, got -1"),
        ({"init_std": float("nan")}, "init_std must be finite"),
        ({"terminal": float("inf")}, "terminal must be a finite level"),
        ({"terminal": 0.5}, "alpha must have 4 entries, got 3"),
        ({"sigma": None}, "sigma is None"),
        ({"alpha": None}, "alpha is None"),
        ({"level": f64(3, 3, 1)}, "level 3 occurs twice"),
    ],
)
def test_refuses_inconsistent_tables(changes, message) -> None:
    with pytest.raises(ValueError, match=message):
        table(**changes)


def test_equal_levels_are_fine_without_scales_or_with_equal_ones() -> None:
    level = f64(1, 1, 1)
    assert table(level=level, alpha=None, sigma=None).num_steps == 3
    alpha, sigma = table(level=level, alpha=f64(1, 1, 1), sigma=f64(2, 2, 2)).scales(f64(1))
    assert (alpha.item(), sigma.item()) == (1, 2)


@given(
    st.lists(st.floats(1e-4, 1e4), min_size=1, max_size=40, unique=True),
    st.sampled_from([torch.float32, torch.float64]),
    st.randoms(),
)
def test_scales_are_those_of_the_level_whatever_the_order_of_rows(levels, dtype, random) -> None:
    # float32 cannot tell levels apart that are closer than its rounding
    levels = sorted({float(f"{level:.4g}") for level in levels}, reverse=True)
    n = len(levels)
    ones = torch.ones(n, dtype=torch.float64)
    alpha, sigma = torch.rand(n, dtype=torch.float64), torch.rand(n, dtype=torch.float64)
    chain = Chain(f64(*levels), ones, ones, ones, 1.0, alpha=alpha, sigma=sigma)
    rows = torch.tensor([random.randrange(n) for _ in range(50)])
    found_alpha, found_sigma = chain.scales(chain.level[rows].to(dtype))
    assert torch.equal(found_alpha, alpha[rows])
    assert torch.equal(found_sigma, sigma[rows])


def test_levels_closer_than_the_tolerance_are_told_apart_in_float64() -> None:
    level = f64(2, 1 + 1e-9, 1, 1 - 1e-9)
    chain = table(
        level=level, a=level, b=level, std=level, alpha=f64(1, 2, 3, 4), sigma=f64(1, 2, 3, 4)
    )
    assert chain.scales(level)[0].tolist() == [1, 2, 3, 4]
    assert chain.scales(f64(1 + 9e-7, 1 - 9e-7))[1].tolist() == [2, 4]
    dense = 1 + 1e-8 * torch.arange(300, dtype=torch.float64)
    chain = Chain(dense, dense, dense, dense, 1.0, alpha=dense, sigma=dense)
    assert torch.equal(chain.scales(dense)[0], dense)


def test_scales_include_the_terminal_level() -> None:
    chain = ancestral([4.0, 2.0, 0.5])
    _, sigma = chain.scales(torch.tensor([0.5, 4.0]))
    assert sigma.tolist() == [0.5, 4.0]


def test_scales_keep_shape_and_take_empty_expanded_and_integer_levels() -> None:
    chain = ddpm([0.9, 0.5, 0.1])
    assert chain.scales(torch.empty(0))[0].shape == (0,)
    assert chain.scales(torch.tensor(2))[0].item() == pytest.approx(0.1**0.5, rel=1e-15)
    alpha, sigma = chain.scales(f64(1).expand(2, 3))
    assert alpha.shape == sigma.shape == (2, 3)
    assert alpha.dtype == sigma.dtype == torch.float64


@pytest.mark.parametrize(
    ("level", "message"),
    [
        (1.5, r"level 1.5 \(row 1\) is not a level of chain 'mine'; the nearest is [12]\."),
        (1.00001, r"level 1.00001 \(row 1\) .* nearest is 1\."),
        (-7.0, r"level -7 .* nearest is 1\."),
        (99.0, r"level 99 .* nearest is 3\."),
        (float("nan"), "level nan"),
    ],
)
def test_an_unknown_level_is_named(level, message) -> None:
    with pytest.raises(ValueError, match=message):
        table().scales(f64(1, level))


def test_zero_is_matched_exactly() -> None:
    chain = ddpm([0.9, 0.5])
    assert chain.scales(f64(0.0))[0].item() == pytest.approx(0.9**0.5)
    with pytest.raises(ValueError, match=r"level 1e-09 \(row 0\)"):
        chain.scales(f64(1e-9))


def test_scales_of_a_chain_without_any_are_refused() -> None:
    with pytest.raises(ValueError, match="'mine' has no alpha and sigma"):
        table(alpha=None, sigma=None).scales(f64(1))


def test_off_the_cpu_nothing_is_copied_to_the_host() -> None:
    # a meta tensor has no values: reading one raises, as a synchronisation would
    chain = table()
    alpha, sigma = chain.scales(torch.empty(5, device="meta"))
    assert alpha.device.type == sigma.device.type == "meta"
    assert alpha.shape == (5,)


def test_an_unknown_level_has_nan_scales_where_it_cannot_raise() -> None:
    alpha, sigma = table()._tables[torch.device("cpu")].find(f64(3, 2.5, 1, float("nan")))
    assert alpha.isnan().tolist() == sigma.isnan().tolist() == [False, True, False, True]


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))]
)
def test_a_copy_works_and_holds_no_table_of_another_device(duplicate) -> None:
    chain = table()
    chain.scales(torch.empty(1, device="meta"))
    twin = duplicate(chain)
    assert list(twin._tables) == [torch.device("cpu")]
    assert twin.scales(f64(2))[1].item() == 2
    assert twin.describe() == chain.describe()


def test_describe_shows_every_step_of_a_short_chain() -> None:
    assert ancestral([4.0, 2.0, 0.5]).describe().splitlines() == [
        "ancestral(eta=1): 2 steps (2 noisy, 0 deterministic), 3 sequential calls",
        "x_0 ~ N(0, 4^2 I),  x_(n+1) ~ N(a x_n + b f(x_n, level), std^2 I)",
        "     step        level            a            b          std        alpha        sigma",
        "        0            4         0.25         0.75      1.73205            1            4",
        "        1            2       0.0625       0.9375     0.484123            1            2",
        " terminal          0.5            -            -            -            1          0.5",
    ]


def test_describe_leaves_out_the_middle_of_a_long_chain() -> None:
    lines = ddpm(torch.linspace(0.999, 0.01, 1000)).describe().splitlines()
    assert len(lines) == 3 + 6 + 1 + 6
    assert lines[0].startswith("ddpm(fixed_small): 1000 steps (999 noisy, 1 deterministic), 1000 ")
    assert lines[9].split() == ["..."] * 7
    assert lines[3].split()[:2] == ["0", "999"]
    assert lines[-1].split()[:5] == ["999", "0", "0", "1", "0"]


def test_describe_has_no_scale_columns_without_scales() -> None:
    lines = table(alpha=None, sigma=None).describe().splitlines()
    assert lines[2].split() == ["step", "level", "a", "b", "std"]


def test_describe_says_when_there_is_nothing_to_speculate_on() -> None:
    assert "nothing to speculate" in ancestral([2.0, 1.0], eta=0).describe()
    assert "nothing to speculate" not in ancestral([2.0, 1.0]).describe()
