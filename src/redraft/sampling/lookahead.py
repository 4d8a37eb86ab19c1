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

from redraft.sampling import noise

__all__ = ["Lookahead", "look_ahead"]

Ints = NDArray[np.int64]
_ENTRIES = 2**20
_STEPS = 64


class Lookahead(NamedTuple):
    """Attempt 0 of the steps first..first+S-1 of every sample.

    Attributes:
        first: (B,) first step of each sample's block.
        normal: (B, S, D) draft noises in the state dtype.
        coin: (B, S + 1) float64 uniforms of the decisions of steps first-1..first+S-1.
    """

    first: Ints
    normal: Tensor
    coin: NDArray[np.float64]

    def covers(self, step: Ints, count: int) -> bool:
        """Whether the steps step..step+count-1 of every sample lie in its block."""
        return bool((step >= self.first).all()) and bool(
            (step + count <= self.first + self.normal.shape[1]).all()
        )

    def normals(self, step: Ints, count: int) -> Tensor:
        """Return the noises (B, count, D) of steps step..step+count-1."""
        offset = step - self.first
        if len(offset) == 1:
            return self.normal[:, int(offset[0]) : int(offset[0]) + count]
        place = torch.from_numpy(offset[:, None] + np.arange(count)).to(self.normal.device)
        sample = torch.arange(len(offset), device=place.device)[:, None]
        return self.normal[sample, place]

    def coins(self, step: Ints, count: int) -> NDArray[np.float64]:
        """Return the uniforms (B, count) of steps step..step+count-1; step may be first - 1."""
        offset = step - self.first + 1
        if len(offset) == 1:
            return self.coin[:, int(offset[0]) : int(offset[0]) + count]
        return np.take_along_axis(self.coin, offset[:, None] + np.arange(count), axis=1)

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
    like: Tensor,
) -> Lookahead:
    """Return a block that covers the next ``count`` steps, ``old`` if it does.

    Args:
        old: The block so far.
        draft: (B,) keys of the draft stream.
        decide: (B,) keys of the decision stream.
        step: (B,) first steps wanted.
        count: Steps wanted.
        like: (B, D) states, for size, dtype and device.
    """
    if old is not None and old.covers(step, count):
        return old
    batch, dim = like.shape
    size = max(count, min(_STEPS, _ENTRIES // max(batch * dim, 1)))
    ahead = step[:, None] + np.arange(size)
    normal = noise.normal(draft[:, None], ahead, 0, dim, like.device)
    around = np.maximum(step[:, None] + np.arange(-1, size), 0)
    coin = noise.uniform(decide[:, None], around, 0)
    return Lookahead(step.copy(), normal.to(like.dtype), coin)
