"""Expected calls against simulation and against cases that can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from redraft.tree.reach import expected_calls, reaches


def limits(total: int, rows: int) -> np.ndarray:
    return np.minimum(rows - 1, total - 1 - np.arange(total))


def test_certain_drafts_commit_whole_chains() -> None:
    assert expected_calls(np.ones((12, 4)), limits(12, 4)) == pytest.approx(3.0)


def test_hopeless_drafts_commit_one_state_a_round() -> None:
    assert expected_calls(np.zeros((12, 4)), limits(12, 4)) == pytest.approx(12.0)


def test_reach_is_a_product_along_the_chain() -> None:
    table = np.random.default_rng(0).uniform(0.1, 1.0, (9, 4))
    found = reaches(table, 3, 3)
    assert found == pytest.approx(
        [1.0, table[3, 0], table[3, 0] * table[4, 1], table[3, 0] * table[4, 1] * table[5, 2]]
    )


def test_expected_calls_are_the_mean_of_simulated_ones() -> None:
    generator = np.random.default_rng(1)
    table, limit = generator.uniform(0.3, 1.0, (20, 6)), limits(20, 6)
    limit[0] = 0
    calls = []
    for _ in range(4000):
        n, count = 0, 0
        while n < 20:
            depth = 0
            while depth < limit[n] and generator.random() < table[n + depth, depth]:
                depth += 1
            n, count = n + depth + 1, count + 1
        calls.append(count)
    error = np.std(calls) / len(calls) ** 0.5
    assert abs(np.mean(calls) - expected_calls(table, limit)) < 5 * error
