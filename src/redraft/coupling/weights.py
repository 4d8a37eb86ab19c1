r"""Weights of the ranks for ranked verification: a table over distances for each K.

The r-th smallest of K i.i.d. N(0, 1) has the density :math:`\varphi\,B_r(\Phi)`, :math:`B_r(u) = K
\binom{K-1}{r-1} u^{r-1} (1 - u)^{K-r}`. Rank r with probability :math:`\lambda_r` gives
:math:`g_\lambda = \varphi \sum_r \lambda_r B_r(\Phi)`, and the weights should maximise what can be
accepted,

.. math:: A(\lambda) = \int \min(f, g_\lambda) = \int f \min(1, g_\lambda / f),

which is concave on the simplex. Here min(1, x) is rounded off to :math:`(1 + x - \sqrt{(1 - x)^2 +
\epsilon^2}) / 2`, a logarithmic barrier keeps weights positive, and Newton steps follow the maximum
down to a small :math:`\epsilon`, for all distances of the table at once.

*Any* weights are exact, as long as acceptance and recovery use the same ones. So a table will do,
with straight lines between its distances: from equal weights at delta = 0, where every rule
accepts, to the largest child only from delta = 8 on.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from redraft.coupling.normal import ndtr, phi
from redraft.coupling.pair import Floats

__all__ = ["rank_weights"]

DISTANCES = np.concatenate(([0.0], np.geomspace(0.02, 8.0, 49)))
"""Distances of the table."""

_POINTS = 400
_ROUNDINGS = 10.0 ** -np.arange(1.0, 3.6, 0.5)
_MOST_STEPS = 8
_MOST_HALVINGS = 12
_ENOUGH = 1e-6
_SMALLEST = 1e-4


def rank_weights(delta: Floats, count: int) -> Floats:
    """Return the weights (n, K) of the ranks, lowest first, at distances (n,)."""
    table = _table(count)
    place = np.clip(np.searchsorted(DISTANCES, delta, side="right") - 1, 0, len(DISTANCES) - 2)
    start, end = DISTANCES[place], DISTANCES[place + 1]
    share = np.clip((delta - start) / (end - start), 0.0, 1.0)[:, None]
    return table[place] + share * (table[place + 1] - table[place])


@lru_cache(maxsize=64)
def _table(count: int) -> Floats:
    """Return the weights (distances, K), read-only."""
    table = np.zeros((len(DISTANCES), count))
    table[0], table[-1, -1] = 1.0 / count, 1.0
    found = _best(DISTANCES[1:-1], count)
    found = np.where(found < _SMALLEST, 0.0, found)
    table[1:-1] = found / found.sum(axis=1, keepdims=True)
    table.flags.writeable = False
    return table


def _bernstein(degree: int, u: Floats, v: Floats) -> Floats:
    """Return binom(degree, j) u^j v^(degree - j), j = 0..degree, shape (..., degree + 1)."""
    j = np.arange(degree + 1)
    choose = np.array([float(math.comb(degree, i)) for i in j])
    return choose * u[..., None] ** j * v[..., None] ** (degree - j)


def _best(delta: Floats, count: int) -> Floats:
    """Return weights (n, K) that maximise A, by Newton steps on the simplex."""
    low, width = np.maximum(-8.0, delta - 8.0)[:, None], (16.0 - np.maximum(0.0, delta))[:, None]
    s = low + np.abs(width) * (np.arange(_POINTS) + 0.5) / _POINTS
    mass = phi(s - delta[:, None]) * width / _POINTS
    ratio = count * _bernstein(count - 1, ndtr(s), ndtr(-s))
    ratio *= np.exp(-delta[:, None] * (s - 0.5 * delta[:, None]))[..., None]
    weight, one = np.full((len(delta), count), 1.0 / count), np.ones((len(delta), count))
    diagonal = np.arange(count)

    def height(weight: Floats, rounding: float, barrier: float) -> Floats:
        x = 1.0 - (ratio @ weight[..., None])[..., 0]
        rounded = 1.0 - 0.5 * (x + np.sqrt(x * x + rounding**2))
        return (mass * rounded).sum(1) + barrier * np.log(weight).sum(1)

    for rounding in _ROUNDINGS:
        barrier = 1e-2 * rounding / count
        for _ in range(_MOST_STEPS):
            x = 1.0 - (ratio @ weight[..., None])[..., 0]
            root = np.sqrt(x * x + rounding**2)
            slope = ((0.5 * mass * (1.0 + x / root))[:, None] @ ratio)[:, 0] + barrier / weight
            bend = (0.5 * rounding**2 * mass / root**3)[..., None] * ratio
            curvature = ratio.transpose(0, 2, 1) @ bend
            curvature[:, diagonal, diagonal] += barrier / weight**2
            ahead, even = np.moveaxis(np.linalg.solve(curvature, np.stack((slope, one), -1)), -1, 0)
            step = ahead - even * (ahead.sum(1) / even.sum(1))[:, None]
            length = np.minimum(1.0, 0.9 / np.maximum(-step / weight, 1e-9).max(1))
            for _ in range(_MOST_HALVINGS):
                now = height(weight, rounding, barrier)
                worse = height(weight + length[:, None] * step, rounding, barrier) < now
                if not worse.any():
                    break
                length = np.where(worse, 0.5 * length, length)
            weight = weight + length[:, None] * step
            if (slope * step).sum(1).max() < _ENOUGH:
                break
    return weight
