"""Plots of wall-clock: measured beside the ideal, and the cost of rows on the device."""

from __future__ import annotations

from statistics import median
from typing import Any

from matplotlib.figure import Figure

from redraft.bench.report.calls import legend
from redraft.bench.report.data import Document, best_by_name, fastest, names, timed
from redraft.bench.report.style import Theme, looks, panels

__all__ = ["cost_curve", "latencies", "wall_and_ideal"]


def wall_and_ideal(found: Document, theme: Theme) -> Figure | None:
    """Speed-up in time of each method beside calls x C(rows); None if nothing was timed."""
    cells = timed(found)
    if not cells:
        return None
    theirs, ours = names(found)
    look = looks(theirs, ours, theme)
    present = [n for n in look if any(best_by_name(kept, [n]) for kept in cells)][::-1]
    figure, axes = panels(1, len(cells), 0.36 * len(present) + 1.7, sharey=True, sharex=True)
    for axis, kept in zip(axes.flat, cells, strict=True):
        for place, name in enumerate(present):
            method = best_by_name(kept, [name]).get(name)
            if method is None or method["speedup_wall"] is None:
                continue
            colour = look[name].color
            real, ideal = method["speedup_wall"], method["ideal_speedup_wall"]
            axis.plot([real, ideal], [place, place], "-", color=colour, linewidth=1.5)
            axis.plot(ideal, place, "o", color=colour, markerfacecolor=theme.paper)
            axis.plot(real, place, "o", color=colour)
        axis.axvline(1.0, color=theme.ink, linewidth=0.8)
        axis.set(title=f"{kept['cell']['rows']} rows", ylim=(-0.6, len(present) - 0.4))
    axes[0, 0].set_yticks(range(len(present)), present)
    ink = {"linestyle": "none", "marker": "o", "color": theme.ink}
    axes[0, 0].plot([], [], label="measured", **ink)
    axes[0, 0].plot([], [], label="ideal: calls × C(rows)", markerfacecolor=theme.paper, **ink)
    axes[0, len(cells) // 2].set_xlabel("times faster than sequential sampling")
    legend(figure, axes)
    return figure


def cost_curve(found: Document, theme: Theme) -> Figure | None:
    """Latency by rows, and what the best method makes of it; None if nothing was timed."""
    cells = timed(found)
    best = fastest(cells)
    if best is None:
        return None
    seconds = latencies(cells)
    rows = list(seconds)
    relative = [seconds[count] / seconds[1] for count in rows]
    figure, axes = panels(1, 2, 3.4)
    left, right = axes.flat
    colour = theme.ours[0]
    left.plot(rows, relative, "o-", color=colour, label="C(rows) / C(1), measured")
    left.plot(rows, rows, ":", color=theme.ink, linewidth=1, label="proportional to rows")
    left.set(xlabel="rows of a call", ylabel="cost of a call, in calls of one row")
    left.set_ylim(0, 1.7 * max(relative))
    chosen = best[1]["rows"]
    if chosen in seconds:
        _star(left, chosen, seconds[chosen] / seconds[1], theme)
    by_rows = [max_by(kept, "speedup_wall") for kept in cells]
    sizes = [method["rows"] for method in by_rows]
    right.plot(
        sizes,
        [method["ideal_speedup_wall"] for method in by_rows],
        "o--",
        color=colour,
        markerfacecolor=theme.paper,
        label="fastest method, ideal",
    )
    right.plot(
        sizes,
        [method["speedup_wall"] for method in by_rows],
        "o-",
        color=colour,
        label="fastest method, measured",
    )
    _star(right, chosen, best[1]["speedup_wall"], theme)
    right.set(xlabel="rows of a call", ylabel="times faster than sequential")
    right.set_ylim(0, 1.25 * max(method["ideal_speedup_wall"] for method in by_rows))
    for axis, where in ((left, "upper left"), (right, "lower right")):
        axis.legend(loc=where)
        axis.xaxis.get_major_locator().set_params(integer=True)
    return figure


def latencies(cells: list[Document]) -> dict[int, float]:
    """Return seconds of a call by rows, the median over cells."""
    seconds: dict[int, list[float]] = {}
    for kept in cells:
        for rows, value in kept["found"]["latency_s"].items():
            seconds.setdefault(int(rows), []).append(value)
    return {rows: median(values) for rows, values in sorted(seconds.items())}


def max_by(kept: Document, key: str) -> dict[str, Any]:
    """Return the method of a cell with the largest value."""
    known = [m for m in kept["found"]["methods"] if m["drafter"] and m[key] is not None]
    return max(known, key=lambda method: method[key])


def _star(axis: Any, x: float, y: float, theme: Theme) -> None:
    """Mark the chosen point."""
    style = {"color": theme.ours[1], "markersize": 13, "zorder": 5, "linestyle": "none"}
    axis.plot(x, y, "*", label=f"chosen: {x:g} rows", **style)
