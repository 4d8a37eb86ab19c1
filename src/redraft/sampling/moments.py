r"""The pair at every node, in two numbers.

A decision needs :math:`\|f - g\|^2` at a node and :math:`\langle f - g, z \rangle` with the noise
z of each of its children: the state cancels, because draft and target mean differ by
:math:`b (f - g)`. The sums run in float64. The numbers are brought to the host once per
round; everything decided from them is decided there in float64, the same on every device.
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

__all__ = ["Moments", "moments", "side_by_side"]

Floats = NDArray[np.float64]

_TINY = 1e-30
"""Norms are at least this: where f = g the direction is then 0, and nothing overflows float32."""


class Moments(NamedTuple):
    """The pair at every node.

    Attributes:
        columns: (B, 3 T + S, D) float64 predictions f, drafted states, gaps f - g and noises, on
            the device.
        delta: (B, T) distance of the means in standard deviations; 0 on zero-noise steps; host.
        zeta: (B, S) part along of the noises of `Plan`, each seen from the node it leads on from.
        sign: (B, T) sign of b over the norm of f - g: the direction e is sign (f - g).
    """

    columns: Tensor
    delta: Floats
    zeta: Floats
    sign: Floats


def side_by_side(plan: Plan, f: Tensor, gap: Tensor) -> Tensor:
    """Return the vectors of a round as `Moments.columns`; float64, because the noises are."""
    return torch.cat((f, plan.draft.x, gap, plan.noise), dim=1)


def moments(sampler: Sampler, plan: Plan, f: Tensor) -> Moments:
    """Reduce predictions (B, T, D), guesses and noises to `Moments`."""
    tree, steps = plan.tree, sampler.steps
    columns = side_by_side(plan, f, f - plan.draft.guess)
    gap = columns.narrow(1, 2 * len(tree), len(tree))
    if tree.width <= 1:
        two = columns.narrow(1, 2 * len(tree), 2 * len(tree)).unflatten(1, (2, len(tree)))
        sums = (two * gap.unsqueeze(1)).sum(-1).cpu().numpy()
        square, inner = sums[:, 0], sums[:, 1]
    else:
        above = gap[:, torch.from_numpy(tree.parent[1:])]
        noise = columns.narrow(1, 3 * len(tree), len(tree) - 1)
        sums = torch.cat(((gap * gap).sum(-1), (above * noise).sum(-1)), dim=1).cpu().numpy()
        square, inner = sums[:, : len(tree)], sums[:, len(tree) :]
    norm = np.sqrt(square)
    sign = steps.sign[plan.place] / np.maximum(norm, _TINY)
    zeta = inner * (sign if tree.width <= 1 else sign[:, tree.parent[1:]])
    return Moments(columns, norm * steps.pull[plan.place], zeta, sign)
