"""Batched products in full precision.

States are made by these products, so they must not be rounded. In float64 they are out of reach of
what a process may have switched on for its model: autocast, TF32 and bfloat16 products all leave
float64 alone. A rounded product would move every draft off the mean that verification assumes.

Small ones on the CPU are left to NumPy, whose calls cost half as much. Its linear algebra would use
threads of its own for larger ones, in the way of torch's.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

__all__ = ["SMALL", "combine"]

SMALL = 2**18
"""Multiplications up to which NumPy's linear algebra starts no threads."""


def combine(factors: Tensor, *parts: Tensor) -> Tensor:
    """Return linear combinations of vectors.

    Args:
        factors: (B, I, K) float64.
        parts: Vectors (B, K_i, D) of any dtypes, sum of K_i = K, one at least in float64.

    Returns:
        (B, I, D) float64: the product of the factors with the parts below one another.
    """
    _, height, inner = factors.shape
    if factors.device.type == "cpu" and height * inner * parts[0].shape[-1] <= SMALL:
        vectors = np.concatenate([part.numpy() for part in parts], axis=1)
        return torch.from_numpy(np.matmul(factors.numpy(), vectors))
    vectors = parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)
    return torch.bmm(factors, vectors.to(torch.float64))
