r"""What a call costs: the model's latency as a function of its rows.

Latencies are noisy from above (another process, a cold cache), never from below, so the fit takes
the least time seen at each number of rows. A call on more rows takes no less time, and the marginal
row costs no less than the one before once a device is full; the curve is therefore the greatest
convex, non-decreasing function below those points. Between them it is linear, beyond the last one
it goes on with the last slope.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Cost", "fit_cost"]


class Cost(NamedTuple):
    """A convex, non-decreasing, piecewise linear function.

    Attributes:
        rows: Rows at its corners, increasing.
        seconds: Seconds there.
    """

    rows: tuple[int, ...]
    seconds: tuple[float, ...]

    def __call__(self, rows: float) -> float:
        """Return the seconds of a call on some rows."""
        if len(self.rows) > 1 and rows > self.rows[-1]:
            slope = (self.seconds[-1] - self.seconds[-2]) / (self.rows[-1] - self.rows[-2])
            return self.seconds[-1] + slope * (rows - self.rows[-1])
        return float(np.interp(rows, self.rows, self.seconds))


def fit_cost(rows: Sequence[int], seconds: Sequence[float]) -> Cost:
    """Fit measured latencies; several of the same number of rows are welcome.

    Raises:
        ValueError: If there are none, or one is not positive and finite, or a number of rows is
            below 1.
    """
    count, time = np.asarray(rows, np.int64), np.asarray(seconds, np.float64)
    if not len(count) or len(count) != len(time):
        raise ValueError(f"rows and seconds must be as many, and some: {len(count)}, {len(time)}")
    if (count < 1).any() or not (np.isfinite(time) & (time > 0)).all():
        raise ValueError("a latency must be positive and finite, of at least one row")
    knots = np.unique(count)
    least = np.array([time[count == knot].min() for knot in knots])
    least = np.minimum.accumulate(least[::-1])[::-1]  # non-decreasing from below
    corner = _lower_hull(knots, least)
    return Cost(tuple(int(k) for k in knots[corner]), tuple(float(s) for s in least[corner]))


def _lower_hull(x: NDArray[np.int64], y: NDArray[np.float64]) -> list[int]:
    """Return the corners of the greatest convex function below points."""
    hull: list[int] = []
    for k in range(len(x)):
        while len(hull) > 1:
            i, j = hull[-2:]
            if (y[j] - y[i]) * (x[k] - x[j]) <= (y[k] - y[j]) * (x[j] - x[i]):
                break
            hull.pop()
        hull.append(k)
    return hull
