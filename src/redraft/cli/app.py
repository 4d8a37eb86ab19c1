"""The commands, and what they have in common."""

from __future__ import annotations

from typing import Annotated

import typer

from redraft import __version__
from redraft.cli.bench import bench
from redraft.cli.env import env
from redraft.cli.ls import ls
from redraft.cli.plan import plan
from redraft.cli.report import report
from redraft.cli.sample import sample

__all__ = ["app"]

app = typer.Typer(
    name="redraft",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"redraft {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Exact speculative sampling of diffusion models: fewer sequential calls, same law.

    \b
    Examples:
      redraft sample                     digits, side by side with sequential sampling
      redraft plan digits                what is fastest on this device
      redraft bench digits --rows 8,16   methods compared on one target
      redraft report DIR                 a page about a suite of benchmarks
      redraft ls                         targets, drafters, verifiers, trees
      redraft env                        versions and devices
    """


for command in (sample, plan, bench, report, ls, env):
    app.command()(command)
