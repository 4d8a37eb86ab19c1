"""What the plots and tables are made of: the cells of a suite, by method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from redraft.bench.methods import SEQUENTIAL
from redraft.bench.suite.best import best_of, is_baseline, is_ours

__all__ = ["Document", "best_by_name", "fastest", "focus", "groups", "names", "timed", "title"]

Document = dict[str, Any]


def names(found: Document) -> tuple[list[str], list[str]]:
    """Return the names of the published methods and of ours, in the order of the suite."""
    theirs: dict[str, None] = {}
    ours: dict[str, None] = {}
    for kept in found["cells"]:
        for method in kept["found"]["methods"]:
            if is_baseline(kept["cell"], method):
                theirs.setdefault(method["name"])
            elif is_ours(method):
                ours.setdefault(method["name"])
    return list(theirs), list(ours)


def groups(found: Document) -> dict[tuple[str, int], list[Document]]:
    """Return the cells by target and steps, each group by rows."""
    sorted_ = sorted(found["cells"], key=lambda kept: kept["cell"]["rows"])
    by: dict[tuple[str, int], list[Document]] = {}
    for kept in sorted_:
        by.setdefault((kept["cell"]["target"], kept["cell"]["steps"]), []).append(kept)
    return dict(sorted(by.items()))


def best_by_name(kept: Document, wanted: Sequence[str]) -> dict[str, Document]:
    """Return each method with the tree that takes it the fewest calls in this cell."""
    found = {}
    for name in wanted:
        best = best_of([m for m in kept["found"]["methods"] if m["name"] == name])
        if best is not None:
            found[name] = best
    return found


def timed(found: Document) -> list[Document]:
    """Return the cells whose wall-clock was measured, by rows."""
    cells = [kept for kept in found["cells"] if kept["found"]["latency_s"]]
    return sorted(cells, key=lambda kept: kept["cell"]["rows"])


def focus(found: Document) -> Document:
    """Return the cell that is shown in detail: timed if any was, with about 32 rows."""
    cells = timed(found) or found["cells"]
    ours = [kept for kept in cells if any(is_ours(m) for m in kept["found"]["methods"])] or cells
    return min(ours, key=lambda kept: (abs(kept["cell"]["rows"] - 32), -kept["cell"]["steps"]))


def title(target: str, steps: int) -> str:
    """Return a panel's title."""
    kind, _, value = target.partition(":")
    return f"gm, churn {value}" if kind == "gm" and value else f"{target}, {steps} steps"


def fastest(cells: Sequence[Document]) -> tuple[Document, Document] | None:
    """Return the cell and the method with the least measured time; None if nothing was timed."""
    pairs = [
        (kept, method)
        for kept in cells
        for method in kept["found"]["methods"]
        if method["speedup_wall"] and method["name"] != SEQUENTIAL
    ]
    return max(pairs, key=lambda pair: pair[1]["speedup_wall"], default=None)
