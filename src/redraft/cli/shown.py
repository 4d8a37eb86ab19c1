"""What ``redraft sample`` has found: its JSON, its table, its one honest sentence."""

from __future__ import annotations

from statistics import fmean, median
from typing import Any

from rich.console import Console
from rich.text import Text

from redraft.bench.document import method_entry, settings_entry
from redraft.bench.runner import Outcome
from redraft.bench.tables import ACCEPTED, acceptance_table, new_table, number, show, verdict

__all__ = ["panel_titles", "print_sample", "sample_document"]


def sample_document(outcome: Outcome, *, guidance: float | None, out: str) -> dict[str, Any]:
    """Return the run, ready for JSON: the schema of ``redraft bench`` and the calls per sample.

    Args:
        outcome: What was measured.
        guidance: Guidance scale that is part of the target.
        out: The picture's file.
    """
    job = outcome.job
    methods = []
    for record in outcome.records:
        entry = method_entry(record, outcome)
        entry["calls"] = [int(calls) for calls in record.calls]
        entry["wall_s_total"] = sum(run.wall for run in record.runs)
        methods.append(entry)
    found = settings_entry(outcome) | {
        "num": len(outcome.records[0].runs),
        "label": None if job.label is None else job.label.tolist(),
        "guidance": guidance,
        "out": out,
        "interrupted": outcome.interrupted,
        "latency_s": _latency(outcome),
        "methods": methods,
    }
    return found | {"meaning": _meaning(found)}


def _latency(outcome: Outcome) -> dict[str, float]:
    """Seconds of the runs' own calls, on one row and on a full round's rows.

    Means within a run, as waits within it are part of what the run took; medians over runs.
    """
    seconds: dict[str, float] = {}
    for record in outcome.records:
        means, most = [], max(record.method.call_rows())
        for run in record.runs:
            calls = zip(run.call_rows, run.call_seconds, strict=True)
            full = [each for rows, each in calls if rows == most]
            means += [fmean(full)] if full else []
        if means:
            seconds[str(most)] = median(means)
    return seconds


def _meaning(found: dict[str, Any]) -> str:
    """The honest sentence."""
    method = found["methods"][-1]
    if method["speedup_wall"] is None:
        return (
            f"{method['name']} {method['tree']} took {method['calls_mean']:.1f} calls instead of "
            f"{found['steps'] + 1}; whether that is faster on this device, only the baseline tells "
            "(leave out --no-baseline)."
        )
    return verdict(method, found["latency_s"])


def panel_titles(found: dict[str, Any]) -> list[str]:
    """Return the title of each method's samples in the picture."""
    titles = []
    for method in found["methods"]:
        name = f"{method['name']} {method['tree'] or ''}".strip()
        calls = number(method["calls_mean"]).removesuffix(".0")
        titles.append(f"{name}\n{calls} calls, {1e3 * method['wall_s_median']:.0f} ms a sample")
    return titles


def print_sample(found: dict[str, Any], console: Console) -> None:
    """Print what ``redraft sample`` has found."""
    head = "{num} samples of {target}, one after another; {chain}, {steps} steps, seed {seed}, "
    console.print(Text((head + "{device} {dtype}, {threads} thread(s)").format(**found)))
    columns = ["method", "tree", "calls", "fewer", "rows", "ms (median)", "faster", "total s"]
    table = new_table(columns)
    for method in found["methods"]:
        table.add_row(
            method["name"],
            method["tree"] or "-",
            number(method["calls_mean"]),
            number(method["speedup_calls"], ".1f", " x"),
            number(method["rows_mean"], ".0f"),
            number(1e3 * method["wall_s_median"]),
            number(method["speedup_wall"], ".2f", " x"),
            number(method["wall_s_total"]),
        )
    show("Per sample", table, console)
    show(ACCEPTED, acceptance_table(found["methods"]), console)
    console.print()
    console.print(Text(found["meaning"]))
    if found["interrupted"]:
        console.print(Text("Interrupted: only finished samples are shown.", style="yellow"))
    console.print(Text(f"Picture: {found['out']}"))
