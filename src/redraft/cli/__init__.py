"""The ``redraft`` command. What it needs beyond the library is imported when it runs."""

from __future__ import annotations

import sys

__all__ = ["main"]

NEEDED = ("typer", "rich", "click", "matplotlib", "jinja2")


def main() -> None:
    """Run the command line of this process."""
    try:
        from redraft.cli.app import app
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in NEEDED:
            raise
        print(
            f"redraft: the command line needs {error.name}, which is not installed: "
            "pip install 'redraft[cli]'",
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    app(prog_name="redraft")
