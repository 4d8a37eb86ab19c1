"""A small target without structure, chains made by hand, and a check of every single step."""

from __future__ import annotations

import torch
from torch import Tensor

from redraft.chain.chain import Chain
from redraft.sampling import Result
from tests.sampling.checks import predictions
from tests.sampling.problems import Problem


def elementwise(x: Tensor, level: Tensor) -> Tensor:
    """A target whose rows and entries do not mix, so that batches cannot change its bits."""
    return torch.tanh(2.0 * x) / (1.0 + 0.1 * level.reshape(-1, *[1] * (x.ndim - 1)).to(x))


def by_hand(std: list[float], terminal: float | None = None) -> Chain:
    n = len(std)
    one = torch.ones(n, dtype=torch.float64)
    level = torch.arange(n, 0, -1, dtype=torch.float64)
    noise = torch.tensor(std, dtype=torch.float64)
    return Chain(level, 0.6 * one, 0.4 * one, noise, 1.0, terminal, name="by hand")


def check_steps(result: Result, steps: Chain) -> None:
    """Zero-noise steps hold exactly; noisy ones stay within what noise allows."""
    path = result.trajectory
    assert path is not None and bool(path.isfinite().all())
    path = path.reshape(*path.shape[:2], -1).double()
    f = predictions(path, Problem(elementwise, elementwise, steps, path.shape[-1]))
    gap = path[:, 1:] - steps.a[:, None] * path[:, :-1] - steps.b[:, None] * f
    quiet = gap[:, steps.std == 0]
    assert quiet.numel() == 0 or float(quiet.abs().max()) < 1e-5
    noisy = gap[:, steps.std > 0] / steps.std[steps.std > 0, None]
    assert noisy.numel() == 0 or float(noisy.abs().max()) < 8.0
    assert result.log_prob is not None and not result.log_prob[:, steps.std == 0].any()
