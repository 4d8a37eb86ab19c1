"""Batched products in full precision.

States are made by these products, so they must not be rounded. A process that lets its model use
TF32 or bfloat16 products (``torch.set_float32_matmul_precision("high")``) would otherwise move
every draft off the mean that verification assumes.
"""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["product"]


def product(left: Tensor, right: Tensor) -> Tensor:
    """Return left (B, I, K) times right (B, K, D) in the precision of their dtype."""
    allowed = torch.get_float32_matmul_precision()
    if allowed == "highest":
        return torch.bmm(left, right)
    torch.set_float32_matmul_precision("highest")
    try:
        return torch.bmm(left, right)
    finally:
        torch.set_float32_matmul_precision(allowed)
