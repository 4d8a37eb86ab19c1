"""Per-step tables as a round reads them: the entries of the steps below each committed state."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from redraft.chain.steps import Steps
from redraft.sampling.lone import rows
from redraft.tree.tree import Tree

__all__ = ["Window", "Windows", "windows"]


class Window:
    """A table (N,), of which a round reads the entries n, n + 1, ..., the last one repeated.

    Attributes:
        view: (N, H + 1) read-only, row n with the entries from n on.
    """

    def __init__(self, table: NDArray[Any], height: int) -> None:
        """Lay out a table (N,) for trees of a height."""
        padded = np.concatenate((table, np.repeat(table[-1:], height)))
        self.view = sliding_window_view(padded, height + 1)

    def read(self, step: NDArray[np.int64], tree: Tree) -> NDArray[Any]:
        """Return the entry of every node (B, T), read-only; the roots stand at ``step`` (B,)."""
        entries = rows(self.view, step)
        return entries[:, : len(tree)] if tree.width <= 1 else entries[:, tree.depth]


class Windows(NamedTuple):
    """The tables of a chain.

    Attributes:
        place: Step of a node, at most the last one.
        pull: |b| / std there.
        sign: Sign of b there.
    """

    place: Window
    pull: Window
    sign: Window


@lru_cache(maxsize=64)
def windows(steps: Steps, height: int) -> Windows:
    """Return the tables of a chain for trees of a height; they take no memory of their own."""
    columns = (np.arange(steps.total), steps.pull, steps.sign)
    return Windows(*(Window(column, height) for column in columns))
