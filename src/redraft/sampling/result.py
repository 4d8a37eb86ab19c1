"""What a run returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from redraft.sampling.info import Info
from redraft.sampling.strategy import Strategy

__all__ = ["Result", "Summary"]

Ints = NDArray[np.int64]


class Summary:
    """Counts over all rounds of a run; see `Info` for the words.

    Attributes:
        num_rounds: Target calls of the run as a whole (a batch shares them).
        num_drafts: Drafted states that were verified.
        num_draft_rows: Rows evaluated.
        num_draft_calls: Calls of a cheap model.
        num_recovered: States drawn from an excess after a rejection.
    """

    def __init__(self, height: int = 0) -> None:
        self.num_rounds = 0
        self.num_drafts = 0
        self.num_draft_rows = 0
        self.num_draft_calls = 0
        self.num_recovered = 0
        self._size = height + 1
        self._ends = np.zeros((self._size, self._size), dtype=np.int64)  # by depth and by limit

    def add(self, info: Info) -> None:
        """Count one round in."""
        self.num_rounds += 1
        self.num_drafts += info.num_drafts
        self.num_draft_rows += info.num_draft_rows
        self.num_draft_calls += info.num_draft_calls
        if len(info.depth) == 1:
            depth = int(info.depth[0])
            self.num_recovered += bool(info.recovered[0])
            if depth >= 0:
                self._ends[depth, int(info.limit[0])] += 1
            return
        self.num_recovered += int(np.count_nonzero(info.recovered))
        done = info.depth >= 0
        np.add.at(self._ends, (info.depth[done], info.limit[done]), 1)

    @property
    def num_accepted(self) -> int:
        """Drafts accepted."""
        return int(self._ends.sum(axis=1) @ np.arange(self._size))

    @property
    def num_bonus(self) -> int:
        """States drawn from the target itself."""
        return int(self._ends.sum()) - self.num_recovered

    @property
    def tried_per_depth(self) -> Ints:
        """(H,) times depth d was tried, d = 1..H."""
        reached = [self._ends[d - 1 :, d:].sum() for d in range(1, self._size)]
        return np.array(reached, dtype=np.int64)

    @property
    def accepted_per_depth(self) -> Ints:
        """(H,) times depth d was reached, d = 1..H."""
        return np.array([self._ends[d:].sum() for d in range(1, self._size)], dtype=np.int64)

    @property
    def acceptance_by_depth(self) -> list[float]:
        """Share of the tries at depth 1, 2, ... that were accepted; NaN where none was made."""
        return [
            float(accepted / tried) if tried else float("nan")
            for accepted, tried in zip(self.accepted_per_depth, self.tried_per_depth, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Result:
    """Samples and what they cost.

    Attributes:
        samples: (num, *shape) samples, in the state dtype (float32 or better).
        calls: (num,) sequential target calls each sample waited for, the first and the terminal one
            included.
        rows: (num,) rows evaluated for each sample.
        seeds: (num,) seed of each sample; ``seed=[result.seeds[i]]`` reproduces sample i alone.
        summary: Counts over all rounds.
        trajectory: (num, N + 1, *shape) all states x_0..x_N, if requested.
        log_prob: (num, N) float64 log-density of every step under the target, 0 for zero-noise
            steps (which have none), if requested.
        rounds: What each round did, if requested.
        plan: How the run was chosen to be done, if it was; ``plan=result.plan`` does so for other
            seeds.
    """

    samples: Tensor
    calls: Ints
    rows: Ints
    seeds: Ints
    summary: Summary
    trajectory: Tensor | None = None
    log_prob: Tensor | None = None
    rounds: list[Info] | None = None
    plan: Strategy | None = None
