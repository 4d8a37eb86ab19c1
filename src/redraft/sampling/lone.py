"""Small questions about arrays with an entry per sample, quick for a sample on its own.

NumPy's general ways take a few microseconds each, as much as the model's own layers do; a sample on
its own is how latency is measured.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["at", "every", "finite", "largest", "rows"]

_FEW = 256


def every(flags: NDArray[np.bool_]) -> bool:
    """Return whether all flags (B,) are set."""
    return bool(flags[0]) if len(flags) == 1 else bool(flags.all())


def finite(values: NDArray[np.float64]) -> bool:
    """Return whether no value is NaN or infinite; False also where their sum overflows."""
    few = values.size <= _FEW
    return isfinite(sum(values.ravel().tolist()) if few else float(values.sum()))


def largest(values: NDArray[np.int64]) -> int:
    """Return the largest of the values (B,)."""
    return int(values[0]) if len(values) == 1 else int(values.max())


def rows(table: NDArray[Any], index: NDArray[np.int64]) -> NDArray[Any]:
    """Return the rows ``table[index]`` (B, ...), read-only."""
    if len(index) == 1:
        first = int(index[0])
        return table[first : first + 1]
    return table[index]


def at(values: NDArray[Any], node: NDArray[np.int64]) -> NDArray[Any]:
    """Return the entries ``values[b, node[b]]`` (B, ...)."""
    if len(node) == 1:
        return values[:, int(node[0])]
    return values[np.arange(len(node)), node]
