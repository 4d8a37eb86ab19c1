"""What a call of the target costs by its rows, on a device."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter

import torch
from torch import Tensor

from redraft.chain.steps import Steps
from redraft.draft.drafter import Denoiser
from redraft.tree.cost import Cost, fit_cost

__all__ = ["measure_cost"]


def measure_cost(
    denoiser: Denoiser,
    steps: Steps,
    shape: tuple[int, ...],
    max_rows: int,
    cond: Mapping[str, Tensor],
    dtype: torch.dtype,
    device: torch.device,
    repeats: int = 5,
) -> Cost:
    """Time calls on 1, 2, 4, ... rows, some warm ones of each, and fit the curve."""
    sizes = sorted({min(2**k, max_rows) for k in range(max_rows.bit_length() + 1)})
    told = torch.promote_types(dtype, torch.float32)
    level = float(steps.level[len(steps.level) // 2])
    rows, seconds = [], []
    with torch.no_grad():
        for size in sizes:
            x = torch.zeros(size, *shape, dtype=dtype, device=device)
            levels = torch.full((size,), level, dtype=told, device=device)
            given = {k: v.to(device).expand(size, *v.shape[1:]) for k, v in cond.items()}
            for repeat in range(repeats + 1):
                begin = perf_counter()
                denoiser(x, levels, **given)
                if device.type != "cpu":
                    torch.accelerator.synchronize(device)
                if repeat:  # the first one warms up
                    rows.append(size)
                    seconds.append(perf_counter() - begin)
    return fit_cost(rows, seconds)
