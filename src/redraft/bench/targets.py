"""What can be sampled from the command line, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch

from redraft import zoo
from redraft.chain import Chain, ancestral, karras
from redraft.draft.drafter import Denoiser
from redraft.registry import choose

__all__ = ["TARGETS", "Target", "default_chain", "make_target"]

COMPONENTS = 8


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
    """

    name: str
    shape: tuple[int, ...]
    denoiser: Denoiser
    load_cheap: Callable[[], Denoiser] | None = None
    classes: int = 0


def default_chain(steps: int) -> Chain:
    """Return the ancestral chain of ``steps`` noisy steps from level 20 to 0.02, spaced at rho 7.

    Raises:
        ValueError: If ``steps`` is below 1.
    """
    if steps < 1:
        raise ValueError(f"--steps must be at least 1, got {steps}")
    return ancestral(karras(steps, 20.0, 0.02))


def make_target(
    spec: str,
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
    guidance: float | None = None,
) -> Target:
    """Return the target that a specification names: ``digits``, ``gaussian:16``, ``mixture:2``.

    Args:
        spec: A name of `TARGETS`, for the closed forms with an optional dimension.
        device: Where its weights live.
        dtype: Type of its weights.
        guidance: Scale of classifier-free guidance, a part of the target; None: none.

    Raises:
        ValueError: If the name or the dimension is not valid, or the target cannot be guided.
        FileNotFoundError: If the package was installed without its weights.
    """
    name, colon, number = spec.partition(":")
    make = choose("target", name, TARGETS)
    dim = None
    if colon:
        if name == "digits" or not number.isdecimal() or int(number) < 1:
            raise ValueError(
                f"target {spec!r} does not read as digits, gaussian:DIM or mixture:DIM "
                "(DIM at least 1)"
            )
        dim = int(number)
    if guidance is not None and name != "digits":
        raise ValueError(f"target {spec!r} has no guidance (only digits has): leave out --guidance")
    return make(spec, dim, torch.device(device), dtype, guidance)


def _digits(
    spec: str, dim: int | None, device: torch.device, dtype: torch.dtype, guidance: float | None
) -> Target:
    """Trained denoiser of 8x8 digits, unconditional unless a label is given."""

    def load(name: str) -> Denoiser:
        model = zoo.load(name, device=device, dtype=dtype)
        return model if guidance is None else zoo.guided(model, guidance)

    cheap = cache(lambda: load("digits-small"))
    return Target(spec, (1, 8, 8), load("digits"), cheap, classes=10)


def _gaussian(
    spec: str, dim: int | None, device: torch.device, dtype: torch.dtype, guidance: float | None
) -> Target:
    """Gaussian in DIM dimensions (16) with its exact denoiser: gaussian, gaussian:64."""
    dim = 16 if dim is None else dim
    return Target(spec, (dim,), zoo.gaussian(dim))


def _mixture(
    spec: str, dim: int | None, device: torch.device, dtype: torch.dtype, guidance: float | None
) -> Target:
    """Mixture of 8 Gaussians in DIM dimensions (2) with its exact denoiser: mixture, mixture:8."""
    dim = 2 if dim is None else dim
    return Target(spec, (dim,), zoo.mixture(dim, COMPONENTS))


TARGETS = {"digits": _digits, "gaussian": _gaussian, "mixture": _mixture}
