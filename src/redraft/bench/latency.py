"""What the target alone costs: one call on so many rows, and a bare loop of one-row calls.

Both are measured between the timed runs, in blocks about as long as a run, so that what slows the
machine down slows them alike. The ideal time of a method is its number of calls times the latency
of a call on its rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from time import perf_counter

import torch
from torch import Tensor

from redraft.bench.job import Job
from redraft.bench.stopwatch import synchronize

__all__ = ["Latency"]

BLOCK = 20  # calls


class Latency:
    """Collects timings of the target alone.

    Args:
        job: What is sampled.
        rows: Numbers of rows of interest.
    """

    def __init__(self, job: Job, rows: Iterable[int]) -> None:
        self._job = job
        self._calls: dict[int, list[float]] = {count: [] for count in sorted({1, *rows})}
        self._loops: list[float] = []
        as_told = torch.promote_types(job.dtype, torch.float32)
        self._levels = job.chain.call_levels.to(job.device, as_told)
        self._x = torch.randn(
            max(self._calls),
            *job.target.shape,
            generator=torch.Generator().manual_seed(job.seed),
        ).to(job.device, job.dtype)

    @torch.no_grad()
    def measure(self) -> None:
        """Time one bare loop, and a block of calls on each number of rows."""
        middle = self._levels[len(self._levels) // 2]
        for count, seconds in self._calls.items():
            block = self._timed(middle.expand(BLOCK, count), count)
            seconds.append(block / BLOCK)
        self._loops.append(self._timed(self._levels[:, None], 1))

    def calls(self) -> dict[int, float]:
        """Seconds of one call by number of rows: median of the blocks' means."""
        return {count: median(seconds) for count, seconds in self._calls.items()}

    def loop(self) -> float:
        """Median seconds of the bare loop ``for level in levels: denoiser(x, level)``."""
        return median(self._loops)

    @property
    def measured(self) -> bool:
        """Whether there is anything to take a median of."""
        return bool(self._loops)

    def _timed(self, levels: Tensor, count: int) -> float:
        """Seconds of one call on ``count`` rows for each row (count,) of ``levels``."""
        denoiser, x = self._job.target.denoiser, self._x[:count]
        synchronize(self._job.device)
        begin = perf_counter()
        for level in levels:
            denoiser(x, level)
        synchronize(self._job.device)
        return perf_counter() - begin
