"""The chain as a round sees it: every model call is a step.

A terminal call is a deterministic step of its own, x_{N+1} = 0 x_N + 1 f(x_N, terminal), so a round
that evaluates a row at x_N commits the sample without an extra call, and nothing else needs to know
about terminal levels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from redraft.chain.chain import Chain

__all__ = ["Steps"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps n = 0..total-1 of a chain, the terminal call included; float64, host.

    Attributes:
        level: (total,) what the model is told.
        a: (total,) factor of the state.
        b: (total,) factor of the prediction.
        std: (total,) standard deviation of the noise.
        pull: (total,) |b| / std, the draft distance delta per unit of f - g; 0 where std is 0.
        sign: (total,) sign of b; 0 where std is 0.
        reach: (total + 1,) levels of drafts that may stand below a state at step n: the run of
            noisy steps from n on, and never past the last call, because a state that needs no row
            is drawn from the target as well as drafted.
        alpha: (total,) signal scale, None if the chain has none.
        sigma: (total,) noise scale, None if the chain has none.
        name: Name of the chain.
    """

    level: Floats
    a: Floats
    b: Floats
    std: Floats
    pull: Floats
    sign: Floats
    reach: NDArray[np.int64]
    alpha: Floats | None
    sigma: Floats | None
    name: str

    @property
    def total(self) -> int:
        """Number of steps, which is the number of sequential calls."""
        return len(self.level)

    @cached_property
    def kernel(self) -> Floats:
        """(3, total) a, b and std together."""
        return np.stack((self.a, self.b, self.std))

    @staticmethod
    @lru_cache(maxsize=64)
    def of(chain: Chain) -> Steps:
        """Return the steps of ``chain``; one object per chain, so that tables can be shared."""
        a, b, std = (column.numpy() for column in (chain.a, chain.b, chain.std))
        if chain.terminal is not None:
            a, b, std = np.append(a, 0.0), np.append(b, 1.0), np.append(std, 0.0)
        total = len(a)
        reach = np.zeros(total + 1, dtype=np.int64)
        for n in range(total - 1, -1, -1):
            reach[n] = min(reach[n + 1] + 1, total - 1 - n) if std[n] > 0 else 0
        pull = np.divide(np.abs(b), std, out=np.zeros(total), where=std > 0)
        sign = np.where(std > 0, np.sign(b), 0.0)
        alpha = None if chain.alpha is None else chain.alpha.numpy()
        sigma = None if chain.sigma is None else chain.sigma.numpy()
        level = chain.call_levels.numpy()
        return Steps(level, a, b, std, pull, sign, reach, alpha, sigma, chain.name)
