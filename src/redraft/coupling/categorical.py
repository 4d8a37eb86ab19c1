r"""Two laws on a finite vocabulary.

.. math::
    r(y) = q_y / p_y, \qquad E(\rho, \lambda) = \sum_v (\rho\,q_v - \lambda\,p_v)_+

The three operations are sums over the vocabulary; they serve token trees, and they make exact
enumeration tests of every verifier possible.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.coupling.pair import Floats

__all__ = ["CategoricalPair"]


class CategoricalPair(NamedTuple):
    """Draft and target probabilities at every node.

    Attributes:
        p: Draft probabilities (..., V), summing to one over V.
        q: Target probabilities (..., V), summing to one over V.
    """

    p: Tensor
    q: Tensor

    def log_ratio(self, child: NDArray[np.int64]) -> Floats:
        """Return log(q / p) at the tokens ``child`` (..., K); p must be positive there."""
        token = torch.from_numpy(child).to(self.p.device)
        ratio = torch.log(self.q.gather(-1, token)) - torch.log(self.p.gather(-1, token))
        return _host(ratio)

    def excess(self, rho: Floats, lam: Floats) -> Floats:
        """Return the sum over the vocabulary of (rho q - lam p)_+, shape (...)."""
        return _host(self._surplus(rho, lam).sum(-1))

    def sample_excess(self, rho: Floats, lam: Floats, uniform: Floats) -> NDArray[np.int64]:
        """Return a token (...) of the law (rho q - lam p)_+ / excess, by inverse distribution."""
        mass = self._surplus(rho, lam).cumsum(-1)
        goal = torch.as_tensor(uniform).to(mass).unsqueeze(-1) * mass[..., -1:]
        token = torch.searchsorted(mass, goal, right=True).squeeze(-1)
        return token.clamp_max(mass.shape[-1] - 1).cpu().numpy()

    def _surplus(self, rho: Floats, lam: Floats) -> Tensor:
        weights = (torch.as_tensor(value).to(self.p).unsqueeze(-1) for value in (rho, lam))
        of_q, of_p = weights
        return (of_q * self.q - of_p * self.p).clamp_min(0.0)


def _host(values: Tensor) -> Floats:
    return values.to("cpu", torch.float64).numpy()
