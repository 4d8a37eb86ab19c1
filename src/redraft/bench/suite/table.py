"""A suite as one table for people: best published method and best of ours, cell by cell."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from redraft.bench.suite.best import best_of, is_baseline, is_ours
from redraft.bench.tables import new_table, number, show

__all__ = ["print_suite"]


def print_suite(found: dict[str, Any], console: Console) -> None:
    """Print what is known of a suite; see `Store.load`."""
    columns = ["cell", "best published", "calls", "best of ours", "calls", "ratio", "fewer"]
    table = new_table(columns)
    table.columns[3].justify = "left"
    for kept in found["cells"]:
        cell, methods = kept["cell"], kept["found"]["methods"]
        published = best_of([m for m in methods if is_baseline(cell, m)])
        ours = best_of([m for m in methods if is_ours(m)])
        ratio, error, fewer = (
            None if ours is None else ours[key]
            for key in ("calls_ratio", "calls_ratio_stderr", "speedup_calls")
        )
        table.add_row(
            f"{cell['target']}, {cell['steps']} steps, {cell['rows']} rows",
            *_name_and_calls(published),
            *_name_and_calls(ours),
            number(ratio, ".3f") + (f" ± {2 * error:.3f}" if error else ""),
            number(fewer, ".1f", " x"),
        )
    title = "Target calls per sample, at most so many rows a call (± 2 standard errors)"
    show(title, table, console)


def _name_and_calls(method: dict[str, Any] | None) -> tuple[str, str]:
    if method is None:
        return "-", "-"
    return f"{method['name']} {method['tree']}", number(method["calls_mean"])
