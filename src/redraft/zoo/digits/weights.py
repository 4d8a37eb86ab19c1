"""Weights files of the digits denoisers; their headers hold the sizes and the origin."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from redraft.zoo.digits.model import DigitsConfig, DigitsDenoiser

PATHS = {
    name: Path(__file__).with_name(f"{name}.safetensors") for name in ("digits", "digits-small")
}


def write(model: DigitsDenoiser, path: Path, *, seed: int, steps: int, kept_step: int) -> None:
    """Write the weights of a trained model, rounded to half precision, and how it came about.

    Args:
        model: The model.
        path: File to write.
        seed: Seed of its training.
        steps: Optimiser steps of its training.
        kept_step: The step that the weights are from.
    """
    origin = {
        "script": "redraft.zoo.digits.train",
        "architecture": asdict(model.config),
        "seed": seed,
        "steps": steps,
        "kept_step": kept_step,
    }
    state = {name: value.detach().half().contiguous() for name, value in model.state_dict().items()}
    # One entry: safetensors writes several in a random order, and files could not be compared.
    save_file(state, path, metadata={"redraft": json.dumps(origin)})


def header(path: Path) -> dict[str, Any]:
    """The header of a weights file.

    Args:
        path: The file.

    Returns:
        Its entries: script, architecture (the fields of `DigitsConfig`), seed, steps, kept_step.

    Raises:
        FileNotFoundError: The file is missing.
        ValueError: It was not written by `write`.
    """
    if not path.is_file():
        student = " --student" if path.stem == "digits-small" else ""
        raise FileNotFoundError(
            f"no weights at {path}: reinstall redraft with its package data, or train them with "
            f"'python -m redraft.zoo.digits.train{student}'"
        )
    with safe_open(path, framework="pt") as file:
        found = (file.metadata() or {}).get("redraft")
    if found is None:
        raise ValueError(
            f"{path} is not a weights file of redraft: give one that redraft.zoo.digits.train wrote"
        )
    return json.loads(found)


def read(path: Path) -> DigitsDenoiser:
    """Read a model written by `write`.

    Args:
        path: The file.

    Returns:
        The model, float32 on the CPU, in evaluation mode and without gradients of its weights.

    Raises:
        FileNotFoundError: The file is missing.
        ValueError: It was not written by `write`.
    """
    # Initial weights, overwritten at once, must not move the caller's global generator.
    with torch.random.fork_rng(devices=[]):
        model = DigitsDenoiser(DigitsConfig(**header(path)["architecture"]))
    model.load_state_dict(load_file(path))  # copies into float32
    return model.eval().requires_grad_(False)
