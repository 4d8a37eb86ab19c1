"""Published speed-ups come out of the same protocol."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from redraft.bench.methods import parse
from redraft.bench.protocol import NOISY, measure, noisy_part
from redraft.bench.published import CELLS, Cell
from redraft.bench.targets import make_target
from redraft.chain import flow_sde
from redraft.draft import Free, Swept

RUNS = 192
CHECKED = [cell for cell in CELLS if cell.tree in ("chain:3", "chain:7", "kary:2,3")]
LARGEST = 6.0
"""Standard errors; some forty cells are compared."""


def run(cell: Cell, seed: int) -> np.ndarray:
    method = parse(cell.method, cell.tree)
    assert method.verifier is not None
    drafter = method.make_drafter(make_target("gaussian"))
    return measure(drafter, method.verifier, cell.tree, cell.churn, RUNS, seed)


@pytest.mark.parametrize("cell", CHECKED, ids=lambda cell: "-".join(map(str, cell[:3])))
def test_published_numbers_are_reproduced(cell: Cell, fresh_seed: int) -> None:
    calls = run(cell, fresh_seed >> 1)
    speedup = NOISY / calls.mean()
    stderr = speedup * calls.std() / calls.mean() / math.sqrt(RUNS)
    assert abs(speedup - cell.speedup) < LARGEST * math.hypot(stderr, cell.stderr)


@pytest.mark.parametrize(
    ("sweeps", "churn", "rule", "tree", "published"),
    [
        (1, 0.3, "reflection", "chain:15", 2.40),
        (2, 0.3, "reflection", "chain:15", 2.55),
        (1, 0.6, "reflection", "chain:15", 2.17),
        (2, 0.6, "reflection", "chain:15", 2.27),
        (1, 0.3, "greedy", "kary:2,4", 1.71),
        (2, 0.3, "greedy", "kary:2,4", 1.27),
    ],
)
def test_published_numbers_of_sweeps_are_reproduced(
    sweeps: int, churn: float, rule: str, tree: str, published: float, fresh_seed: int
) -> None:
    # the authors' 40 runs, and what they rounded off
    calls = measure(Swept(sweeps, "velocity"), rule, tree, churn, RUNS, fresh_seed >> 1)
    speedup = NOISY / calls.mean()
    stderr = speedup * calls.std() / calls.mean() * math.sqrt(1 / RUNS + 1 / 40)
    assert abs(speedup - published) < LARGEST * math.hypot(stderr, 0.003)


def test_freezing_another_quantity_would_not_pass_for_the_published_one() -> None:
    calls = measure(Free(freeze="x0"), "reflection", "chain:7", 0.06, RUNS, 0)
    assert NOISY / calls.mean() > 1.942 + 0.2


def test_plain_sampling_is_28_calls_without_the_warm_up() -> None:
    calls = measure(Free(freeze="velocity"), "greedy", "chain:1", 0.3, 3, 0)
    assert calls.tolist() == [29, 29, 29]


def test_noisy_part_leaves_out_the_two_euler_steps() -> None:
    whole = flow_sde(30, 0.3)
    part = noisy_part(whole)
    assert part.num_steps == NOISY and bool((part.std > 0).all())
    torch.testing.assert_close(part.level, whole.level[1:-1])
