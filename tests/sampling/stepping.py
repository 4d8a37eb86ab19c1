"""Driving a sampler by hand: plan, call, commit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from redraft.sampling import Info, Rows, Sampler, State
from redraft.tree.tree import Tree

T = TypeVar("T")


def step(sampler: Sampler, state: State, target: Callable[..., Tensor]) -> tuple[State, Info, Rows]:
    """Run one round."""
    rows = sampler.plan(state)
    after, info = sampler.commit(state, rows, target(rows.x, rows.level, **rows.cond))
    return after, info, rows


def walk(sampler: Sampler, target: Callable[..., Tensor]) -> Tensor:
    """Run a recording sampler to its end; return all states (num, steps + 1, D), float64."""
    state = sampler.init()
    path = torch.zeros(sampler.num, sampler.steps.total + 1, sampler.dim, dtype=torch.float64)
    path[:, 0] = state.x
    while not state.done:
        state, info, _ = step(sampler, state, target)
        assert info.states is not None
        for entry in range(info.states.shape[1]):
            took = np.nonzero(info.num_committed > entry)[0]
            path[info.owner[took], info.step[took] + entry + 1] = info.states[took, entry].double()
    return path


def change(thing: T, **fields: Any) -> T:
    """Return a named tuple or a dataclass with other fields."""
    swap: Any = getattr(thing, "_replace", None)
    return swap(**fields) if swap else replace(thing, **fields)  # type: ignore[type-var]


def same(a: Any, b: Any) -> bool:
    """Whether two states, rows or infos are equal bit by bit."""
    if isinstance(a, Tensor):
        return torch.equal(a, b)
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if hasattr(a, "_fields"):
        return all(same(x, y) for x, y in zip(a, b, strict=True))
    if is_dataclass(a) and not isinstance(a, Tree):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return a is b or a == b
