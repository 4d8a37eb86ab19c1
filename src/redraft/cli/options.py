"""Options that commands share, and what they mean."""

from __future__ import annotations

from typing import Annotated

import torch
import typer

from redraft.bench import Job, make_target
from redraft.registry import choose
from redraft.tree import grow

__all__ = [
    "DTYPES",
    "Device",
    "Dtype",
    "Json",
    "Seed",
    "Steps",
    "Threads",
    "check_numbers",
    "find_device",
    "make_job",
    "tree_specs",
]

DTYPES = {name: getattr(torch, name) for name in ("float64", "float32", "bfloat16", "float16")}

Seed = Annotated[int, typer.Option(help="Seed; every method uses the same noise keys.")]
Steps = Annotated[
    int | None, typer.Option(help="Noisy steps of the chain. Default 250; for gm 28.")
]
Threads = Annotated[int, typer.Option(help="CPU threads.")]
Device = Annotated[str, typer.Option(help="Where to run: cpu, cuda, cuda:1.")]
Dtype = Annotated[str, typer.Option(help=f"Type of the model's numbers: {', '.join(DTYPES)}.")]
Json = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE|-", help="Write JSON there; - is stdout, and only JSON."),
]


def make_job(
    target: str,
    *,
    steps: int | None,
    num: int,
    seed: int,
    threads: int,
    device: str,
    dtype: str,
    taught: int = 64,
    labels: list[int] | None = None,
    guidance: float | None = None,
) -> Job:
    """Return what is to be sampled, and set the number of threads.

    Raises:
        ValueError: If an option has no valid value; the message names it.
        FileNotFoundError: If the target's weights are missing.
    """
    check_numbers(seed, steps=steps, num=num, taught=taught, threads=threads)
    torch.set_num_threads(threads)
    place, number = find_device(device), choose("dtype", dtype, DTYPES)
    made = make_target(target, device=place, dtype=number, guidance=guidance)
    if guidance is not None and labels is None:
        raise ValueError("--guidance needs a class to guide to: give --label too")
    label = None
    if labels is not None:
        if not made.classes:
            raise ValueError(
                f"target {target!r} has no classes (only digits has): leave out --label"
            )
        wrong = [one for one in labels if not 0 <= one < made.classes]
        if wrong:
            raise ValueError(f"--label must be in 0..{made.classes - 1}, got {wrong[0]}")
        label = torch.tensor([labels[i % len(labels)] for i in range(num)], device=place)
    return Job(made, made.make_chain(steps or made.steps), num, seed, place, number, label, taught)


def check_numbers(seed: int, **positive: int | None) -> None:
    """Raise ValueError, naming the option, if a number is out of its range; None: not given."""
    for name, value in positive.items():
        if value is not None and value < 1:
            raise ValueError(f"--{name} must be at least 1, got {value}")
    if not 0 <= seed < 2**63:
        raise ValueError(f"--seed must be an integer from 0 to 2**63 - 1, got {seed}")


def tree_specs(rows: str | None, trees: list[str] | None, default: str) -> list[str]:
    """Return the trees that ``--rows 8,16`` or ``--tree kary:2,4`` ask for.

    Raises:
        ValueError: If both are given, or one is not valid.
    """
    if rows is not None and trees:
        raise ValueError("give --rows (chains) or --tree, not both")
    if rows is None:
        specs = trees or [default]
    else:
        words = [word.strip() for word in rows.split(",")]
        if not all(word.lstrip("-").isdecimal() for word in words):
            raise ValueError(f"--rows must be integers such as 16 or 8,16,32, got {rows!r}")
        small = [word for word in words if int(word) < 1]
        if small:
            raise ValueError(f"--rows must be at least 1, got {small[0]}")
        specs = [f"chain:{int(word)}" for word in words]
    return list(dict.fromkeys(grow(spec).name for spec in specs))


def find_device(name: str) -> torch.device:
    """Return a device that works here."""
    try:
        device = torch.device(name)
        torch.empty(1, device=device, dtype=torch.float64)  # noises are made in float64
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ValueError(f"--device {name!r} cannot be used here ({reason}): use cpu") from error
    return device
