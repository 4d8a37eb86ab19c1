"""``redraft env``."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from redraft.bench.environment import environment
from redraft.cli.console import console_for, write_json

__all__ = ["env"]


def env(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print versions and devices, for a bug report.

    \b
    Examples:
      redraft env
      redraft env --json
    """
    found = environment()
    if as_json:
        write_json(found, "-")
        return
    table = Table.grid(padding=(0, 2))
    for name, value in {**found.pop("versions"), **found}.items():
        text = ", ".join(value) if isinstance(value, list) else str(value)
        table.add_row(name, text or "none")
    console_for(None).print(table)
