r"""The excess algebra: everything a verifier needs to know about a pair of laws.

At every node of a draft tree there is a draft law :math:`P` and a target law :math:`Q`. For weights
:math:`\rho, \lambda \ge 0` every verifier of this package is written over three operations,

.. math::
    \log r(y) &= \log \frac{dQ}{dP}(y) \\
    E(\rho, \lambda) &= \int (\rho\,Q - \lambda\,P)_+ \\
    y &\sim (\rho\,Q - \lambda\,P)_+ / E(\rho, \lambda)

so one verifier serves Gaussian states and tokens alike.
"""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

__all__ = ["Pair"]


class Pair(Protocol):
    """Draft and target law at every node of a batch; ``...`` is the batch shape, e.g. (B, T)."""

    def log_ratio(self, child: Tensor) -> Tensor:
        """Return log dQ/dP at ``child`` (..., K), K values offered at each node."""
        ...

    def excess(self, rho: Tensor, lam: Tensor) -> Tensor:
        """Return the mass of (rho Q - lam P)_+, shape (...), for weights of shape (...)."""
        ...

    def sample_excess(self, rho: Tensor, lam: Tensor, uniform: Tensor) -> Tensor:
        """Return one value of the law (rho Q - lam P)_+ / excess, driven by ``uniform`` (...)."""
        ...
