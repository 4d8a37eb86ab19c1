r"""The pair at every node, in two numbers.

The distance of the two means in standard deviations, :math:`\delta = |b| \|f - g\| / \mathrm{std}`,
and the part along of each child's noise, :math:`\zeta = \mathrm{sign}(b) \langle f - g, z \rangle
/ \|f - g\|`. Everything decided from them is decided on the host in float64, the same on every
device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from redraft.sampling.state import Plan
from redraft.sampling.vectors import Vectors, gather_vectors

if TYPE_CHECKING:
    from redraft.sampling.sampler import Sampler

__all__ = ["TINY", "Moments", "moments"]

Floats = NDArray[np.float64]

TINY = 1e-30
"""Norms are at least this: where f = g the direction is then 0, and nothing overflows float32."""


class Moments(NamedTuple):
    """The pair at every node.

    Attributes:
        vectors: Predictions f, drafted states, gaps f - g and noises, where they are.
        delta: (B, T) distance of the means in standard deviations; 0 on zero-noise steps; host.
        zeta: (B, S) part along of the noises of `Plan`, each seen from the node it leads on from.
        sign: (B, T) sign of b over the norm of f - g: the direction e is sign (f - g).
    """

    vectors: Vectors
    delta: Floats
    zeta: Floats
    sign: Floats


def moments(sampler: Sampler, plan: Plan, f: Tensor) -> Moments:
    """Reduce predictions (B, T, D), guesses and noises to `Moments`."""
    tree, windows = plan.tree, sampler.windows
    vectors = gather_vectors(plan, f)
    square, inner = vectors.sums(tree)
    norm = np.sqrt(square)
    sign = windows.sign.read(plan.step, tree) / np.maximum(norm, TINY)
    zeta = inner * (sign if tree.width <= 1 else sign[:, tree.parent[1:]])
    return Moments(vectors, norm * windows.pull.read(plan.step, tree), zeta, sign)
