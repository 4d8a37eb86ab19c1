r"""Noise schedules: how the levels of a chain are spaced.

Karras et al. place the levels evenly in sigma^(1/rho): with u_i = i/n,

    sigma_i = ( sigma_max^(1/rho) + u_i (sigma_min^(1/rho) - sigma_max^(1/rho)) )^rho,   i = 0..n

rho = 1 is an even spacing; a larger rho puts more steps at small sigma, where the image's detail is
decided. rho = 7 is their choice. Schedules are float64: neighbouring levels may differ by little.

References:
    - Elucidating the Design Space of Diffusion-Based Generative Models, eq. 5,
      https://arxiv.org/abs/2206.00364
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Protocol, TypeAlias

import torch
from torch import Tensor


class Array(Protocol):
    """A NumPy array or a torch tensor, on any device and of any dtype."""

    def tolist(self) -> object:
        """Its values as (nested) Python numbers."""
        ...


Values: TypeAlias = Sequence[float] | Array


def karras(n: int, sigma_max: float, sigma_min: float, rho: float = 7.0) -> Tensor:
    """Levels evenly spaced in sigma^(1/rho), from sigma_max to sigma_min.

    Args:
        n: Number of steps between the levels, >= 1.
        sigma_max: First level.
        sigma_min: Last level, > 0. For a chain that ends at 0, append it: ``[*karras(...), 0.0]``.
        rho: Exponent, > 0.

    Returns:
        (n+1,) float64, strictly decreasing; its ends are exactly sigma_max and sigma_min.

    Raises:
        ValueError: If n < 1, or rho is not positive and finite, or sigma_max > sigma_min > 0 is
            not the case.

    References:
        Karras et al. 2022, eq. 5, https://arxiv.org/abs/2206.00364
    """
    if n < 1:
        raise ValueError(f"n must be at least 1 step, got {n}")
    if not inf > sigma_max > sigma_min > 0:
        raise ValueError(
            f"need inf > sigma_max > sigma_min > 0, got sigma_max = {sigma_max}, "
            f"sigma_min = {sigma_min}; to end at 0, append it to the levels"
        )
    if not inf > rho > 0:
        raise ValueError(f"rho must be positive and finite, got {rho}")
    u = torch.linspace(0, 1, n + 1, dtype=torch.float64)
    first, last = sigma_max ** (1 / rho), sigma_min ** (1 / rho)
    sigmas = (first + u * (last - first)) ** rho
    sigmas[0], sigmas[-1] = sigma_max, sigma_min
    return sigmas


def as_schedule(values: Values, name: str) -> Tensor:
    """A 1-D float64 CPU copy of the user's list, NumPy array or tensor.

    Raises:
        TypeError: If it does not hold real numbers.
        ValueError: If it is not 1-D, is empty, or has a value that is not finite.
    """
    try:
        numbers = list(values) if isinstance(values, Sequence) else values.tolist()
        schedule = torch.tensor(numbers, dtype=torch.float64)
    except (AttributeError, TypeError, ValueError, RuntimeError) as error:
        raise TypeError(
            f"{name} must be a flat list, array or tensor of real numbers, got {values!r}"
        ) from error
    if schedule.ndim != 1:
        raise ValueError(f"{name} must be 1-D, got shape {tuple(schedule.shape)}")
    if len(schedule) == 0:
        raise ValueError(f"{name} is empty")
    check_each(schedule, schedule.isfinite(), name, "be finite")
    return schedule


def check_each(values: Tensor, valid: Tensor, name: str, rule: str) -> None:
    """Raise ValueError "{name} must {rule}, got {name}[n] = ..." at the first invalid entry."""
    bad = (~valid).nonzero()
    if len(bad):
        n = int(bad[0])
        raise ValueError(f"{name} must {rule}, got {name}[{n}] = {values[n].item():.9g}")


def check_decreasing(schedule: Tensor, name: str, strictly: bool, hint: str = "") -> None:
    """Raise ValueError naming the first pair of neighbours that does not decrease."""
    step = schedule.diff()
    bad = (step >= 0 if strictly else step > 0).nonzero()
    if len(bad):
        n = int(bad[0])
        here, after = schedule[n].item(), schedule[n + 1].item()
        rule = "be strictly decreasing" if strictly else "not increase"
        raise ValueError(
            f"{name} must {rule}, got {name}[{n}] = {here:.9g}, {name}[{n + 1}] = {after:.9g}{hint}"
        )
