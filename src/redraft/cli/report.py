"""``redraft report``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from redraft.cli.console import check_file, user_errors

__all__ = ["report"]


def report(
    suite: Annotated[
        str, typer.Argument(metavar="DIR|JSON", help="A suite's folder, or a report's JSON.")
    ],
    out: Annotated[
        str | None, typer.Option(help="The page. Default report.html in the suite's folder.")
    ] = None,
) -> None:
    """Write a page about a suite: one HTML file, a PNG of each plot beside it, and the JSON.

    The page needs nothing else and no network. What is missing of the suite is left out.

    \b
    Examples:
      redraft report redraft-suite-digits
      redraft report redraft-suite-papers --out papers.html
    """
    from redraft.bench.report import write_report
    from redraft.bench.report.write import load

    place = Path(suite)
    file = Path(out) if out else (place.parent if place.is_file() else place) / "report.html"
    with user_errors():
        if file.suffix != ".html":
            raise ValueError(f"--out {file} must end in .html")
        if out:
            check_file("--out", out)
        found, notes = load(place)
        for note in notes:
            print(f"redraft: {note}", file=sys.stderr)
        written = write_report(found, file)
    print(f"{file} ({len(written) - 1} files beside it)")
