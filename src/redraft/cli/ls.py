"""``redraft ls``."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from redraft.bench import TARGETS
from redraft.cli.console import console_for, write_json
from redraft.coupling import VERIFIERS
from redraft.draft import DRAFTERS

__all__ = ["catalogue", "ls"]

TREES = {
    "chain:16": "16 rows below one another.",
    "kary:2,4": "2 children per node, 4 levels of rows: 15 rows (not with reflection).",
    "best:31,0.6": "31 rows where they reach most, for drafts accepted with chance 0.6.",
}
METHODS = {
    "sequential": "One call per step: the baseline.",
    "recycled+greedy": "Drafter and verifier.",
    "free:eps+reflection": "What free and frozen hold fixed: x0, eps, v, velocity, increment.",
    "recycled:warm+greedy": "Recycled or free is taught beforehand, on other samples.",
    "auto": "What redraft.tune chooses for least calls; auto:time for least time here.",
    "free:parent+reflection": "Free takes the prediction where the round stopped, not the nearest.",
}


def catalogue() -> dict[str, dict[str, str]]:
    """Return what can be named on the command line, with a line each."""
    return {
        "targets": {name: _line(make) for name, make in TARGETS.items()},
        "drafters": {name: _line(kind) for name, kind in DRAFTERS.items()},
        "verifiers": {name: _line(kind) for name, kind in VERIFIERS.items()},
        "trees": TREES,
        "methods": METHODS,
    }


def ls(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List targets, drafters, verifiers, trees and methods.

    \b
    Examples:
      redraft ls
      redraft ls --json
    """
    found = catalogue()
    if as_json:
        write_json(found, "-")
        return
    table = Table.grid(padding=(0, 2))
    for kind, entries in found.items():
        table.add_row(Text(kind, style="bold"))
        for name, line in entries.items():
            table.add_row(f"  {name}", line)
    console_for(None).print(table)


def _line(part: Any) -> str:
    """First sentence of a docstring, as plain text."""
    return " ".join((inspect.getdoc(part) or "").partition("\n\n")[0].split()).replace("`", "")
