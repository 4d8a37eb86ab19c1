r"""Keyed noise: every random number is a pure function of (seed, stream, step, attempt).

No generator has a state. A sample's noise depends on its own seed only, so it does not change with
the batch, the order of requests, chunking or the device; a run can be resumed or replayed.

- *stream* separates purposes, so that no two ever share a number: the initial state, the drafts,
  the coins of decisions, the part along of recovered states.
- *step* is the chain step that the noise drives.
- *attempt* is the serial number of the noise drawn for this (sample, step). A kept noise keeps its
  number; a bonus uses the number that the node's first child would have had.

Construction. With ``mix`` the 64-bit finaliser of SplitMix64 and ``golden`` its increment,
``key = mix(mix(mix(seed + golden) + golden * stream) + golden * (step << 32 | attempt))``; element
i of the vector is ``mix(key + (i + 1) * golden)``, that is, the SplitMix64 generator seeded with
the key. Normals come from 64-bit uniforms by the Box-Muller map in float64.

References:
    | Fast Splittable Pseudorandom Number Generators (Steele, Lea & Flood, 2014)
    | https://doi.org/10.1145/2714064.2660195
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from operator import index

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

__all__ = ["DECIDE", "DRAFT", "INIT", "RESIDUAL", "normal", "spread", "stream_keys", "uniform"]

INIT, DRAFT, DECIDE, RESIDUAL = 1, 2, 3, 4
"""The streams."""

Keys = NDArray[np.uint64]

_GOLDEN = 0x9E3779B97F4A7C15
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))
_SEED_LIMIT = 2**63


def spread(seed: int | Sequence[int], num: int) -> NDArray[np.int64]:
    """Return one seed per sample.

    An integer is spread into ``num`` unrelated seeds (the first ones do not depend on ``num``); a
    sequence is taken as it is. ``Result.seeds`` reports them: sample i alone is reproduced by
    ``seed=[result.seeds[i]]``.

    Raises:
        ValueError: If a sequence has another length than ``num``, or a seed is out of range.
        TypeError: If a seed is not an integer.
    """
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool):
        key = _mix(np.uint64(_checked(int(seed))) + np.arange(num, dtype=np.uint64) * _u(_GOLDEN))
        return (_mix(key) >> np.uint64(1)).astype(np.int64)
    if isinstance(seed, (bool, str, float)) or not hasattr(seed, "__len__"):
        raise TypeError(f"seed must be an integer or one integer per sample, got {seed!r}")
    values = [_checked(index(value)) for value in seed]
    if len(values) != num:
        raise ValueError(
            f"seed has {len(values)} entries for num={num} samples; "
            "give one integer, or exactly one integer per sample"
        )
    return np.array(values, dtype=np.int64)


def stream_keys(seeds: NDArray[np.int64], stream: int) -> Keys:
    """Return the key (B,) of a stream for each sample; computed once per run."""
    return _mix(_mix(seeds.astype(np.uint64) + _u(_GOLDEN)) + _u(stream * _GOLDEN))


def uniform(keys: Keys, step: ArrayLike, attempt: ArrayLike) -> NDArray[np.float64]:
    """Return float64 uniforms in the open interval (0, 1), one per (key, step, attempt)."""
    word = _mix(_address(keys, step, attempt) + _u(_GOLDEN))
    # 52 bits and a half are exact in float64; with 53 the largest would round to 1.
    return ((word >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def normal(
    keys: Keys, step: ArrayLike, attempt: ArrayLike, dim: int, device: torch.device
) -> Tensor:
    """Return float64 standard normals (..., dim), one vector per (key, step, attempt)."""
    address = torch.from_numpy(_address(keys, step, attempt).view(np.int64)).to(device)
    half = (dim + 1) // 2
    word = _mix_tensor(address.unsqueeze(-1) + _counter(2 * half, device))
    unit = word.to(torch.float64)
    radius = unit[..., :half].mul(2.0**-64).add_(0.5).clamp_(min=2.0**-55)
    radius = radius.log_().mul_(-2.0).sqrt_()
    angle = unit[..., half:].mul_(math.pi * 2.0**-63)
    pair = torch.cat((radius * torch.cos(angle), radius * torch.sin(angle)), dim=-1)
    return pair[..., :dim]


def _address(keys: Keys, step: ArrayLike, attempt: ArrayLike) -> Keys:
    place = (np.asarray(step, np.int64) << 32) | np.asarray(attempt, np.int64)
    return _mix(keys + place.astype(np.uint64) * _u(_GOLDEN))


def _mix(word: Keys) -> Keys:
    with np.errstate(over="ignore"):
        for shift, factor in _MIX:
            word = (word ^ (word >> np.uint64(shift))) * _u(factor)
    return word


def _mix_tensor(word: Tensor) -> Tensor:
    """SplitMix64's finaliser in place on int64; the mask makes the right shift a logical one."""
    for shift, factor in _MIX:
        word ^= (word >> shift).bitwise_and_((1 << (64 - shift)) - 1)
        if factor != 1:
            word *= _signed(factor)
    return word


@lru_cache(maxsize=64)
def _counter(dim: int, device: torch.device) -> Tensor:
    counter = np.arange(1, dim + 1, dtype=np.uint64) * _u(_GOLDEN)
    return torch.from_numpy(counter.view(np.int64)).to(device)


def _u(value: int) -> np.uint64:
    return np.uint64(value % 2**64)


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def _checked(seed: int) -> int:
    if not 0 <= seed < _SEED_LIMIT:
        raise ValueError(f"seed={seed} is out of range; use an integer from 0 to 2**63 - 1")
    return seed
