"""Write a suite's page, its plots and its numbers."""

from __future__ import annotations

import json
import shlex
from importlib import resources
from pathlib import Path
from typing import Any

from redraft.bench.report.data import Document, fastest, focus, title
from redraft.bench.report.figures import Plot, draw
from redraft.bench.report.style import as_uri
from redraft.bench.report.tables import all_cells, auto_table, summary, versus_published, versus_x0
from redraft.bench.suite.best import best_of, is_baseline, is_ours
from redraft.bench.suite.store import Store

__all__ = ["load", "page", "write_report"]

ENOUGH = 256
"""Samples below which the page says that it was made with few."""


def load(path: Path | str) -> tuple[Document, list[str]]:
    """Return a suite and notes on what was ignored, from its folder or a report's JSON.

    Raises:
        ValueError: If there is no suite, or no finished cell.
    """
    place = Path(path)
    if not place.is_file():
        store = Store(place)
        return store.load(), store.notes
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{place} is not JSON ({error}): give a suite's folder") from error
    if not isinstance(found, dict) or not {"suite", "cells", "settings"} <= set(found):
        raise ValueError(f"{place} is no suite's JSON: give the folder of redraft bench --suite")
    return found, []


def write_report(found: Document, out: Path | str) -> list[Path]:
    """Write the page, and beside it a PNG of each plot and the JSON; return what was written.

    Args:
        found: A suite; see `load`.
        out: The page's file, ``report.html``; the others are named after it.
    """
    file, found = Path(out), _short(found)  # first, so that the JSON makes the same page
    plots = draw(found)
    written = {file: page(found, plots, file.with_suffix(".json").name).encode()}
    for plot in plots:
        written[file.with_name(f"{file.stem}-{plot.slug}.png")] = plot.light
    text = json.dumps(found, allow_nan=False, separators=(",", ":"))
    written[file.with_suffix(".json")] = (text + "\n").encode()
    for path, content in written.items():
        path.write_bytes(content)
    return list(written)


def page(found: Document, plots: list[Plot], json_name: str) -> str:
    """Return the HTML."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters["uri"] = as_uri
    source = resources.files("redraft.bench.report").joinpath("template.html")
    settings = found["settings"]
    return environment.from_string(source.read_text(encoding="utf-8")).render(
        suite=found["suite"],
        date=max(kept["date"] for kept in found["cells"]),
        lead=_lead(found),
        few=settings["num"] < ENOUGH,
        settings=settings,
        environment=_environment(found),
        notes=_notes(found),
        plots=plots,
        summary=summary(found),
        versus=versus_published(found),
        x0=versus_x0(found),
        auto=auto_table(found),
        cells=all_cells(found),
        commands=_commands(found),
        json_name=json_name,
    )


def _lead(found: Document) -> list[str]:
    """Say the main results in sentences: of each target, the cell with about 32 rows."""
    said = []
    for target in dict.fromkeys(kept["cell"]["target"] for kept in found["cells"]):
        mine = [kept for kept in found["cells"] if kept["cell"]["target"] == target]
        said += _compare(focus({"cells": mine}))
    best = fastest([focus(found)])
    if best is not None:
        kept, method = best
        said.append(
            f"In time, there and on {found['settings']['hardware']}, the fastest is "
            f"{method['name']} {method['tree']}: {method['speedup_wall']:.2f} times faster than "
            f"sequential sampling, {100 * method['fraction_of_ideal']:.0f} % of the ideal."
        )
    return said


def _compare(kept: Document) -> list[str]:
    """Compare the best of ours with the best published method of a cell."""
    cell, methods = kept["cell"], kept["found"]["methods"]
    ours = best_of([m for m in methods if is_ours(m)])
    theirs = best_of([m for m in methods if is_baseline(cell, m)])
    if ours is None or theirs is None:
        return []
    saved = theirs["calls_mean"] / ours["calls_mean"]
    return [
        f"{title(cell['target'], cell['steps'])}, at most {cell['rows']} rows a call: "
        f"{ours['name']} {ours['tree'] or ''} takes {ours['calls_mean']:.1f} calls, "
        f"{ours['speedup_calls']:.1f} times fewer than sequential sampling and {saved:.2f} times "
        f"fewer than the best published method here ({theirs['name']} {theirs['tree']}, "
        f"{theirs['calls_mean']:.1f} calls)."
    ]


def _environment(found: Document) -> list[tuple[str, str]]:
    """Return where it was measured."""
    settings, environment = found["settings"], found["environment"]
    versions = ", ".join(f"{name} {version}" for name, version in settings["versions"].items())
    return [
        ("hardware", settings["hardware"]),
        ("device", f"{settings['device']}, {settings['dtype']}, {settings['threads']} thread(s)"),
        ("platform", environment["platform"]),
        ("versions", versions),
        ("source", settings["source"]),
        ("samples", f"{settings['num']} per method and cell, seed {settings['seed']}"),
        ("taught on", f"3 passes of {settings['taught']} other samples (methods :warm)"),
        ("timing", f"{settings['repeats']} interleaved repeats on up to 4 samples, medians"),
        ("time taken", f"{sum(kept['seconds'] for kept in found['cells']) / 60:.0f} min"),
    ]


def _notes(found: Document) -> list[str]:
    """Say what is missing."""
    notes = []
    if found["missing"]:
        notes.append(f"Not measured yet: {', '.join(found['missing'])}.")
    for kept in found["cells"]:
        for what, error in kept["found"].get("failed", {}).items():
            notes.append(f"{kept['slug']}: {what} could not be run: {error}")
    return notes


def _commands(found: Document) -> list[str]:
    """Return what reproduces the page, all cells and one of them."""
    settings, cell = found["settings"], focus(found)["cell"]
    options = {"num": 128, "seed": 0, "taught": 64, "repeats": 3, "threads": 1}
    suite = ["redraft", "bench", "--suite", found["suite"], "--num", str(settings["num"])]
    for name, usual in options.items():
        if name != "num" and settings[name] != usual:
            suite += [f"--{name}", str(settings[name])]
    for name, usual in (("device", "cpu"), ("dtype", "float32")):
        if settings[name] != usual:
            suite += [f"--{name}", str(settings[name])]
    only = f"target={cell['target']},steps={cell['steps']},rows={cell['rows']}"
    return [
        shlex.join(suite),
        shlex.join([*suite, "--only", only]),
        f"redraft report redraft-suite-{found['suite']}",
    ]


def _short(value: Any) -> Any:
    """Return a document with its numbers to seven digits."""
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, dict):
        return {key: _short(each) for key, each in value.items()}
    return [_short(each) for each in value] if isinstance(value, (list, tuple)) else value
