"""An executor that notes how many rows each call had and how long it took."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from redraft.sampling.state import Rows

__all__ = ["Stopwatch", "synchronize"]


def synchronize(device: torch.device) -> None:
    """Wait until the device has done what was asked of it."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


class Stopwatch:
    """Runs the target on all rows at once and times it.

    On an accelerator the calls are timed by events on its own stream, so that measuring does not
    make the sampler wait where it would not.

    Args:
        device: Where the target runs.

    Attributes:
        rows: Rows of each call so far.
    """

    def __init__(self, device: torch.device) -> None:
        self.rows: list[int] = []
        self._device = device
        self._marks: list[tuple[Any, Any]] = []

    def __call__(self, denoiser: Callable[..., Tensor], rows: Rows) -> Tensor:
        """Return the predictions (R, *shape)."""
        begin = self._mark()
        f = denoiser(rows.x, rows.level, **rows.cond)
        self._marks.append((begin, self._mark()))
        self.rows.append(len(rows))
        return f

    def seconds(self) -> list[float]:
        """Duration of each call; waits for the device."""
        if self._device.type == "cpu":
            return [end - begin for begin, end in self._marks]
        synchronize(self._device)
        return [begin.elapsed_time(end) / 1e3 for begin, end in self._marks]

    def _mark(self) -> Any:
        if self._device.type == "cpu":
            return perf_counter()
        event = torch.Event(device=self._device, enable_timing=True)
        event.record()
        return event
