"""What is held fixed along a draft: the tables, the recursion they stand for, and the errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from redraft import chain, draft
from redraft.chain.chain import Chain
from redraft.chain.steps import Steps
from redraft.draft import Memory
from redraft.draft.drafter import Frontier
from redraft.draft.freeze import FREEZES, freeze_table
from redraft.draft.linear import LinearDraft
from redraft.tree import grow
from tests.sampling.problems import preserving_levels

TABLES = {
    "ancestral": chain.ancestral(chain.karras(9, 5.0, 0.1)),
    "eta": chain.ancestral(chain.karras(9, 5.0, 0.1), eta=0.6),
    "fixed_small": chain.ddpm(preserving_levels(), 9, "fixed_small"),
    "fixed_large": chain.ddpm(preserving_levels(), 9, "fixed_large"),
    "flow": chain.flow_sde(9, 0.7, shift=2.0),
}
TREES = ("chain:4", "chain:12", "kary:2,3", "kary:3,2", "chain:1")
GENERATOR = torch.Generator().manual_seed(0)


def frozen_value(freeze: str, table: Chain, n: int, x: Tensor, f: Tensor) -> Tensor:
    """Return the frozen quantity at a state of step n, by its definition."""
    assert table.alpha is not None and table.sigma is not None
    alpha, sigma = table.alpha[n], table.sigma[n]
    eps = (x - alpha * f) / sigma
    return {
        "x0": f,
        "eps": eps,
        "v": alpha * eps - sigma * f,
        "velocity": eps - f,
        "increment": (table.a[n] - 1.0) * x + table.b[n] * f,
    }[freeze]


def prediction(freeze: str, table: Chain, n: int, x: Tensor, q: Tensor) -> Tensor:
    """Return the prediction at a state of step n whose frozen quantity is q."""
    assert table.alpha is not None and table.sigma is not None
    alpha, sigma = table.alpha[n], table.sigma[n]
    return {
        "x0": q,
        "eps": (x - sigma * q) / alpha,
        "v": (alpha * x - sigma * q) / (alpha**2 + sigma**2),
        "velocity": (x - sigma * q) / (alpha + sigma),
        "increment": (q - (table.a[n] - 1.0) * x) / table.b[n],
    }[freeze]


@pytest.mark.parametrize("freeze", FREEZES)
@pytest.mark.parametrize("family", TABLES)
def test_definitions_undo_each_other(family: str, freeze: str) -> None:
    table = TABLES[family]
    x, f = torch.randn(2, 5, 3, dtype=torch.float64, generator=GENERATOR)
    for n in torch.nonzero(table.std > 0).flatten().tolist():
        q = frozen_value(freeze, table, n, x, f)
        torch.testing.assert_close(prediction(freeze, table, n, x, q), f, rtol=1e-6, atol=1e-8)
        row = freeze_table(freeze, Steps.of(table))
        mean = row.a[n] * x + row.b[n] * q
        torch.testing.assert_close(mean, table.a[n] * x + table.b[n] * f, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("freeze", FREEZES)
@pytest.mark.parametrize("family", TABLES)
def test_one_product_is_the_recursion_over_nodes(family: str, freeze: str, tree: str) -> None:
    table, shape = TABLES[family], grow(tree)
    steps, dim = Steps.of(table), 3
    start = np.array([0, 2, int(table.std.nonzero()[-1])])
    height = int(min(steps.reach[start].max(), shape.height))
    cut = shape.cut(height)
    size = len(cut) if cut.width == 1 else max(len(cut) - 1, 0)
    noise, root, where = (
        torch.randn(3, count, dim, dtype=torch.float64, generator=GENERATOR)
        for count in (size, 1, 2)
    )
    place = np.maximum(start - 1, 0)[:, None]
    f = where[:, :1]
    memory = Memory(f, where[:, 1:], place)
    frontier = Frontier(cut, start, root[:, 0], noise, memory, np.ones(3, dtype=bool), never)
    drawn = LinearDraft(steps, shape, freeze, torch.device("cpu"))(frontier)
    for row, n in enumerate(start):
        q = frozen_value(freeze, table, int(place[row, 0]), where[row, 1], f[row, 0])
        x = {0: root[row, 0]}
        for node in range(1, len(cut)):
            above = int(cut.parent[node])
            at = int(n) + int(cut.depth[above])
            if cut.depth[node] > steps.reach[n]:
                continue
            g = prediction(freeze, table, at, x[above], q)
            mean = table.a[at] * x[above] + table.b[at] * g
            x[node] = mean + table.std[at] * noise[row, node - 1]
            torch.testing.assert_close(drawn.x[row, node], x[node], rtol=1e-7, atol=1e-7)
            guess = drawn.guess[row, min(above, drawn.guess.shape[1] - 1)]
            torch.testing.assert_close(guess, g, rtol=1e-6, atol=1e-6)


def never(*_: Any) -> Tensor:
    raise AssertionError("a linear draft needs no model")


def plain(b: float = 0.5) -> Chain:
    one = torch.ones(4, dtype=torch.float64)
    return Chain(one.cumsum(0), 0.5 * one, b * one, one, 1.0, None, name="plain")


@pytest.mark.parametrize("freeze", ["eps", "v", "velocity"])
def test_scales_are_needed_to_freeze_noise(freeze: str) -> None:
    with pytest.raises(ValueError, match=f"freeze='{freeze}'.*alpha and sigma.*'plain'"):
        freeze_table(freeze, Steps.of(plain()))


@pytest.mark.parametrize("freeze", ["eps", "v", "velocity", "increment"])
def test_a_step_that_ignores_the_prediction_cannot_freeze_another_quantity(freeze: str) -> None:
    with pytest.raises(ValueError, match="needs b != 0.*freeze='x0'"):
        freeze_table(freeze, Steps.of(plain(b=0.0)))


def test_a_step_without_signal_cannot_freeze_the_noise() -> None:
    table = chain.ddpm(torch.tensor([0.9, 0.5, 0.0]).double())
    with pytest.raises(ValueError, match="freeze='eps' is undefined at step 0"):
        freeze_table("eps", Steps.of(table))


@pytest.mark.parametrize("freeze", FREEZES)
def test_a_noiseless_step_without_signal_gives_its_quantity_all_the_same(freeze: str) -> None:
    table = chain.flow_sde(5, 0.3)
    x, f = torch.randn(2, 3, dtype=torch.float64, generator=GENERATOR)
    row = freeze_table(freeze, Steps.of(table))
    found = row.of_x[0] * x + row.of_f[0] * f
    torch.testing.assert_close(found, frozen_value(freeze, table, 0, x, f))


@pytest.mark.parametrize("make", [draft.Free, draft.Frozen])
def test_unknown_words_are_refused_with_the_nearest_one(make: Any) -> None:
    with pytest.raises(ValueError, match="unknown freeze 'x_0'.*Did you mean 'x0'"):
        make("x_0")
    with pytest.raises(ValueError, match="unknown prefetch 'neares'.*Did you mean 'nearest'"):
        draft.Free(prefetch="neares")
