r"""The pair at every node, in two numbers.

A decision needs :math:`\|f - g\|^2` at a node and :math:`\langle f - g, z \rangle` with the noise
z of each of its children: the state cancels, because draft and target mean differ by :math:`b (f - g)`.
These numbers are brought to the host once per round; everything decided from them is decided there
in float64, the same on every device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.sampling.state import Plan, State

if TYPE_CHECKING:
    from redraft.sampling.sampler import Sampler

__all__ = ["Moments", "moments"]

Floats = NDArray[np.float64]


class Moments(NamedTuple):
    """The pair at every node; host arrays.

    Attributes:
        delta: (B, T) distance of the means in standard deviations; 0 on zero-noise steps.
        zeta: (B, T) part along of each node's incoming noise; 0 for the root.
        sign: (B, T) sign of b over the norm of f - g, 0 if that is 0: e is sign (f - g).
    """

    delta: Floats
    zeta: Floats
    sign: Floats


def moments(sampler: Sampler, state: State, plan: Plan, f: Tensor) -> Moments:
    """Reduce predictions (B, T, D), guesses and noises to `Moments`."""
    tree = plan.tree
    gap = f - plan.draft.guess
    square = (gap * gap).sum(-1, dtype=torch.float64).cpu().numpy()
    norm = np.sqrt(square)
    pull = sampler.steps.pull[plan.place]
    sign = np.divide(np.sign(pull), norm, out=np.zeros_like(norm), where=norm > 0.0)
    with np.errstate(invalid="ignore"):
        delta = norm * np.abs(pull)
    zeta = np.zeros_like(norm)
    if len(tree) > 1:
        if tree.width <= 1:
            above, scale = gap[:, :-1], sign[:, :-1]
        else:
            above, scale = gap[:, torch.from_numpy(tree.parent[1:])], sign[:, tree.parent[1:]]
        inner = (above * plan.noise).sum(-1, dtype=torch.float64).cpu().numpy()
        with np.errstate(invalid="ignore"):
            zeta[:, 1:] = inner * scale
    return Moments(delta, zeta, sign)
