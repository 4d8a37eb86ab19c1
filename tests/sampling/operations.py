"""Counting the tensor operations of a round."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from redraft.sampling import Sampler
from tests.sampling.problems import Problem

VIEWS = {
    f"aten::{name}"
    for name in (
        "view _unsafe_view _reshape_alias slice select expand unsqueeze squeeze alias detach t "
        "transpose as_strided permute unbind split"
    ).split()
}


class Operations(TorchDispatchMode):
    """Counts every operation that is not a mere view."""

    def __init__(self) -> None:
        super().__init__()
        self.count: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name
        if name not in VIEWS:
            self.count[name] += 1
        return func(*args, **(kwargs or {}))


def per_round(sampler: Sampler, problem: Problem) -> tuple[float, Counter[str], int]:
    """Run to the end; return operations per round in plan and commit, which, and rounds."""
    state, rounds, total = sampler.init(), 0, Counter()
    with torch.no_grad():
        while not state.done:
            with Operations() as plan:
                rows = sampler.plan(state)
            f = problem.target(rows.x, rows.level)
            with Operations() as commit:
                state, _ = sampler.commit(state, rows, f)
            total += plan.count + commit.count
            rounds += 1
    return sum(total.values()) / rounds, total, rounds
