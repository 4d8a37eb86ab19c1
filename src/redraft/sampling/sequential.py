"""Plain sampling of the same chain with the same noise: the baseline, and the reference.

Every step is driven by the noise that the first draft of that step would have had (attempt 0), so
that speculation with a perfect drafter reproduces these paths.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from redraft.chain.chain import Chain
from redraft.draft.drafter import Denoiser
from redraft.execute import Executor, Local
from redraft.sampling import noise
from redraft.sampling.arguments import check_prediction
from redraft.sampling.errors import NonFiniteError
from redraft.sampling.lookahead import look_ahead
from redraft.sampling.progress import Progress, reporting
from redraft.sampling.result import Result, Summary
from redraft.sampling.sampler import Sampler
from redraft.sampling.state import Rows

__all__ = ["sequential"]


def sequential(
    denoiser: Denoiser,
    chain: Chain,
    num: int,
    shape: Sequence[int],
    *,
    seed: int | Sequence[int],
    cond: Mapping[str, Tensor] | None = None,
    executor: Executor | None = None,
    trajectory: bool = False,
    log_prob: bool = False,
    progress: Progress = None,
    x_init: Tensor | None = None,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> Result:
    """Sample a chain step by step, one target call per step; arguments as in `redraft.sample`."""
    parts = Sampler(
        chain,
        num,
        shape,
        seed,
        tree="chain:1",
        drafter="free",
        cond=cond,
        dtype=dtype,
        device=device,
    )
    run = executor or Local()
    steps, x = parts.steps, parts.init(x_init).x
    noisy_steps = steps.total - parts.has_terminal
    path = x.new_zeros(num, noisy_steps + 1, parts.dim) if trajectory else None
    density = torch.zeros(num, noisy_steps, dtype=torch.float64) if log_prob else None
    levels = torch.from_numpy(parts.level).to(parts.device)
    draft, decide = parts.keys[noise.DRAFT], parts.keys[noise.DECIDE]
    sums: list[Tensor] = []
    owner, at, block = np.arange(num), np.zeros(num, dtype=np.int64), None
    with torch.no_grad(), reporting(progress, steps.total * num) as report:
        for n in range(steps.total if num else 0):
            if path is not None and n <= noisy_steps:
                path[:, n] = x
            states = x.to(parts.dtype).reshape(num, *parts.shape)
            rows = Rows(states, levels[n].expand(num), at + n, owner, parts.cond, None)
            f = check_prediction(run(denoiser, rows), states).to(parts.state_dtype)
            f = f.reshape(num, parts.dim)
            sums.append(f.sum(-1))
            x = x.mul(steps.a[n]).add_(f, alpha=steps.b[n])
            if steps.std[n] > 0:
                block = look_ahead(block, draft, decide, at + n, 1, x)
                z = block.read(at + n, 1)[0][:, 0]
                x.add_(z, alpha=steps.std[n])
                if density is not None:
                    spread = math.log(steps.std[n]) + 0.5 * math.log(2.0 * math.pi)
                    density[:, n] = -0.5 * z.double().square().sum(-1).cpu() - parts.dim * spread
            report((n + 1) * num)
        if path is not None and noisy_steps == steps.total:
            path[:, noisy_steps] = x
    _check_finite(sums, parts)
    summary = Summary()
    summary.num_rounds, summary.num_draft_rows = steps.total, steps.total * num
    return Result(
        samples=x.reshape(num, *parts.shape),
        calls=np.full(num, steps.total),
        rows=np.full(num, steps.total),
        seeds=parts.seeds,
        summary=summary,
        trajectory=None if path is None else path.reshape(num, -1, *parts.shape),
        log_prob=density,
    )


def _check_finite(sums: list[Tensor], parts: Sampler) -> None:
    """Raise if a prediction was not finite; looked at once, at the end, to spare the device."""
    if not sums:
        return
    bad = torch.nonzero(~torch.isfinite(torch.stack(sums)))
    if len(bad):
        step, sample = (int(place) for place in bad[0])
        level = float(parts.steps.level[step])
        raise NonFiniteError("the prediction of the target", sample, step, level)
