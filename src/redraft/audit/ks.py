"""Kolmogorov-Smirnov statistics per column, exact in the presence of atoms and ties.

    one sample   D = sup_x |F_n(x) - F(x)|        two samples   D = sup_x |F_n(x) - G_m(x)|

Empirical functions jump at sample values only, so the supremum is attained at a distinct value v or
just to its left. Tied values are one jump: inside a group of equal values nothing is compared. To
the left of an atom F is taken at the next smaller float64, so a cdf with steps must place them at
the exact float64 values of the samples, and compute in float64.

References:
    Massart, "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Ann. Probab. 18
    (1990): the bound these statistics are compared with, valid for laws with atoms.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

__all__ = ["ks_one_sample", "ks_two_sample"]

_CHUNK_ELEMENTS = 1 << 23


def ks_one_sample(samples: Tensor, cdf: Callable[[Tensor], Tensor]) -> Tensor:
    """Distance of each column from its cdf.

    Args:
        samples: (num, columns) draws, finite.
        cdf: Maps float64 (num, columns) values to P(X <= value), column by column.

    Returns:
        (columns,) float64 statistics in [0, 1].

    Raises:
        ValueError: If the cdf returns another shape, or values that are not probabilities.
    """
    ordered = samples.to(torch.float64).sort(dim=0).values
    num = ordered.shape[0]
    rank = torch.arange(num + 1, dtype=torch.float64)[:, None] / num
    starts, ends = _tie_groups(ordered)
    below = torch.nextafter(ordered, torch.tensor(-math.inf, dtype=torch.float64))
    at = ((rank[1:] - _probability(cdf, ordered)).abs() * ends).amax(dim=0)
    left = ((rank[:-1] - _probability(cdf, below)).abs() * starts).amax(dim=0)
    return torch.maximum(at, left)


def ks_two_sample(a: Tensor, b: Tensor) -> Tensor:
    """Distance between the columns of two samples, in integer arithmetic up to one division.

    Args:
        a: (n, columns) draws, finite.
        b: (m, columns) draws, finite; ties with `a` are values that are equal bit by bit.

    Returns:
        (columns,) float64 statistics in [0, 1].
    """
    width = max(1, _CHUNK_ELEMENTS // (len(a) + len(b)))
    pairs = zip(a.split(width, dim=1), b.split(width, dim=1), strict=True)
    return torch.cat([_two_sample_chunk(left, right) for left, right in pairs])


def _two_sample_chunk(a: Tensor, b: Tensor) -> Tensor:
    n, m = len(a), len(b)
    pooled = torch.cat([a, b]).to(torch.float64).T.contiguous()
    ordered, origin = pooled.sort(dim=1)
    jumps = torch.where(origin < n, m, -n)
    _, ends = _tie_groups(ordered.T)
    return (jumps.cumsum(dim=1).abs() * ends.T).amax(dim=1).to(torch.float64) / (n * m)


def _tie_groups(ordered: Tensor) -> tuple[Tensor, Tensor]:
    """Masks of the first and of the last member of each run of equal values along dim 0."""
    change = ordered[1:] != ordered[:-1]
    edge = torch.ones_like(ordered[:1], dtype=torch.bool)
    return torch.cat([edge, change]), torch.cat([change, edge])


def _probability(cdf: Callable[[Tensor], Tensor], values: Tensor) -> Tensor:
    prob = cdf(values)
    if prob.shape != values.shape:
        raise ValueError(
            f"cdf must keep the shape {tuple(values.shape)}, got {tuple(prob.shape)}; "
            "broadcast it over the columns"
        )
    prob = prob.to(torch.float64)
    if not bool(((prob >= -1e-12) & (prob <= 1 + 1e-12)).all()):
        low, high = float(prob.min()), float(prob.max())
        raise ValueError(f"cdf must return probabilities, got values in [{low}, {high}]")
    return prob
