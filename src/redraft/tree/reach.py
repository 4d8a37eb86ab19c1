r"""How far a chain of drafts gets: expected commits of a round, expected calls of a run.

With :math:`A(m, j)` the chance that a draft below a node at chain step m and depth j is accepted,
given that it is tried, a round from step n reaches depth d with probability :math:`\prod_{j<d}
A(n + j, j)`, its *reach*, and commits one state more than the depth it ends at. A run of N steps in
rounds of at most M rows then needs :math:`V(0)` calls,

.. math::
    V(n) = 1 + \sum_{d < M} P(\text{the round from } n \text{ ends at depth } d)\, V(n + d + 1),
    \qquad V(N) = 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["expected_calls", "reaches"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def reaches(acceptance: Floats, step: int, limit: int) -> Floats:
    """Return the reach of depths 0..limit of a chain from ``step``.

    Args:
        acceptance: (N, H) chance by step and depth of the node above.
        step: Where the root stands.
        limit: Depth of the draft, at most H.
    """
    level = np.arange(limit)
    return np.concatenate(([1.0], np.cumprod(acceptance[step + level, level])))


def expected_calls(acceptance: Floats, limit: Ints) -> float:
    """Return the calls that a run is expected to take, the first one included.

    Args:
        acceptance: (N, H) chance by step and depth of the node above.
        limit: (N,) depth of the draft from each step; each ends at the last step at most.
    """
    total = len(acceptance)
    value = np.zeros(total + 1)
    for n in range(total - 1, -1, -1):
        reach = np.append(reaches(acceptance, n, int(limit[n])), 0.0)
        value[n] = 1.0 + (reach[:-1] - reach[1:]) @ value[n + 1 : n + len(reach)]
    return float(value[0])
