"""Roots of increasing functions, one per lane, by Newton steps inside a bracket."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from redraft.coupling.pair import Floats

__all__ = ["Function", "solve"]

Function = Callable[[Floats, npt.NDArray[np.int64]], tuple[Floats, Floats]]

_MOST_STEPS = 100
_TOLERANCE = 1e-14


def solve(function: Function, low: Floats, high: Floats) -> Floats:
    """Return where an increasing function passes through zero, between ``low`` and ``high``.

    A Newton step that leaves the bracket, or does not halve the step before it, gives way to a
    bisection, so that the bracket or the step halves every time. A lane that has arrived drops out:
    its root does not depend on the other lanes.

    Args:
        function: Gives values and slopes at points, given the lanes (indices) of these points.
        low: (n,) points at or left of the roots, finite.
        high: (n,) points at or right of them.
    """
    found = 0.5 * (low + high)
    lanes = np.nonzero(high > low)[0]
    low, high, root = low[lanes], high[lanes], found[lanes]
    last = high - low
    for _ in range(_MOST_STEPS):
        if not len(lanes):
            break
        value, slope = function(root, lanes)
        right = value > 0.0  # the root lies to the left of the point
        high, low = np.where(right, root, high), np.where(right, low, root)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            step = -value / slope
        trial = root + step
        good = (trial >= low) & (trial <= high) & (2.0 * np.abs(step) <= np.abs(last))
        trial = np.where(good, trial, 0.5 * (low + high))
        trial = np.where(value == 0.0, root, trial)
        last, root = trial - root, trial
        found[lanes] = root
        moving = np.abs(last) > _TOLERANCE * (1.0 + np.abs(root))
        if not moving.all():
            lanes, root, last = lanes[moving], root[moving], last[moving]
            low, high = low[moving], high[moving]
    return found
