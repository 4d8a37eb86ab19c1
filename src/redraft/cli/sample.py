"""``redraft sample``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import torch
import typer

from redraft.bench import parse
from redraft.bench.methods import SEQUENTIAL
from redraft.bench.runner import Outcome, run_each
from redraft.cli.console import (
    INTERRUPTED,
    bars,
    check_file,
    console_for,
    fail,
    run_errors,
    user_errors,
    write_json,
)
from redraft.cli.options import Device, Dtype, Json, Seed, Steps, Threads, make_job, tree_specs
from redraft.cli.picture import FORMATS, draw
from redraft.cli.shown import panel_titles, print_sample, sample_document
from redraft.registry import choose

__all__ = ["sample"]


def sample(
    target: Annotated[str, typer.Argument(help="What to sample; see redraft ls.")] = "digits",
    num: Annotated[int, typer.Option(help="Samples.")] = 64,
    steps: Steps = None,
    rows: Annotated[
        int | None, typer.Option(help="Rows of a call, root included. Default 16.")
    ] = None,
    tree: Annotated[
        str | None, typer.Option(help="Draft tree instead of --rows: chain:16, kary:2,4.")
    ] = None,
    drafter: Annotated[
        str, typer.Option(help="Drafter, with options after colons: recycled, free, free:eps.")
    ] = "recycled",
    verifier: Annotated[
        str, typer.Option(help="greedy, traversal, reflection, ranked or optimal.")
    ] = "greedy",
    seed: Seed = 0,
    label: Annotated[
        str | None, typer.Option(help="Class of the digits, 0..9; several in turn: 0,1,2.")
    ] = None,
    guidance: Annotated[
        float | None, typer.Option(help="Scale of classifier-free guidance to --label.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Picture. Default: the target's name .png.")
    ] = None,
    baseline: Annotated[bool, typer.Option(help="Whether to run sequential sampling too.")] = True,
    threads: Threads = 1,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    json_to: Json = None,
) -> None:
    """Draw samples, speculatively and sequentially side by side, and write a picture.

    Samples are drawn one after another, each by both methods from the same noise keys; the time of
    a sample is what someone who waits for one sample waits.

    \b
    Examples:
      redraft sample
      redraft sample --label 0,1,2,3,4,5,6,7,8,9 --guidance 2 --num 100
      redraft sample --rows 32 --drafter free --verifier traversal
      redraft sample mixture --num 500 --steps 100 --out mixture.png
      redraft sample --num 8 --no-baseline --json -
    """
    with user_errors():
        path = Path(out if out is not None else f"{target.partition(':')[0]}.png")
        if find_spec("matplotlib") is None:
            raise ValueError("the picture needs matplotlib: pip install 'redraft[cli]'")
        choose("ending of --out", path.suffix.lower(), FORMATS)
        check_file("--out", str(path))
        check_file("--json", json_to)
        job = make_job(
            target,
            steps=steps,
            num=num,
            seed=seed,
            threads=threads,
            device=device,
            dtype=dtype,
            labels=_labels(label),
            guidance=guidance,
        )
        count = None if rows is None else str(rows)
        (spec,) = tree_specs(count, None if tree is None else [tree], "chain:16")
        method = parse(f"{drafter}+{verifier}", spec)
        job.check(method)
    methods = [parse(SEQUENTIAL, spec), method] if baseline else [method]
    with run_errors(), bars() as report:
        outcome = run_each(job, methods, report=report)
    if not outcome.records[0].runs:
        raise fail("interrupted before the first sample was finished", INTERRUPTED)
    found = sample_document(outcome, guidance=guidance, out=str(path))
    with user_errors():
        draw(dict(zip(panel_titles(found), _samples(outcome), strict=True)), path)
        print_sample(found, console_for(json_to))
        write_json(found, json_to)
    if outcome.interrupted:
        raise typer.Exit(INTERRUPTED)


def _samples(outcome: Outcome) -> list[torch.Tensor]:
    """The samples (n, *shape) of each method."""
    return [torch.cat([r.samples for r in record.counted]) for record in outcome.records]


def _labels(text: str | None) -> list[int] | None:
    """Read ``--label 3`` or ``--label 0,1,2``."""
    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    if not all(word.removeprefix("-").isdecimal() for word in words):
        raise ValueError(f"--label must be a digit or several such as 0,1,2, got {text!r}")
    return [int(word) for word in words]
