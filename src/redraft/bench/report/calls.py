"""Plots of target calls: against rows, and as speed-up against steps."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.figure import Figure

from redraft.bench.report.data import Document, best_by_name, groups, names, title
from redraft.bench.report.style import Look, Theme, looks, panels

__all__ = ["calls_by_rows", "legend", "speedup_by_steps"]


def calls_by_rows(found: Document, theme: Theme) -> Figure:
    """Calls of each method, with its best tree, against the most rows of a call."""
    theirs, ours = names(found)
    look, by = looks(theirs, ours, theme), groups(found)
    columns = min(len(by), 3 if len(by) == 3 else 2)
    lines = math.ceil(len(by) / columns)
    figure, axes = panels(lines, columns, 2.7 * lines + 0.7)
    every = [kept["cell"]["rows"] for kept in found["cells"]]
    span = min(every) / 1.2, max(every) * 1.2
    for axis, ((target, steps), cells) in zip(axes.flat, by.items(), strict=False):
        axis.set_yscale("log")
        _lines(axis, cells, look, "calls_mean", "calls_stderr")
        rows = [kept["cell"]["rows"] for kept in cells]
        least = [max(steps / count, 1.0) for count in rows]
        low, high = axis.get_ylim()
        axis.plot(rows, least, "-", color=theme.faint, label="every row of a chain kept")
        axis.set(
            xscale="log",
            yscale="log",
            title=title(target, steps),
            xlim=span,
            ylim=(0.7 * low, high),
        )
        _plain_ticks(axis, rows)
    for axis in axes.flat[len(by) :]:
        axis.set_visible(False)
    for axis in axes[-1]:
        axis.set_xlabel("rows of a call, at most")
    for axis in axes[:, 0]:
        axis.set_ylabel("target calls per sample")
    legend(figure, axes)
    return figure


def speedup_by_steps(found: Document, theme: Theme) -> Figure | None:
    """Speed-up in calls against the number of steps; None if there is one number only."""
    theirs, ours = names(found)
    look = looks(theirs, ours, theme)
    by: dict[int, list[Document]] = {}
    for kept in sorted(found["cells"], key=lambda kept: kept["cell"]["steps"]):
        by.setdefault(kept["cell"]["rows"], []).append(kept)
    by = {r: cells for r, cells in by.items() if len({c["cell"]["steps"] for c in cells}) > 1}
    if not by or len({kept["cell"]["target"] for kept in found["cells"]}) > 1:
        return None
    sizes = sorted(by)
    chosen = sorted({sizes[0], sizes[len(sizes) // 2], sizes[-1]})
    figure, axes = panels(1, len(chosen), 3.4, sharey=True)
    for axis, rows in zip(axes.flat, chosen, strict=True):
        _lines(axis, by[rows], look, "speedup_calls", None, "steps")
        axis.set(xscale="log", yscale="log", title=f"{rows} rows", xlabel="steps")
    for axis, rows in zip(axes.flat, chosen, strict=True):  # when all have set the common limits
        _plain_ticks(axis, [kept["cell"]["steps"] for kept in by[rows]])
    axes[0, 0].set_ylabel("sequential calls / calls")
    legend(figure, axes)
    return figure


def _lines(
    axis: Any,
    cells: list[Document],
    look: dict[str, Look],
    value: str,
    error: str | None,
    x: str = "rows",
) -> None:
    """Draw a line for each method, with two standard errors."""
    for name, style in look.items():
        points = []
        for kept in cells:
            method = best_by_name(kept, [name]).get(name)
            if method is not None:
                spread = 2 * (method[error] or 0.0) if error else 0.0
                points.append((kept["cell"][x], method[value], spread))
        if points:
            places, values, spreads = zip(*points, strict=True)
            axis.errorbar(
                places, values, spreads if error else None, label=name, capsize=2, **style.line()
            )


def _plain_ticks(axis: Any, places: list[int]) -> None:
    """Put ticks at what was measured, and write numbers as people do."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    shown: list[int] = []
    for place in sorted(set(places), reverse=True):
        if not shown or shown[-1] >= 1.7 * place:  # the labels of nearer ones would touch
            shown.append(place)
    axis.set_xticks(shown, [str(place) for place in shown])
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.xaxis.set_tick_params(which="minor", length=0)
    low, high = axis.get_ylim()
    for steps in ((1, 2, 5), (1, 1.5, 2, 3, 5, 7), (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8)):
        nice = [step * 10.0**power for power in range(-1, 5) for step in steps]
        ticks = [tick for tick in nice if low <= tick <= high]
        if len(ticks) >= 4:
            break
    axis.set_yticks(ticks)
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.yaxis.set_tick_params(which="minor", length=0)
    axis.set_ylim(low, high)


def legend(figure: Figure, axes: Any) -> None:
    """One legend below all panels."""
    found: dict[str, Any] = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    figure.legend(
        list(found.values()), list(found), loc="outside lower center", ncols=3, handlelength=2.6
    )
