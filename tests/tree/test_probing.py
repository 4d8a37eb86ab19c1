"""How many rows a run asks for, on devices that are simulated by a formula."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from redraft.tree.probing import Probing


def play(
    seconds: Callable[[int], float], accept: float, max_rows: int = 32, rounds: int = 40
) -> tuple[Probing, list[int]]:
    """Play rounds of a device and drafts accepted with a constant chance."""
    probing, asked, generator = Probing(max_rows), [], np.random.default_rng(0)
    for _ in range(rounds):
        rows = probing.next()
        asked.append(rows)
        if probing.stopped:
            break
        depth = 0
        while depth < rows - 1 and generator.random() < accept:
            depth += 1
        probing.saw(rows, seconds(rows), 0.0, {depth: 1})
    return probing, asked


def test_a_device_with_rows_to_spare_gets_the_largest_chain() -> None:
    _, asked = play(lambda rows: 1.0 + 0.001 * rows, 0.97)
    assert asked[:4] == [1, 1, 4, 4] and asked[-1] == 32
    assert sorted(set(asked)) == [1, 4, 8, 16, 32]


def test_a_device_that_does_row_after_row_is_left_alone_after_two_probes() -> None:
    probing, asked = play(lambda rows: float(rows), 0.99)
    assert probing.stopped and asked == [1, 1, 4, 4, 1]


@pytest.mark.parametrize(
    ("slope", "accept", "best"), [(0.1, 0.9, 8), (0.05, 0.95, 16), (0.45, 0.8, 4)]
)
def test_sizes_settle_where_commits_per_second_are_most(
    slope: float, accept: float, best: int
) -> None:
    _, asked = play(lambda rows: 1.0 + slope * (rows - 1), accept, rounds=200)
    rate = {
        rows: (1 - accept**rows) / (1 - accept) / (1 + slope * (rows - 1))
        for rows in (1, 4, 8, 16, 32)
    }
    assert best == max(rate, key=rate.__getitem__)
    assert rate[asked[-1]] > 0.93 * rate[best]


def test_hopeless_drafts_stop_it_too() -> None:
    probing, asked = play(lambda rows: 1.0 + 0.3 * (rows - 1), 0.05)
    assert probing.stopped and len(asked) < 15


def test_one_slow_call_is_forgiven() -> None:
    slow = iter([1.0, 1.0, 1.2, 1.2, 40.0])
    _, asked = play(lambda rows: next(slow, 1.0 + 0.01 * rows), 0.97)
    assert asked[-1] == 32


def test_one_row_is_nothing_to_choose_from() -> None:
    assert Probing(1).stopped and Probing(1).next() == 1
