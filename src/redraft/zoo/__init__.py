"""Targets that come with the library: a trained denoiser of digits, and closed forms to test
against.

``load("digits")`` and its cheap student ``load("digits-small")`` are networks; `gaussian` and
`mixture` are exact denoisers of any dimension, `Interpolant` makes them denoisers of flow-matching
chains, and `published_mixture` is the one that papers on draft trees measured on; `guided` adds
classifier-free guidance to a conditional network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from redraft.registry import choose
from redraft.zoo.gaussian import gaussian
from redraft.zoo.guidance import guided
from redraft.zoo.interpolant import Interpolant
from redraft.zoo.mixture import mixture
from redraft.zoo.published import published_mixture

if TYPE_CHECKING:
    from redraft.zoo.digits import DigitsDenoiser

__all__ = ["Interpolant", "gaussian", "guided", "load", "mixture", "names", "published_mixture"]


def names() -> tuple[str, ...]:
    """Names that `load` knows."""
    from redraft.zoo.digits.weights import PATHS

    return tuple(PATHS)


def load(
    name: str, device: str | torch.device = "cpu", dtype: torch.dtype = torch.float32
) -> DigitsDenoiser:
    """Load a trained denoiser, in evaluation mode and without gradients of its weights.

    Args:
        name: "digits", or "digits-small", its student of a fraction of the cost.
        device: Where to put it.
        dtype: Data type of its weights.

    Returns:
        A module called as model(x (R, 1, 8, 8), level (R,), label (R,) int64 or None), which
        returns predictions of the clean digits in [-1, 1]. Label 10 and None mean "no class".

    Raises:
        ValueError: The name is unknown.
        FileNotFoundError: The package was installed without its weights.
    """
    from redraft.zoo.digits.weights import PATHS, read

    return read(choose("zoo model", name, PATHS)).to(device=device, dtype=dtype)
