r"""Look-up of alpha and sigma by level, on the device where the rows are.

The model is told float32 levels, so a level is known when it is within 1e-6 relative of one in the
table (float32 rounding is 6e-8). Level l_k is given the interval from l_k - tolerance (excluded) to
l_k + tolerance, cut at the midpoints to its neighbours. With the intervals' ends in one ascending
list, one binary search tells everything: an odd index 2k+1 is inside interval k, an even one is
between two intervals, where the scales are NaN. Four tensor operations, and none waits for an
accelerator.

References:
    - Elucidating the Design Space of Diffusion-Based Generative Models, table 1 (schedule and
      scaling as functions of the level), https://arxiv.org/abs/2206.00364
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

RELATIVE_TOLERANCE = 1e-6
SMALLEST_TOLERANCE = 1e-30  # so that level 0 has an interval too


class LevelTable(NamedTuple):
    """M levels and their scales, float64.

    Attributes:
        bounds: (2M,) ends of the intervals around the levels, ascending.
        alpha: (2M+1,) signal scales; entry 2k+1 is that of the k-th smallest level, the others NaN.
        sigma: (2M+1,) noise scales, likewise.
    """

    bounds: Tensor
    alpha: Tensor
    sigma: Tensor

    @classmethod
    def build(cls, level: Tensor, alpha: Tensor, sigma: Tensor) -> LevelTable:
        """Table of (M,) levels in any order and their scales.

        Raises:
            ValueError: If equal levels have different scales.
        """
        level, order = level.sort()
        alpha, sigma = alpha[order], sigma[order]
        clash = ((level.diff() == 0) & ((alpha.diff() != 0) | (sigma.diff() != 0))).nonzero()
        if len(clash):
            twice = level[clash[0]].item()
            raise ValueError(f"level {twice:.9g} occurs twice with different alpha or sigma")
        tolerance = (RELATIVE_TOLERANCE * level.abs()).clamp(min=SMALLEST_TOLERANCE)
        bounds = torch.stack([level - tolerance, level + tolerance], 1)
        middle = (level[1:] + level[:-1]) / 2
        bounds[1:, 0] = bounds[1:, 0].maximum(middle)
        bounds[:-1, 1] = bounds[:-1, 1].minimum(middle)
        scales = torch.full((2, 2 * len(level) + 1), float("nan"), dtype=level.dtype)
        scales[:, 1::2] = torch.stack([alpha, sigma])
        return cls(bounds.flatten(), scales[0], scales[1])

    def to(self, device: torch.device) -> LevelTable:
        """The same table on another device."""
        return LevelTable(*(column.to(device) for column in self))

    def find(self, level: Tensor) -> tuple[Tensor, Tensor]:
        """(alpha, sigma), float64, of `level`'s shape; NaN where the level is unknown."""
        index = torch.searchsorted(self.bounds, level.to(torch.float64).contiguous())
        return self.alpha.take(index), self.sigma.take(index)
