"""Batched products in full precision.

States are made by these products, so they must not be rounded. In float64 they are out of reach of
what a process may have switched on for its model: autocast, TF32 and bfloat16 products all leave
float64 alone. A rounded product would move every draft off the mean that verification assumes.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["product"]


def product(left: Tensor, right: Tensor, dtype: torch.dtype) -> Tensor:
    """Return left (B, I, K), float64, times right (B, K, D), computed in float64, as ``dtype``."""
    return torch.bmm(left, right.to(torch.float64)).to(dtype)
