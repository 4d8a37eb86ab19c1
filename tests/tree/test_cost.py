"""The latency curve: convex, non-decreasing, below what was measured."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.tree.cost import fit_cost


def test_a_convex_curve_is_kept() -> None:
    cost = fit_cost([1, 2, 4, 8], [1.0, 1.1, 1.5, 3.5])
    assert [cost(rows) for rows in (1, 2, 4, 8)] == pytest.approx([1.0, 1.1, 1.5, 3.5])
    assert cost(3) == pytest.approx(1.3) and cost(16) == pytest.approx(7.5)


def test_noise_from_above_is_cut_off() -> None:
    cost = fit_cost([1, 1, 4, 4, 8, 8], [1.0, 9.0, 5.0, 2.0, 2.5, 3.0])
    assert cost(1) == 1.0 and cost(8) == 2.5
    assert cost(4) == pytest.approx(1.0 + 1.5 * 3 / 7), "a hump is none of the device's"


def test_a_lone_point_is_constant() -> None:
    assert fit_cost([4], [2.0])(100) == 2.0


@given(st.lists(st.tuples(st.integers(1, 300), st.floats(1e-6, 1e3)), min_size=1, max_size=12))
def test_fits_are_convex_and_never_decrease(points: list[tuple[int, float]]) -> None:
    rows, seconds = zip(*points, strict=True)
    cost = fit_cost(rows, seconds)
    value = np.array([cost(k) for k in range(min(rows), max(rows) + 1)])
    tolerance = 1e-9 * value.max()
    assert (np.diff(value) >= -tolerance).all()
    assert (np.diff(value, n=2) >= -3 * tolerance).all()
    assert all(cost(row) <= second + tolerance for row, second in points)


@pytest.mark.parametrize(
    ("rows", "seconds", "text"),
    [
        ([], [], "as many"),
        ([1], [1.0, 2.0], "as many"),
        ([0], [1.0], "positive and finite"),
        ([1], [float("nan")], "positive and finite"),
        ([1], [0.0], "positive and finite"),
    ],
)
def test_what_is_no_latency_is_refused(rows: list[int], seconds: list[float], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        fit_cost(rows, seconds)
