"""``redraft bench``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from redraft.bench import Job, Method, document, parse, run_bench
from redraft.bench.methods import SEQUENTIAL
from redraft.bench.suite import SUITES
from redraft.bench.tables import print_bench
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
from redraft.cli.suite import make_settings, measure_suite, suite_cells

__all__ = ["bench"]

METHODS = "sequential,frozen+reflection,free+reflection,free+traversal,recycled+greedy"
REFERENCE = "free+reflection"


def bench(
    target: Annotated[
        str | None, typer.Argument(help="What to sample; see redraft ls. Default digits.")
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(help=f"Measure many cells at once: {', '.join(SUITES)}. Resumes."),
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="Cells of the suite: steps=50,rows=4,rows=8.")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Keeps a suite's cells. Default redraft-suite-NAME."),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(help=f"drafter+verifier, by commas; see redraft ls. Default {METHODS}."),
    ] = None,
    rows: Annotated[
        str | None, typer.Option(help="Rows of a call, root included: 32, or 8,16,32. Default 32.")
    ] = None,
    tree: Annotated[
        list[str] | None, typer.Option(help="Draft tree instead of --rows; may be repeated.")
    ] = None,
    steps: Steps = None,
    num: Annotated[int, typer.Option(help="Samples that calls are counted on.")] = 256,
    taught: Annotated[
        int, typer.Option(help="Other samples, 3 times as many, that :warm methods learn from.")
    ] = 64,
    seed: Seed = 0,
    repeats: Annotated[int, typer.Option(help="Rounds of timing.")] = 3,
    wall: Annotated[
        bool | None,
        typer.Option("--wall/--no-wall", help="Whether to measure wall-clock. Default: yes."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(help=f"Method to divide calls by. Default {REFERENCE}, if it is run."),
    ] = None,
    threads: Threads = 1,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    json_to: Json = None,
) -> None:
    """Compare methods on one target: calls, rows, wall-clock, and what would be ideal.

    Digits are unconditional here. Calls are counted on all samples in one batch; time is measured
    one sample at a time, all methods in turn.

    \b
    Examples:
      redraft bench
      redraft bench digits --rows 8,16,32 --num 64
      redraft bench digits --methods free+traversal,free:eps+traversal --no-wall
      redraft bench gaussian:256 --tree chain:16 --tree kary:2,4 --methods free+greedy
      redraft bench --json - > bench.json
      redraft bench --suite digits --num 64 --only steps=250
      redraft report redraft-suite-digits
    """
    if suite is not None:
        single = {"rows": rows, "tree": tree, "steps": steps, "against": against}
        with user_errors():
            _refuse(single, "a suite brings its own: narrow it with --only")
            cells = suite_cells(suite, target, only, methods, wall)
            settings = make_settings(
                num=num,
                seed=seed,
                taught=taught,
                repeats=repeats,
                threads=threads,
                device=device,
                dtype=dtype,
            )
        return measure_suite(suite, cells, settings, out, json_to)
    with user_errors():
        _refuse({"only": only, "out": out}, "it goes with --suite")
        check_file("--json", json_to)
        if repeats < 1:
            raise ValueError(f"--repeats must be at least 1, got {repeats}")
        job = make_job(
            target or "digits",
            steps=steps,
            num=num,
            seed=seed,
            threads=threads,
            device=device,
            dtype=dtype,
            taught=taught,
        )
        words = METHODS if methods is None else methods
        chosen = _choose(job, words, tree_specs(rows, tree, "chain:32"))
        names = [method.name for method in chosen]
        if against is not None and against not in names:
            raise ValueError(f"--against {against!r} is not among the methods: {', '.join(names)}")
        if against is None and REFERENCE in names:
            against = REFERENCE
    with run_errors(), bars() as report:
        outcome = run_bench(job, chosen, repeats=repeats, wall=wall is not False, report=report)
    if not outcome.records:
        raise fail("interrupted before the first method was finished", INTERRUPTED)
    found = document(outcome, against=against, repeats=repeats)
    print_bench(found, console_for(json_to))
    with user_errors():
        write_json(found, json_to)
    if outcome.interrupted:
        raise typer.Exit(INTERRUPTED)


def _refuse(options: dict[str, Any], why: str) -> None:
    """Raise ValueError if one of these options was given."""
    for name, value in options.items():
        if value:
            raise ValueError(f"--{name} cannot be used here: {why}")


def _choose(job: Job, methods: str, trees: list[str]) -> list[Method]:
    """Return the methods, once per tree; the sequential sampler once."""
    names = list(dict.fromkeys(word.strip() for word in methods.split(",") if word.strip()))
    if not names:
        raise ValueError("--methods is empty: give at least one, e.g. recycled+greedy")
    chosen = [parse(SEQUENTIAL, trees[0])] if SEQUENTIAL in names else []
    for tree in trees:
        chosen += [parse(name, tree) for name in names if name != SEQUENTIAL]
    for method in chosen:
        job.check(method)
    return chosen
