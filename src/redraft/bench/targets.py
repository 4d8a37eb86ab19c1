"""What can be sampled from the command line, by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch

from redraft import zoo
from redraft.chain import Chain, ancestral, flow_sde, karras
from redraft.draft.drafter import Denoiser
from redraft.registry import choose

__all__ = ["TARGETS", "Target", "default_chain", "make_target"]

COMPONENTS = 8
CHURN = 0.3


def default_chain(steps: int) -> Chain:
    """Return the ancestral chain of ``steps`` noisy steps from level 20 to 0.02, spaced at rho 7.

    Raises:
        ValueError: If ``steps`` is below 1.
    """
    if steps < 1:
        raise ValueError(f"--steps must be at least 1, got {steps}")
    return ancestral(karras(steps, 20.0, 0.02))


@dataclass(frozen=True, eq=False)
class Target:
    """A model and what is known about it.

    Attributes:
        name: As the user wrote it.
        shape: Shape of one sample.
        denoiser: The model.
        load_cheap: Loads its cheap model, for the drafters model and corrected; None if it has
            none.
        classes: Number of labels it can be conditioned on; 0: none.
        make_chain: Makes its chain from a number of noisy steps.
        steps: Noisy steps unless the user asks for others.
    """

    name: str
    shape: tuple[int, ...]
    denoiser: Denoiser
    load_cheap: Callable[[], Denoiser] | None = None
    classes: int = 0
    make_chain: Callable[[int], Chain] = default_chain
    steps: int = 250


def make_target(
    spec: str,
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
    guidance: float | None = None,
) -> Target:
    """Return the target of a specification: ``digits``, ``gaussian:16``, ``mixture:2``, ``gm:0.3``.

    Args:
        spec: A name of `TARGETS`, for the closed forms with an optional dimension, for gm with an
            optional churn.
        device: Where its weights live.
        dtype: Type of its weights.
        guidance: Scale of classifier-free guidance, a part of the target; None: none.

    Raises:
        ValueError: If the name or the dimension is not valid, or the target cannot be guided.
        FileNotFoundError: If the package was installed without its weights.
    """
    name, colon, number = spec.partition(":")
    make = choose("target", name, TARGETS)
    value = None
    if colon:
        value = _number(number, whole=name != "gm")
        if name == "digits" or value is None:
            raise ValueError(
                f"target {spec!r} does not read as digits, gaussian:DIM or mixture:DIM "
                "(DIM at least 1), or gm:CHURN (CHURN above 0)"
            )
    if guidance is not None and name != "digits":
        raise ValueError(f"target {spec!r} has no guidance (only digits has): leave out --guidance")
    return make(spec, value, torch.device(device), dtype, guidance)


def _number(text: str, whole: bool) -> float | None:
    """Return the positive number that a text reads as; None if it does not."""
    if not (text.isdecimal() if whole else re.fullmatch(r"\d*\.?\d+", text)):
        return None
    return float(text) or None


def _digits(
    spec: str, value: float | None, device: torch.device, dtype: torch.dtype, guidance: float | None
) -> Target:
    """Trained denoiser of 8x8 digits, unconditional unless a label is given."""

    def load(name: str) -> Denoiser:
        model = zoo.load(name, device=device, dtype=dtype)
        return model if guidance is None else zoo.guided(model, guidance)

    cheap = cache(lambda: load("digits-small"))
    return Target(spec, (1, 8, 8), load("digits"), cheap, classes=10)


def _gaussian(
    spec: str, value: float | None, device: torch.device, dtype: torch.dtype, guidance: float | None
) -> Target:
    """Gaussian in DIM dimensions (16) with its exact denoiser: gaussian, gaussian:64."""
    dim = 16 if value is None else int(value)
    return Target(spec, (dim,), zoo.gaussian(dim))


def _mixture(
    spec: str, value: float | None, device: torch.device, dtype: torch.dtype, guidance: float | None
) -> Target:
    """Mixture of 8 Gaussians in DIM dimensions (2) with its exact denoiser: mixture, mixture:8."""
    dim = 2 if value is None else int(value)
    return Target(spec, (dim,), zoo.mixture(dim, COMPONENTS))


def _gm(
    spec: str, value: float | None, device: torch.device, dtype: torch.dtype, guidance: float | None
) -> Target:
    """Mixture of papers on draft trees, on a flow chain of 28 steps with CHURN (0.3): gm, gm:0.06.

    The chain begins and ends with a noiseless step, which is not among the steps asked for.
    """

    def make_chain(steps: int) -> Chain:
        return flow_sde(steps + 2, CHURN if value is None else value)

    return Target(spec, (512,), zoo.published_mixture(), make_chain=make_chain, steps=28)


TARGETS = {"digits": _digits, "gaussian": _gaussian, "mixture": _mixture, "gm": _gm}
