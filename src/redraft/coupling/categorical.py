r"""Two laws on a finite vocabulary.

.. math::
    r(y) = q_y / p_y, \qquad E(\rho, \lambda) = \sum_v (\rho\,q_v - \lambda\,p_v)_+

The three operations are sums over the vocabulary; they serve token trees, and they make exact
enumeration tests of every verifier possible.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["CategoricalPair"]


class CategoricalPair(NamedTuple):
    """Draft and target probabilities at every node.

    Attributes:
        p: Draft probabilities (..., V), summing to one over V.
        q: Target probabilities (..., V), summing to one over V.
    """

    p: Tensor
    q: Tensor

    def log_ratio(self, child: Tensor) -> Tensor:
        """Return log(q / p) at the tokens ``child`` (..., K), int64; p must be positive there."""
        return torch.log(self.q.gather(-1, child)) - torch.log(self.p.gather(-1, child))

    def excess(self, rho: Tensor, lam: Tensor) -> Tensor:
        """Return the sum over the vocabulary of (rho q - lam p)_+, shape (...)."""
        return self._surplus(rho, lam).sum(-1)

    def sample_excess(self, rho: Tensor, lam: Tensor, uniform: Tensor) -> Tensor:
        """Return a token (...) of the law (rho q - lam p)_+ / excess, by inverse distribution."""
        mass = self._surplus(rho, lam).cumsum(-1)
        goal = uniform.unsqueeze(-1) * mass[..., -1:]
        return torch.searchsorted(mass, goal, right=True).squeeze(-1).clamp_max(mass.shape[-1] - 1)

    def _surplus(self, rho: Tensor, lam: Tensor) -> Tensor:
        return (rho.unsqueeze(-1) * self.q - lam.unsqueeze(-1) * self.p).clamp_min(0.0)
