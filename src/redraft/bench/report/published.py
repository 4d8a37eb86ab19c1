"""Published speed-ups beside ours, number by number."""

from __future__ import annotations

import math
from typing import NamedTuple

from matplotlib.figure import Figure

from redraft.bench.published import CELLS, Cell
from redraft.bench.report.calls import legend
from redraft.bench.report.data import Document
from redraft.bench.report.style import Theme, panels

__all__ = ["Pair", "compared", "comparison"]


class Pair(NamedTuple):
    """A published number and ours.

    Attributes:
        cell: The published one.
        speedup: Ours, sequential calls / mean calls.
        stderr: Its standard error; None for a single sample.
    """

    cell: Cell
    speedup: float
    stderr: float | None

    @property
    def whose(self) -> str:
        """Who published it."""
        return "authors" if self.cell.authors else "reimplementation"

    @property
    def apart(self) -> float | None:
        """Difference, ours - theirs, in combined standard errors."""
        if self.stderr is None:
            return None
        return (self.speedup - self.cell.speedup) / math.hypot(self.stderr, self.cell.stderr)


def compared(found: Document) -> list[Pair]:
    """Return every published number that the suite has measured too, by churn."""
    measured = {}
    for kept in found["cells"]:
        name, _, churn = kept["cell"]["target"].partition(":")
        if name == "gm" and kept["cell"]["protocol"]:
            for method in kept["found"]["methods"]:
                measured[method["name"], method["tree"], float(churn)] = method
    pairs = []
    for cell in CELLS:
        method = measured.get((cell.method, cell.tree, cell.churn))
        if method is not None:
            speedup, error = method["speedup_calls"], method["calls_stderr"]
            relative = None if error is None else error / method["calls_mean"]
            pairs.append(Pair(cell, speedup, None if relative is None else speedup * relative))
    return sorted(pairs, key=lambda pair: pair.cell.churn)


def comparison(found: Document, theme: Theme) -> Figure | None:
    """Published and measured speed-ups with two standard errors; None if there is nothing."""
    pairs = compared(found)
    if not pairs:
        return None
    churns = sorted({pair.cell.churn for pair in pairs})
    sizes = [sum(pair.cell.churn == churn for pair in pairs) for churn in churns]
    figure, axes = panels(
        len(churns), 1, 0.21 * sum(sizes) + 1.1 * len(churns), height_ratios=sizes, sharex=True
    )
    for axis, churn in zip(axes[:, 0], churns, strict=True):
        mine = [pair for pair in pairs if pair.cell.churn == churn][::-1]
        for place, (cell, speedup, error) in enumerate(mine):
            theirs = theme.ours[1] if cell.authors else theme.theirs[0]
            label = "published by the authors" if cell.authors else "published, reimplementation"
            axis.errorbar(
                cell.speedup, place + 0.16, xerr=2 * cell.stderr, fmt="s", color=theirs, ms=4,
                label=label,
            )  # fmt: skip
            axis.errorbar(
                speedup, place - 0.16, xerr=2 * (error or 0.0), fmt="o", color=theme.ours[0], ms=4,
                label="measured here",
            )  # fmt: skip
        axis.set_yticks(range(len(mine)), [f"{p.cell.method} {p.cell.tree}" for p in mine])
        axis.set(title=f"churn {churn:g}", ylim=(-0.7, len(mine) - 0.3))
        axis.tick_params(axis="y", labelsize=7.5)
    axes[-1, 0].set_xlabel("speed-up in calls (± 2 standard errors)")
    legend(figure, axes)
    return figure
