"""The pluggable parts of a sampler, by name or as objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from redraft.coupling import VERIFIERS, Verifier
from redraft.draft import DRAFTERS, Drafter
from redraft.registry import choose
from redraft.tree.tree import Tree

__all__ = ["check_device", "check_dtype", "check_together", "check_unseen", "drafter", "verifier"]


def verifier(part: str | Verifier) -> Verifier:
    """Return the verifier that a name stands for, or the object itself."""
    return cast(Verifier, _named("verifier", part, VERIFIERS, "walk"))


def drafter(part: str | Drafter) -> Drafter:
    """Return the drafter that a name stands for, or the object itself."""
    return cast(Drafter, _named("drafter", part, DRAFTERS, "prepare"))


def _named(kind: str, part: Any, options: Mapping[str, Any], method: str) -> object:
    if not isinstance(part, str):
        if isinstance(part, type) or not hasattr(part, method):
            raise TypeError(
                f"{kind} must be a name ({', '.join(sorted(options))}) or an object with a method "
                f"{method!r}, got {part!r}"
            )
        return part
    made = choose(kind, part, options)
    if kind == "drafter" and part in ("model", "corrected"):
        raise ValueError(
            f"drafter {part!r} needs a cheap model: pass "
            f"redraft.draft.{made.__name__}(cheap_denoiser) instead of its name"
        )
    return made()


def check_dtype(dtype: torch.dtype) -> tuple[torch.dtype, torch.dtype]:
    """Return the model's dtype and the chain states' dtype, which is never below float32."""
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise TypeError(f"dtype must be a floating-point torch.dtype, got {dtype!r}")
    return dtype, torch.promote_types(dtype, torch.float32)


def check_device(device: torch.device | str) -> torch.device:
    """Return the device; raise ValueError if it has no float64, in which noises are made."""
    checked = torch.device(device)
    if checked.type == "mps":
        raise ValueError(f"device={str(device)!r} has no float64, which noises need; use 'cpu'")
    return checked


def check_unseen(drafter: Drafter, seeds: NDArray[np.int64]) -> None:
    """Raise ValueError if a drafter's calibration comes from noises that are drawn once more."""
    calibration = getattr(drafter, "calibration", None)
    if calibration is not None and np.isin(seeds, calibration.seeds).any():
        seed = int(seeds[np.isin(seeds, calibration.seeds)][0])
        raise ValueError(
            f"the calibration comes from samples of the same seeds (one is {seed}), whose noises "
            "must not choose their own drafts; calibrate or sample with others"
        )


def check_together(drafter: Drafter, verifier: Verifier, tree: Tree) -> None:
    """Raise ValueError if a verifier is not valid for a tree or has nothing to give a drafter."""
    if verifier.max_width is not None and tree.width > verifier.max_width:
        raise ValueError(
            f"verifier {verifier.name!r} is exact with one child per node only, and tree "
            f"{tree.name!r} has {tree.width}; use verifier='greedy' or 'traversal', or a chain"
        )
    if drafter.keeps_noise and not verifier.keeps_noise:
        raise ValueError(
            f"drafter {drafter.name!r} keeps noises that no decision has looked at, and verifier "
            f"{verifier.name!r} looks at all of them: there is nothing to keep. "
            "Use drafter='free' with it, or verifier='greedy'."
        )
