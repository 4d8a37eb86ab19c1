r"""The excess algebra: everything a verifier needs to know about a pair of laws.

At every node of a draft tree there is a draft law :math:`P` and a target law :math:`Q`. For weights
:math:`\rho, \lambda \ge 0` every verifier of this package is written over three operations,

.. math::
    \log r(y) &= \log \frac{dQ}{dP}(y) \\
    E(\rho, \lambda) &= \int (\rho\,Q - \lambda\,P)_+ \\
    y &\sim (\rho\,Q - \lambda\,P)_+ / E(\rho, \lambda)

so one verifier serves Gaussian states and tokens alike. The laws may live on any device; the
answers are a few numbers per node, float64 on the host, where decisions are made.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Pair"]

Floats = NDArray[np.float64]


class Pair(Protocol):
    """Draft and target law at every node of a batch; ``...`` is the batch shape, e.g. (B, T)."""

    def log_ratio(self, child: NDArray[Any]) -> Floats:
        """Return log dQ/dP at ``child`` (..., K), K values offered at each node."""
        ...

    def excess(self, rho: Floats, lam: Floats) -> Floats:
        """Return the mass of (rho Q - lam P)_+, shape (...), for weights of shape (...)."""
        ...

    def sample_excess(self, rho: Floats, lam: Floats, uniform: Floats) -> NDArray[Any]:
        """Return one value of the law (rho Q - lam P)_+ / excess, driven by ``uniform`` (...)."""
        ...
