"""What one round did, in the field's words; computed when asked."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from redraft.draft.calibration import Evidence

__all__ = ["Info"]

Ints = NDArray[np.int64]


class Info(NamedTuple):
    """What one round did. Depth counts from the root; per-depth entries start at depth 1.

    Attributes:
        owner: (B,) samples that took part.
        step: (B,) step of their committed states before the round.
        depth: (B,) depth at which the committed path ended, -1 if the round only asked the target
            at the root.
        limit: (B,) depth of each sample's draft, -1 likewise.
        recovered: (B,) whether the state after the path was recovered (else it is a bonus).
        height: Depth of the full tree, H.
        num_drafts: Drafted states that were verified.
        num_draft_rows: Rows evaluated.
        num_draft_calls: Calls of a cheap model.
        path_delta: (B, H + 1) draft distance delta at the visited nodes by depth, NaN elsewhere.
        states: (B, H + 1, D) committed states in order, entries past num_committed unused; None
            unless recorded.
        log_prob: (B, H + 1) float64 log-densities of these states under the target, 0 for
            zero-noise steps; None unless recorded.
        evidence: What the round teaches a calibrated drafter; None unless recorded.
    """

    owner: Ints
    step: Ints
    depth: Ints
    limit: Ints
    recovered: NDArray[np.bool_]
    height: int
    num_drafts: int
    num_draft_rows: int
    num_draft_calls: int
    path_delta: NDArray[np.float64] | None = None
    states: Tensor | None = None
    log_prob: NDArray[np.float64] | None = None
    evidence: Evidence | None = None

    @property
    def num_committed(self) -> Ints:
        """(B,) states committed: accepted drafts and the recovered or bonus state."""
        return self.depth + 1

    @property
    def num_accepted(self) -> int:
        """Drafts accepted."""
        return int(np.maximum(self.depth, 0).sum())

    @property
    def num_recovered(self) -> int:
        """States drawn from an excess after a rejection."""
        return int(self.recovered.sum())

    @property
    def num_bonus(self) -> int:
        """States drawn from the target itself after the last accepted draft."""
        return int((self.depth >= 0).sum()) - self.num_recovered

    @property
    def tried_per_depth(self) -> Ints:
        """(H,) samples whose path reached depth d - 1 and went on to try depth d."""
        levels = np.arange(1, self.height + 1)
        return ((self.depth[:, None] >= levels - 1) & (self.limit[:, None] >= levels)).sum(axis=0)

    @property
    def accepted_per_depth(self) -> Ints:
        """(H,) samples whose path reached depth d."""
        return (self.depth[:, None] >= np.arange(1, self.height + 1)).sum(axis=0)

    @property
    def delta_per_depth(self) -> NDArray[np.float64]:
        """(H,) mean distance of the pairs that decided on depth d; NaN where none did.

        Raises:
            ValueError: If distances were not recorded.
        """
        if self.path_delta is None:
            raise ValueError("distances were not recorded; use rounds=True")
        decided = self.path_delta[:, : self.height]
        seen = ~np.isnan(decided)
        total = np.where(seen, decided, 0.0).sum(axis=0)
        count = seen.sum(axis=0)
        return np.divide(total, count, out=np.full(self.height, np.nan), where=count > 0)
