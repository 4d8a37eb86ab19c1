"""``redraft bench --suite NAME``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic

import torch
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from redraft.bench.suite import SUITES, Cell, Settings, Store, narrow, run_suite
from redraft.bench.suite.run import Tell
from redraft.bench.suite.table import print_suite
from redraft.cli.console import INTERRUPTED, check_file, console_for, user_errors, write_json
from redraft.cli.options import DTYPES, check_numbers, find_device
from redraft.registry import choose

__all__ = ["make_settings", "measure_suite", "suite_cells"]


def suite_cells(
    name: str, target: str | None, only: str | None, methods: str | None, wall: bool | None
) -> list[Cell]:
    """Return the cells that are asked for.

    Raises:
        ValueError: If the suite, or what it is narrowed to, does not exist.
    """
    cells = narrow(choose("suite", name, SUITES)(), target=target, only=only, methods=methods)
    return cells if wall is None else [replace(cell, wall=wall) for cell in cells]


def make_settings(
    *, num: int, seed: int, taught: int, repeats: int, threads: int, device: str, dtype: str
) -> Settings:
    """Return what the cells share, and set the number of threads.

    Raises:
        ValueError: If an option has no valid value; the message names it.
    """
    check_numbers(seed, num=num, taught=taught, repeats=repeats, threads=threads)
    torch.set_num_threads(threads)
    place, number = find_device(device), choose("dtype", dtype, DTYPES)
    return Settings(num, seed, taught, repeats, threads, place, number)


def measure_suite(
    name: str, cells: list[Cell], settings: Settings, out: str | None, json_to: str | None
) -> None:
    """Measure what is missing, print all of it and say how to go on."""
    folder = Path(out or f"redraft-suite-{name}")
    with user_errors():
        check_file("--json", json_to)
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"--out {folder} is a file: give a folder")
        store = Store(folder)
        with _bar() as tell:
            outcome = run_suite(name, cells, settings, store, command=_command(), tell=tell)
    console = console_for(json_to)
    for note in store.notes:
        _say(note)
    for what, error in outcome.failed.items():
        _say(f"could not run {what}: {error}")
    if outcome.resumed:
        _say(f"{len(outcome.resumed)} of {len(cells)} cells were there already")
    if outcome.resumed or outcome.finished:
        found = Store(folder).load()
        print_suite(found, console)
        with user_errors():
            write_json(found, json_to)
    if outcome.interrupted:
        left = len(cells) - len(outcome.resumed) - len(outcome.finished)
        _say(f"interrupted, {left} cells are left: the same command goes on from here")
        raise typer.Exit(INTERRUPTED)
    _say(f"kept in {folder}; a page of it: redraft report {folder}")


def _say(text: str) -> None:
    print(f"redraft: {' '.join(text.split())}", file=sys.stderr)


def _command() -> str:
    """Return this process's command, as one would type it."""
    return shlex.join(["redraft", *sys.argv[1:]])


@contextmanager
def _bar() -> Iterator[Tell]:
    """Yield a function that draws one bar over all cells, with the time that is left.

    Drawn on stderr, if that is a terminal, and only when told: never while something is timed.
    """
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TextColumn("{task.fields[left]}"),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=False,
        disable=not sys.stderr.isatty(),
    )
    task = progress.add_task("", total=1.0, left="")
    began, first, drawn = monotonic(), -1.0, 0.0

    def tell(title: str, done: float, total: float) -> None:
        nonlocal first, drawn
        first = done if first < 0 else first
        if monotonic() - drawn < 0.2:
            return
        left = time_left(monotonic() - began, done - first, total - done)
        progress.update(task, description=title, completed=done / total, left=left)
        progress.refresh()
        drawn = monotonic()

    with progress:
        yield tell


def time_left(seconds: float, done: float, left: float) -> str:
    """Say how long it will take, from how long it took."""
    if done <= 0 or seconds < 1:
        return ""
    minutes, second = divmod(round(seconds / done * left), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d} left"
