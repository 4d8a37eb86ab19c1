"""What commands print, and where: tables on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from redraft import NonFiniteError, TargetError
from redraft.bench.runner import Report

__all__ = [
    "INTERRUPTED",
    "bars",
    "check_file",
    "console_for",
    "fail",
    "run_errors",
    "user_errors",
    "write_json",
]

STDOUT = "-"
FILE_WIDTH = 120
INTERRUPTED = 130  # exit status, as of a shell


def console_for(json_to: str | None) -> Console:
    """Return the console for tables: stdout, or stderr if the JSON goes to stdout."""
    console = Console(stderr=json_to == STDOUT, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, FILE_WIDTH)
    return console


def fail(message: object, status: int = 2) -> typer.Exit:
    """Print one line on stderr; return what to raise."""
    print(f"redraft: {' '.join(str(message).split())}", file=sys.stderr)
    return typer.Exit(status)


@contextmanager
def user_errors() -> Iterator[None]:
    """Turn errors of what the user asked for into one line and exit status 2."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise fail(error) from error


@contextmanager
def run_errors() -> Iterator[None]:
    """Turn errors of the model in a run into one line; any other is a bug and is shown whole."""
    try:
        yield
    except (NonFiniteError, TargetError) as error:
        raise fail(error) from error


def check_file(option: str, path: str | None) -> None:
    """Raise ValueError, before anything is computed, if a file could not be written."""
    if path is None or path == STDOUT:
        return
    file, folder = Path(path), Path(path).parent
    if file.is_dir():
        raise ValueError(f"{option} {path} is a folder: give a file")
    if not folder.is_dir():
        raise ValueError(f"{option} {path}: folder {folder} does not exist; make it first")
    if not os.access(file if file.exists() else folder, os.W_OK):
        raise ValueError(f"{option} {path} is not writable: choose another place")


def write_json(document: dict[str, Any], json_to: str | None) -> None:
    """Write a document to a file, to stdout ("-") or nowhere (None)."""
    if json_to is None:
        return
    text = json.dumps(document, indent=2, allow_nan=False)
    if json_to == STDOUT:
        print(text)
    else:
        Path(json_to).write_text(text + "\n", encoding="utf-8")


@contextmanager
def bars() -> Iterator[Report]:
    """Yield a function that draws a bar of committed steps for each title it is told of.

    Drawn on stderr, if that is a terminal, and only when told: never while something is timed.
    """
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("steps"),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=False,
        disable=not sys.stderr.isatty(),
    )
    tasks: dict[str, TaskID] = {}
    drawn = 0.0

    def report(title: str, done: int, total: int) -> None:
        nonlocal drawn
        if title not in tasks:
            tasks[title] = progress.add_task(title, total=total)
        progress.update(tasks[title], completed=done)
        if monotonic() - drawn > 0.1 or done == total:
            progress.refresh()
            drawn = monotonic()

    with progress:
        yield report
