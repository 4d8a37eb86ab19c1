"""Evaluate rows in this process, in chunks that fit the device's memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import torch
from torch import Tensor

if TYPE_CHECKING:
    from redraft.sampling.state import Rows

__all__ = ["Executor", "Local"]


class Executor(Protocol):
    """Runs the target on the rows of a round; anything that returns its predictions will do."""

    def __call__(self, denoiser: Callable[..., Tensor], rows: Rows) -> Tensor:
        """Return the predictions (R, *shape), row by row."""
        ...


class Local:
    """One call, or several of at most ``max_rows`` rows.

    A chunked call counts as one call: it is one point at which the sampler waits.

    Args:
        max_rows: Largest number of rows per call of the model; None: no limit.
    """

    def __init__(self, max_rows: int | None = None) -> None:
        if max_rows is not None and max_rows < 1:
            raise ValueError(f"max_rows must be at least 1, or None for no limit, got {max_rows}")
        self.max_rows = max_rows

    def __call__(self, denoiser: Callable[..., Tensor], rows: Rows) -> Tensor:
        """Return the predictions (R, *shape)."""
        if self.max_rows is None or len(rows) <= self.max_rows:
            return denoiser(rows.x, rows.level, **rows.cond)
        parts = []
        for first in range(0, len(rows), self.max_rows):
            some = slice(first, first + self.max_rows)
            cond = {key: value[some] for key, value in rows.cond.items()}
            parts.append(denoiser(rows.x[some], rows.level[some], **cond))
        return torch.cat(parts)
