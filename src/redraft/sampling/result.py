"""What a run returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from redraft.sampling.state import Info

__all__ = ["Result", "Summary"]

Ints = NDArray[np.int64]


@dataclass
class Summary:
    """Counts over all rounds of a run; see `Info` for the words.

    Attributes:
        num_rounds: Target calls of the run as a whole (a batch shares them).
        num_drafts: Drafted states that were verified.
        num_draft_rows: Rows evaluated.
        num_draft_calls: Calls of a cheap model.
        num_accepted: Drafts accepted.
        num_recovered: States drawn from an excess after a rejection.
        num_bonus: States drawn from the target itself.
        tried_per_depth: (H,) times depth d was tried, d = 1..H.
        accepted_per_depth: (H,) times it was reached.
    """

    num_rounds: int = 0
    num_drafts: int = 0
    num_draft_rows: int = 0
    num_draft_calls: int = 0
    num_accepted: int = 0
    num_recovered: int = 0
    num_bonus: int = 0
    tried_per_depth: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    accepted_per_depth: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def acceptance_by_depth(self) -> list[float]:
        """Share of the tries at depth 1, 2, ... that were accepted; NaN where none was made."""
        return [
            float(accepted / tried) if tried else float("nan")
            for accepted, tried in zip(self.accepted_per_depth, self.tried_per_depth, strict=True)
        ]

    def add(self, info: Info) -> None:
        """Count one round in."""
        self.num_rounds += 1
        self.num_drafts += info.num_drafts
        self.num_draft_rows += info.num_draft_rows
        self.num_draft_calls += info.num_draft_calls
        self.num_accepted += info.num_accepted
        self.num_recovered += info.num_recovered
        self.num_bonus += info.num_bonus
        if not len(self.tried_per_depth):
            self.tried_per_depth = info.tried_per_depth.copy()
            self.accepted_per_depth = info.accepted_per_depth.copy()
        else:
            self.tried_per_depth += info.tried_per_depth
            self.accepted_per_depth += info.accepted_per_depth


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
    """

    samples: Tensor
    calls: Ints
    rows: Ints
    seeds: Ints
    summary: Summary
    trajectory: Tensor | None = None
    log_prob: Tensor | None = None
    rounds: list[Info] | None = None
