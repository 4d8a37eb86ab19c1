"""The document of a benchmark as tables and sentences, for people. Needs rich."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = ["ACCEPTED", "acceptance_table", "new_table", "number", "print_bench", "show", "verdict"]

ACCEPTED = "Accepted of those tried, % by depth"

SHOWN_DEPTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)


def number(value: float | None, form: str = ".1f", unit: str = "") -> str:
    """Format a number; "-" if there is none."""
    return "-" if value is None else f"{value:{form}}{unit}"


def new_table(columns: list[str]) -> Table:
    """Return an empty table whose first two columns are words and the others numbers."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for place, column in enumerate(columns):
        if place < 2:
            table.add_column(column, overflow="fold")
        else:
            table.add_column(column, justify="right", no_wrap=True)
    return table


def show(title: str, table: Table, console: Console) -> None:
    """Print a table below its title."""
    console.print()
    console.print(Text(title, style="bold"))
    console.print(table)


def print_bench(found: dict[str, Any], console: Console) -> None:
    """Print what ``redraft bench`` has found."""
    head = "{target}, {chain}, {steps} steps, {num} samples, seed {seed}, {device} {dtype}, "
    console.print(Text((head + "{threads} thread(s)").format(**found)))
    title = "Target calls per sample (± 2 standard errors)"
    title += f", and their ratio to {found['against']}" if found["against"] else ""
    show(title, _calls(found), console)
    show(ACCEPTED, acceptance_table(found["methods"]), console)
    if found["latency_s"] is not None:
        show("Wall-clock of one sample drawn alone (medians)", _wall(found), console)
        console.print()
        console.print(Text(_latency_line(found)))
        timed = [m for m in found["methods"] if m["speedup_wall"] and m["drafter"]]
        if timed:
            best = max(timed, key=lambda method: method["speedup_wall"])
            console.print(Text("Fastest here: " + verdict(best, found["latency_s"])))
    if found["interrupted"]:
        console.print(Text("Interrupted: only what was finished is shown.", style="yellow"))


def _calls(found: dict[str, Any]) -> Table:
    against = found["against"]
    columns = ["method", "tree", "calls", "fewer", "rows", "per round"]
    columns += ["ratio"] if against else []
    table = new_table(columns)
    for method in found["methods"]:
        cells = [
            method["name"],
            method["tree"] or "-",
            _plus_minus(method["calls_mean"], method["calls_stderr"], ".1f"),
            number(method["speedup_calls"], ".1f", " x"),
            number(method["rows_mean"], ".0f"),
            number(method["committed_per_round"]),
        ]
        if against:
            cells.append(_plus_minus(method["calls_ratio"], method["calls_ratio_stderr"], ".3f"))
        table.add_row(*cells)
    return table


def _plus_minus(value: float | None, error: float | None, form: str) -> str:
    return number(value, form) + (f" ± {2 * error:{form}}" if error else "")


def _wall(found: dict[str, Any]) -> Table:
    columns = ["method", "tree", "ms", "faster", "ideal", "of ideal", "own work"]
    table = new_table(columns)
    for method in found["methods"]:
        wall, share, own = (method[k] for k in ("wall_s_median", "fraction_of_ideal", "own_share"))
        table.add_row(
            method["name"],
            method["tree"] or "-",
            number(None if wall is None else 1e3 * wall),
            number(method["speedup_wall"], ".2f", " x"),
            number(method["ideal_speedup_wall"], ".2f", " x"),
            number(None if share is None else 100 * share, ".0f", " %"),
            number(None if own is None else 100 * own, ".0f", " %"),
        )
    return table


def acceptance_table(methods: list[dict[str, Any]]) -> Table:
    """Return the share of tries that were accepted, by depth in the draft."""
    methods = [method for method in methods if method["acceptance_by_depth"]]
    deepest = max((len(method["acceptance_by_depth"]) for method in methods), default=0)
    depths = [depth for depth in SHOWN_DEPTHS if depth < deepest] + [deepest] * (deepest > 0)
    table = new_table(["method", "tree", *map(str, depths)])
    for method in methods:
        shares = method["acceptance_by_depth"]
        cells = [shares[depth - 1] if depth <= len(shares) else None for depth in depths]
        percents = [number(None if cell is None else 100 * cell, ".0f") for cell in cells]
        table.add_row(method["name"], method["tree"], *percents)
    return table


def _latency_line(found: dict[str, Any]) -> str:
    seconds = found["latency_s"]
    calls = ", ".join(f"{rows}: {1e3 * value:.2f} ms" for rows, value in seconds.items())
    over = found["sequential_overhead"]
    text = f"One call of the target alone, by rows: {calls}. Ideal = calls x that."
    if over is not None:
        text += f" Sequential sampler: {100 * over:+.1f} % over a bare loop of the model."
    return text


def verdict(method: dict[str, Any], latency: dict[str, float]) -> str:
    """Say in one sentence what a method's calls and rows came to on this device."""
    rows, fewer, faster = method["rows"], method["speedup_calls"], method["speedup_wall"]
    name = f"{method['name']} {method['tree']}"
    own = f"{100 * method['own_share']:.0f} % of its time was not the target"
    price = ""
    if str(rows) in latency and rows > 1:
        ratio = latency[str(rows)] / latency["1"]
        price = f"a call on {rows} rows costs {ratio:.1f} x a call on one here, so "
    if faster >= 1:
        return f"{name}: {price}{fewer:.1f} x fewer calls came to {faster:.1f} x less time; {own}."
    return (
        f"{name}: {price}{fewer:.1f} x fewer calls came to {1 / faster:.1f} x MORE time; {own}. "
        "Speculation does not pay for this model on this device: sample sequentially."
    )
