r"""Choose the rows of the next round while a run goes on: `Probing`.

The rate of a size M is the expected number of commits of a round over its time, call and own work,
as seen so far; one row is priced as the plain sampler's step, whose own work is next to nothing.
Sizes are tried from small to large, each in two real rounds, so that trying costs little: first
two of one row, then two of four. If four rows take 3.5 times one row or more, the device does the
rows one after the other, nothing can be gained, and speculation stops. Larger sizes are tried as
long as the marginal row, priced as cheaply as it was last seen, would raise the rate.

Times and path ends are not live: nothing here depends on a noise that a decision has yet to look
at (contract rules 2 and 3), provided that the time of a call depends on how many rows it has, not
on what is in them.
"""

from __future__ import annotations

import numpy as np

__all__ = ["Probing"]

_STOP = 3.5
_PRIOR = (3.0, 0.9)
"""Weight and value of the acceptance that is assumed at first."""


class Probing:
    """What has been seen of a run, and what to do next.

    Attributes:
        seconds: Least time of a call by its rows.
        own: Least time of a round beside its call.
        stopped: Whether speculation was given up.
    """

    def __init__(self, max_rows: int) -> None:
        """Start with nothing known; rounds may have up to ``max_rows`` rows per sample."""
        self.sizes = [1, *(4 * 2**k for k in range(12) if 4 * 2**k < max_rows)]
        if max_rows > 1:
            self.sizes.append(max_rows)
        self.seconds: dict[int, float] = {}
        self.own = np.inf
        self._seen: dict[int, int] = dict.fromkeys(self.sizes, 0)
        self._tried = np.full(max_rows, _PRIOR[0])
        self._accepted = self._tried * _PRIOR[1]
        self.stopped = max_rows == 1

    def saw(self, rows: int, seconds: float | None, own: float, ends: dict[int, int]) -> None:
        """Take in a round.

        Args:
            rows: Its rows per sample, as asked for.
            seconds: Time of its call; None if not all samples had as many rows.
            own: Time of the rest.
            ends: Samples with a full draft by the depth at which their paths ended.
        """
        for depth, count in ends.items():
            self._tried[: min(depth + 1, rows - 1)] += count
            self._accepted[:depth] += count
        if seconds is None:
            return
        self.own = min(self.own, own)
        self._seen[rows] += 1
        self.seconds[rows] = min(seconds, self.seconds.get(rows, np.inf))
        if rows == self.sizes[1] and self._seen[rows] == 2:
            self.stopped = self.seconds[rows] >= _STOP * self.seconds[1]

    def commits(self, rows: int) -> float:
        """Return the expected commits of a round."""
        share = self._accepted[: rows - 1] / self._tried[: rows - 1]
        return 1.0 + float(np.cumprod(share).sum())

    def rate(self, rows: int) -> float:
        """Return the expected commits per second."""
        own = self.own if rows > 1 else 0.0
        return self.commits(rows) / (self.seconds[rows] + own)

    def next(self) -> int:
        """Return the rows of the next round; 1 for good if `stopped`."""
        if self.stopped:
            return 1
        if self._seen[1] < 2:
            return 1
        tried = [size for size in self.sizes if self._seen[size]]
        if len(tried) == 1:
            return self.sizes[1]
        best, last = max(tried, key=self.rate), tried[-1]
        if self._seen[last] < 2:
            return last  # the first call of a size may be slow for reasons of its own
        if best == last and last < self.sizes[-1]:
            more, before = self.sizes[len(tried)], tried[-2]
            slope = (self.seconds[last] - self.seconds[before]) / (last - before)
            hoped = self.seconds[last] + max(slope, 0.0) * (more - last) + self.own
            if self.commits(more) / hoped > self.rate(best):
                return more
        if best == 1:
            self.stopped = True
        return best
