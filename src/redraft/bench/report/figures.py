"""The page's figures, in order: what each shows, in words too for those who cannot see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from matplotlib.figure import Figure

from redraft.bench.report.acceptance import acceptance
from redraft.bench.report.calls import calls_by_rows, speedup_by_steps
from redraft.bench.report.data import Document, best_by_name, fastest, focus, names, timed, title
from redraft.bench.report.published import compared, comparison
from redraft.bench.report.style import DARK, LIGHT, Theme, png, themed
from redraft.bench.report.trees import chosen_trees, tree_figure
from redraft.bench.report.wall import cost_curve, latencies, wall_and_ideal

__all__ = ["Plot", "draw"]


class Kind(NamedTuple):
    """A figure that a page may have."""

    slug: str
    title: str
    caption: str
    make: Callable[[Document, Theme], Figure | None]
    describe: Callable[[Document], str]


class Plot(NamedTuple):
    """A figure of a page.

    Attributes:
        slug: For the file's name and the anchor.
        title: Heading.
        caption: How to read it.
        alt: What it shows, in words.
        light: PNG on a light ground.
        dark: PNG on a dark ground.
    """

    slug: str
    title: str
    caption: str
    alt: str
    light: bytes
    dark: bytes


def draw(found: Document) -> list[Plot]:
    """Return the figures that the measured cells allow."""
    plots = []
    for kind in KINDS:
        images = []
        for theme in (LIGHT, DARK):
            with themed(theme):
                figure = kind.make(found, theme)
                images += [] if figure is None else [png(figure)]
        if images:
            alt = kind.describe(found)
            plots.append(Plot(kind.slug, kind.title, kind.caption, alt, images[0], images[1]))
    return plots


def _calls(found: Document) -> str:
    return "Line plots of target calls against rows of a call. " + _in_words(found, "calls_mean")


def _speedup(found: Document) -> str:
    return "Line plots of speed-up in calls against steps. " + _in_words(found, "speedup_calls")


def _in_words(found: Document, key: str) -> str:
    """Say the values of the cell shown in detail."""
    kept, (theirs, ours) = focus(found), names(found)
    where = f"{title(kept['cell']['target'], kept['cell']['steps'])}, {kept['cell']['rows']} rows"
    best = best_by_name(kept, [*theirs, *ours])
    values = ", ".join(f"{name} {method[key]:.1f}" for name, method in best.items())
    return f"At {where}: {values}."


def _acceptance(found: Document) -> str:
    kept, (theirs, ours) = focus(found), names(found)
    best = best_by_name(kept, [*theirs, *ours])
    first = [(n, m["acceptance_by_depth"]) for n, m in best.items() if m["acceptance_by_depth"]]
    words = ", ".join(f"{n} {100 * (s[0] or 0):.0f} % at depth 1" for n, s in first)
    return f"Line plots of the share of accepted drafts by depth and by step of the chain: {words}."


def _wall(found: Document) -> str:
    best = fastest(timed(found))
    assert best is not None
    return (
        "Measured and ideal speed-up in time of each method, by rows. Fastest: "
        f"{best[1]['name']} {best[1]['tree']}, {best[1]['speedup_wall']:.2f} times faster, "
        f"ideally {best[1]['ideal_speedup_wall']:.2f} times."
    )


def _cost(found: Document) -> str:
    seconds = latencies(timed(found))
    words = ", ".join(f"{rows} rows {value / seconds[1]:.2f}" for rows, value in seconds.items())
    return f"Cost of a call relative to one row ({words}), and speed-up by rows; best marked."


def _trees(found: Document) -> str:
    _, methods = chosen_trees(found)
    return "Drawings of draft trees with their reach: " + " and ".join(
        f"{method['name']} {method['tree']}" for method in methods
    )


def _published(found: Document) -> str:
    pairs = compared(found)
    apart = [abs(pair.apart) for pair in pairs if pair.apart is not None]
    worst = f"; at most {max(apart):.1f} combined standard errors apart" if apart else ""
    return f"{len(pairs)} published speed-ups beside those measured here{worst}."


KINDS = (
    Kind(
        "calls",
        "Calls against rows",
        "Each method with the best of its trees at that budget. Grey and dashed: published "
        "methods; in colour: this library's. Bars: two standard errors. Pale "
        "line: what a chain of that many rows would take if every row were kept.",
        calls_by_rows,
        _calls,
    ),
    Kind(
        "published",
        "Published numbers, reproduced",
        "Square: as published. Circle: measured here under the same protocol.",
        comparison,
        _published,
    ),
    Kind(
        "speedup",
        "Speed-up against steps",
        "Sequential calls divided by calls, at equal rows: the more steps, the more each call "
        "commits.",
        speedup_by_steps,
        _speedup,
    ),
    Kind(
        "acceptance",
        "Acceptance",
        "Of the drafts that were tried at a depth, or at a step of the chain, the share accepted. "
        "With several children, a try is the whole set of siblings. Depths tried fewer than 20 "
        "times are left out.",
        acceptance,
        _acceptance,
    ),
    Kind(
        "wall",
        "Wall-clock against the ideal",
        "One sample at a time, each method with the tree that takes it the fewest calls. The "
        "ideal is calls × the latency of a call on the method's rows, measured in the same run; "
        "what lies between is the library's own work.",
        wall_and_ideal,
        _wall,
    ),
    Kind(
        "cost",
        "What rows cost here, and the chosen point",
        "Left: latency of the target alone, relative to one row; where it runs along the dotted "
        "line, speculation cannot pay. Right: what the fastest method makes of it. The star marks "
        "the fastest configuration measured.",
        cost_curve,
        _cost,
    ),
    Kind(
        "tree",
        "The chosen tree",
        "Numbers and widths: probability, in %, that the committed path goes along an edge. It is "
        "taken from acceptance by depth; within a level with several nodes, whose shares were not "
        "measured one by one, it is split evenly.",
        tree_figure,
        _trees,
    ),
)
