"""Noises of attempt 0, computed for a block of coming steps at once.

Noise is a pure function of its key, so when it is computed does not matter: this is a cache that
turns many small evaluations into one large one. On a chain with recycled drafts every step is
driven by its attempt 0, and so is every step of plain sampling.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.draft.gather import pick
from redraft.sampling import noise

__all__ = ["Lookahead", "look_ahead"]

Ints = NDArray[np.int64]
_ENTRIES = 2**20
_STEPS = 320


class Lookahead(NamedTuple):
    """Attempt 0 of the steps first..first+S-1 of every sample.

    Attributes:
        first: (B,) first step of each sample's block.
        normal: (B, S, D) draft noises, float64.
        coin: (B, S + 1) float64 uniforms of the decisions of steps first-1..first+S-1.
    """

    first: Ints
    normal: Tensor
    coin: NDArray[np.float64]

    def covers(self, step: Ints, count: int) -> bool:
        """Whether the steps step..step+count-1 of every sample lie in its block."""
        offset = step - self.first
        if len(offset) == 1:
            return 0 <= int(offset[0]) <= self.normal.shape[1] - count
        return int(offset.max()) + count <= self.normal.shape[1] and int(offset.min()) >= 0

    def read(self, step: Ints, count: int) -> tuple[Tensor, NDArray[np.float64]]:
        """Return the noises of steps step..step+count-1 and the coins of the steps before each.

        Returns:
            Normals (B, count, D), and uniforms (B, count) of steps step-1..step+count-2.
        """
        offset = step - self.first
        if len(offset) == 1:
            start = int(offset[0])
            return self.normal.narrow(1, start, count), self.coin[:, start : start + count]
        place = offset[:, None] + np.arange(count)
        return pick(self.normal, place), np.take_along_axis(self.coin, place, axis=1)

    def take(self, kept: Ints) -> Lookahead:
        """Return the block of the samples ``kept``."""
        index = torch.from_numpy(kept).to(self.normal.device)
        return Lookahead(self.first[kept], self.normal[index], self.coin[kept])


def look_ahead(
    old: Lookahead | None,
    draft: noise.Keys,
    decide: noise.Keys,
    step: Ints,
    count: int,
    total: int,
    like: Tensor,
) -> Lookahead:
    """Return a block that covers the next ``count`` steps, ``old`` if it does.

    Args:
        old: The block so far.
        draft: (B,) keys of the draft stream.
        decide: (B,) keys of the decision stream.
        step: (B,) first steps wanted.
        count: Steps wanted.
        total: Steps of the chain; a block reaches at most ``count`` steps past them.
        like: (B, D) states, for size and device.
    """
    if old is not None and old.covers(step, count):
        return old
    batch, dim = like.shape
    left = total - int(step.min()) + count  # samples ahead of others may look past the end
    size = max(count, min(_STEPS, _ENTRIES // max(batch * dim, 1), left))
    ahead = step[:, None] + np.arange(size)
    normal = noise.normal(draft[:, None], ahead, 0, dim, like.device)
    around = np.maximum(step[:, None] + np.arange(-1, size), 0)
    coin = noise.uniform(decide[:, None], around, 0)
    return Lookahead(step.copy(), normal, coin)
