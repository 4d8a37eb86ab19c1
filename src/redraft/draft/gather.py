"""Between host numbers and vectors on the device."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

__all__ = ["column", "pick"]

Ints = NDArray[np.int64]


def pick(values: Tensor, nodes: Ints) -> Tensor:
    """Return ``values[b, nodes[b, ...]]`` for (B, T, D) values and (B,) or (B, M) nodes."""
    batch, size, dim = values.shape
    if batch > 1:
        start = np.arange(0, batch * size, size)
        nodes = nodes + (start if nodes.ndim == 1 else start[:, None])
    index = torch.from_numpy(nodes.reshape(-1)).to(values.device)
    rows = values.reshape(batch * size, dim).index_select(0, index)
    return rows if nodes.ndim == 1 else rows.view(*nodes.shape, dim)


def column(values: NDArray[np.float64], like: Tensor) -> Tensor:
    """Return host numbers (...) as a factor (..., 1) of vectors like ``like``."""
    return torch.from_numpy(values).to(like.device, like.dtype).unsqueeze(-1)
