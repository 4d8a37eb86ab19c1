"""Checks of what users pass, each with an error that says what to do."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from redraft.chain.chain import Chain
from redraft.coupling.verifier import Verifier
from redraft.draft.drafter import Drafter
from redraft.sampling import noise
from redraft.tree.growth import MAX_ROWS
from redraft.tree.tree import Tree

if TYPE_CHECKING:
    from redraft.sampling.sampler import Sampler

_AUTO_ROWS = 32

__all__ = [
    "auto_rows",
    "check_chain",
    "check_cond",
    "check_count",
    "check_denoiser",
    "check_prediction",
    "check_shape",
    "start",
]


def check_chain(chain: object) -> Chain:
    """Return the chain; raise TypeError if it is something else."""
    if not isinstance(chain, Chain):
        raise TypeError(
            f"chain must be a redraft.chain.Chain, got {type(chain).__name__}; "
            "make one with redraft.chain.ancestral(sigmas) or redraft.chain.ddpm(alphas_cumprod)"
        )
    return chain


def check_denoiser(denoiser: object) -> None:
    """Raise TypeError if the denoiser cannot be called."""
    if not callable(denoiser):
        raise TypeError(f"denoiser must be callable as denoiser(x, level), got {denoiser!r}")


def check_count(num: int) -> int:
    """Return the number of samples; raise ValueError if it is not a non-negative integer."""
    if not isinstance(num, int) or isinstance(num, bool) or num < 0:
        raise ValueError(f"num must be a non-negative integer (how many samples), got {num!r}")
    return num


def check_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the shape of one sample as a tuple of positive integers."""
    values = (shape,) if isinstance(shape, int) else tuple(shape)
    if not all(isinstance(size, int) and size >= 1 for size in values):
        raise ValueError(f"shape must hold positive integers (of one sample), got {shape!r}")
    return values


def auto_rows(
    tree: str | Tree, drafter: str | Drafter, verifier: str | Verifier, deterministic: bool
) -> int | None:
    """Return the most rows of ``tree="auto"`` or ``"auto:M"``; None for any other tree.

    Raises:
        ValueError: If M is no number >= 1, drafter or verifier is not left to the run, or a choice
            by the clock is forbidden.
    """
    if not isinstance(tree, str):
        return None
    kind, colon, number = tree.partition(":")
    if kind != "auto":
        if get_close_matches(kind, ["auto"]):
            raise ValueError(f"unknown tree {tree!r}. Did you mean 'auto'?")
        return None
    if colon and not (number.isdecimal() and 1 <= int(number) <= MAX_ROWS):
        raise ValueError(f"tree {tree!r} does not read as auto or auto:M, M from 1 to {MAX_ROWS}")
    if (drafter, verifier) != ("recycled", "greedy"):
        raise ValueError(
            "tree='auto' runs drafter 'recycled' with verifier 'greedy'; leave both out, or name "
            "a tree such as 'chain:16'"
        )
    if deterministic:
        raise ValueError(
            "deterministic=True and tree='auto' need a plan: plan=redraft.tune(...), or the plan "
            "of an earlier result of other seeds"
        )
    return int(number) if colon else _AUTO_ROWS


def check_cond(
    cond: Mapping[str, Tensor] | None, num: int, device: torch.device
) -> dict[str, Tensor]:
    """Return the conditioning on the device; every tensor must have one entry per sample."""
    checked = {}
    for key, value in (cond or {}).items():
        if not isinstance(value, Tensor):
            raise TypeError(
                f"cond[{key!r}] must be a tensor with one entry per sample, got "
                f"{type(value).__name__}; bind constants first: "
                f"functools.partial(denoiser, {key}=...)"
            )
        if value.ndim == 0 or len(value) != num:
            raise ValueError(
                f"cond[{key!r}] has shape {tuple(value.shape)}; its first dimension must be "
                f"num={num}, one entry per sample"
            )
        checked[key] = value.to(device)
    return checked


def check_prediction(f: object, rows: Tensor) -> Tensor:
    """Return the target's predictions; they must be floating point, of the rows' shape."""
    if not isinstance(f, Tensor):
        raise TypeError(f"the denoiser must return a tensor, got {type(f).__name__}")
    if f.shape != rows.shape:
        raise ValueError(
            f"the denoiser returned shape {tuple(f.shape)} for rows of shape {tuple(rows.shape)}; "
            "it must return one prediction of the state's shape for every row"
        )
    if not f.dtype.is_floating_point:
        raise TypeError(f"the denoiser returned {f.dtype}; it must return a floating-point tensor")
    return f


def start(sampler: Sampler, x_init: Tensor | None) -> Tensor:
    """Return the initial states (num, D)."""
    if x_init is None:
        zero = torch.zeros(sampler.num, dtype=torch.int64).numpy()
        draw = noise.normal(sampler.keys[noise.INIT], zero, zero, sampler.dim, sampler.device)
        return draw.mul_(sampler.init_std).to(sampler.state_dtype)
    wanted = (sampler.num, *sampler.shape)
    if not isinstance(x_init, Tensor) or tuple(x_init.shape) != wanted:
        got = tuple(x_init.shape) if isinstance(x_init, Tensor) else type(x_init).__name__
        raise ValueError(f"x_init must be a tensor of shape (num, *shape) = {wanted}, got {got}")
    if not x_init.dtype.is_floating_point:
        raise TypeError(f"x_init must be floating point, got {x_init.dtype}")
    if not bool(x_init.isfinite().all()):
        raise ValueError("x_init holds NaN or infinite values")
    x = x_init.to(sampler.device, sampler.state_dtype)
    return x.reshape(sampler.num, math.prod(sampler.shape))
