r"""The pair at every node, in two numbers.

A decision needs :math:`\|f - g\|^2` at a node and :math:`\langle f - g, z \rangle` with the noise
z of each of its children: the state cancels, because draft and target mean differ by
:math:`b (f - g)`. The sums run in the dtype of the states, float32 or better.
These numbers are brought to the host once per round; everything decided from them is decided there
in float64, the same on every device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.sampling.state import Plan

if TYPE_CHECKING:
    from redraft.sampling.sampler import Sampler

__all__ = ["Moments", "moments"]

Floats = NDArray[np.float64]

_TINY = 1e-30
"""Norms are at least this: where f = g the direction is then 0, and nothing overflows float32."""


class Moments(NamedTuple):
    """The pair at every node; host arrays, except the vectors they come from.

    Attributes:
        gap: (B, T, D) prediction less guess, f - g.
        delta: (B, T) distance of the means in standard deviations; 0 on zero-noise steps.
        zeta: (B, S) part along of the noises of `Plan`, each seen from the node it leads on from.
        sign: (B, T) sign of b over the norm of f - g: the direction e is sign (f - g).
    """

    gap: Tensor
    delta: Floats
    zeta: Floats
    sign: Floats


def moments(sampler: Sampler, plan: Plan, f: Tensor) -> Moments:
    """Reduce predictions (B, T, D), guesses and noises to `Moments`."""
    tree, steps = plan.tree, sampler.steps
    gap = f - plan.draft.guess
    square = torch.linalg.vecdot(gap, gap)
    above = gap if tree.width <= 1 else gap[:, torch.from_numpy(tree.parent[1:])]
    inner = torch.linalg.vecdot(above, plan.noise)
    norm = np.sqrt(square.cpu().numpy().astype(np.float64))
    sign = steps.sign[plan.place] / np.maximum(norm, _TINY)
    zeta = inner.cpu().numpy() * (sign if tree.width <= 1 else sign[:, tree.parent[1:]])
    return Moments(gap, norm * steps.pull[plan.place], zeta, sign)
