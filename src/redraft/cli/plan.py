"""``redraft plan``."""

from __future__ import annotations

import json
from dataclasses import asdict
from statistics import median
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

import redraft
from redraft.bench import Job
from redraft.cli.console import check_file, console_for, run_errors, user_errors, write_json
from redraft.cli.options import Device, Dtype, Json, Seed, Steps, Threads, make_job
from redraft.draft.calibration import depths
from redraft.sampling import Strategy

__all__ = ["plan"]


def plan(
    target: Annotated[str, typer.Argument(help="What to sample; see redraft ls.")] = "digits",
    steps: Steps = None,
    max_rows: Annotated[int, typer.Option(help="Most rows of a call, per sample.")] = 32,
    goal: Annotated[
        str, typer.Option(help="time: least seconds here; calls: least calls with --max-rows.")
    ] = "time",
    num: Annotated[int, typer.Option(help="Samples per pass of teaching the drafters.")] = 64,
    check: Annotated[
        int, typer.Option(help="Samples drawn one at a time to check the plan; 0: none.")
    ] = 4,
    save: Annotated[
        str | None, typer.Option(metavar="FILE", help="Keep the plan, for plan= of redraft.sample.")
    ] = None,
    seed: Seed = 0,
    threads: Threads = 1,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    json_to: Json = None,
) -> None:
    """Measure what a call costs here, teach the drafters, and say what is fastest.

    Prints the cost curve, how often drafts are accepted, what each way is expected to take, and
    what a few samples took. Says so if speculation does not pay, and what would change that.

    \b
    Examples:
      redraft plan
      redraft plan digits --steps 50 --max-rows 16
      redraft plan gm:0.3 --goal calls --max-rows 31
      redraft plan digits --save plan.json     then Strategy.load("plan.json")
    """
    with user_errors():
        check_file("--json", json_to)
        check_file("--save", save)
        if check < 0:
            raise ValueError(f"--check must be at least 0, got {check}")
        job = make_job(
            target, steps=steps, num=num, seed=seed, threads=threads, device=device, dtype=dtype
        )
        with run_errors():
            made = redraft.tune(
                job.target.denoiser,
                job.chain,
                job.target.shape,
                seed=seed,
                max_rows=max_rows,
                num=num,
                goal=goal,
                dtype=job.dtype,
                device=job.device,
            )
            seen = _check(job, made, check)
    if save:
        made.save(save)
    _print(made, seen, console_for(json_to))
    document = {
        "target": target,
        "steps": job.chain.num_steps,
        "chosen": asdict(made.chosen) | {"name": made.chosen.name},
        "options": [asdict(option) | {"name": option.name} for option in made.options],
        "cost": None if made.cost is None else made.cost._asdict(),
        "expected_speedup": made.speedup,
        "expected_speedup_error": made.speedup_error,
        "measured_speedup": seen,
        "notes": list(made.notes),
    }
    with user_errors():
        write_json(json.loads(json.dumps(document)), json_to)


def _check(job: Job, made: Strategy, num: int) -> float | None:
    """Return how much faster a few samples were than sequential ones, drawn in turn."""
    if not num or not made.speculates:
        return None
    ratios = []
    for k in range(num + 1):
        common: dict[str, Any] = {"seed": job.seed + k, "dtype": job.dtype, "device": job.device}
        begin = perf_counter()
        shape = job.target.shape
        redraft.sample(job.target.denoiser, job.chain, 1, shape, plan=made, **common)
        middle = perf_counter()
        redraft.sequential(job.target.denoiser, job.chain, 1, shape, **common)
        if k:  # the first pair warms up
            ratios.append((perf_counter() - middle) / (middle - begin))
    return median(ratios)


def _print(made: Strategy, seen: float | None, console: Console) -> None:
    """Print the plan and what it rests on."""
    if made.cost is not None:
        table = Table("rows of a call", "ms", "times one row", title="Cost of a call here")
        for rows in sorted({1, 2, 4, 8, 16, 32, 64, *made.cost.rows}):
            if rows <= made.cost.rows[-1]:
                seconds = made.cost(rows)
                table.add_row(str(rows), f"{1e3 * seconds:.2f}", f"{seconds / made.cost(1):.2f}")
        console.print(table)
    if made.calibration is not None:
        tried = made.calibration.tried.sum(axis=0)
        share = made.calibration.accepted.sum(axis=0) / np.maximum(tried, 1)
        table = Table("depth", "accepted of those tried", title=f"Drafts of {made.chosen.name}")
        for label, count, accepted in zip(depths(), tried, share, strict=True):
            if count:
                table.add_row(label, f"{accepted:.1%}")
        console.print(table)
    table = Table("way", "calls", "ms per sample", "faster", title="Expected, one sample")
    plain = made.options[0]
    for option in sorted(made.options, key=lambda one: one.seconds or one.calls)[:8]:
        mark = " <-" if option is made.chosen or option == made.chosen else ""
        time = "-" if option.seconds is None else f"{1e3 * option.seconds:.0f}"
        faster = "-"
        if option.seconds is not None and plain.seconds is not None:
            faster = f"{plain.seconds / option.seconds:.2f} x"
        calls = f"{option.calls:.1f} ± {2 * option.calls_error:.1f}"
        table.add_row(option.name + mark, calls, time, faster)
    console.print(table)
    for note in made.notes:
        console.print(note)
    if made.speculates:
        error = f" ± {2 * made.speedup_error:.2f} (from the calls)"
        told = f"Expected: {made.speedup:.2f} x faster{error}."
        if seen is not None:
            told += f" A few samples drawn in turn: {seen:.2f} x."
        console.print(told)
