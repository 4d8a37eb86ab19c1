"""The standard normal law in float64 on the host: density, distribution, their inverses."""

from __future__ import annotations

import math

import numpy as np
import torch

from redraft.coupling.pair import Floats

__all__ = ["log_ndtr", "ndtr", "ndtri", "phi"]


def phi(z: Floats) -> Floats:
    """Return the density of N(0, 1)."""
    return np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


def ndtr(z: Floats) -> Floats:
    """Return Phi(z), precise in the lower tail too, where torch.special.ndtr is not."""
    return 0.5 * torch.special.erfc(torch.as_tensor(z * -math.sqrt(0.5))).numpy()


def log_ndtr(z: Floats) -> Floats:
    """Return log Phi(z), finite however far out z is."""
    return torch.special.log_ndtr(torch.as_tensor(z)).numpy()


def ndtri(mass: Floats) -> Floats:
    """Return z with Phi(z) = mass."""
    return torch.special.ndtri(torch.as_tensor(mass)).numpy()
