"""The page's tables: headings and rows of text, which are also the plots in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from redraft.bench.methods import SEQUENTIAL
from redraft.bench.report.data import Document, groups, title
from redraft.bench.report.published import compared
from redraft.bench.suite.best import best_of, is_auto, is_baseline, is_ours
from redraft.bench.tables import number

__all__ = ["Table", "all_cells", "auto_table", "summary", "versus_published", "versus_x0"]


class Table(NamedTuple):
    """A table.

    Attributes:
        title: Above it.
        columns: Headings; the first ``words`` columns hold words, the others numbers.
        rows: Cells; of a pair, the second is smaller print.
        words: How many.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | tuple[str, str]]]
    words: int = 1


def summary(found: Document) -> Table:
    """Return the best published method and the best of ours, cell by cell, at equal rows."""
    rows = []
    for (target, steps), cells in groups(found).items():
        for kept in cells:
            cell, methods = kept["cell"], kept["found"]["methods"]
            theirs = best_of([m for m in methods if is_baseline(cell, m)])
            cold = best_of([m for m in methods if is_ours(m) and not m["warm"]])
            warm = best_of([m for m in methods if m["warm"]])
            if cold is None and warm is None:
                continue
            rows.append(
                [
                    title(target, steps),
                    str(cell["rows"]),
                    _named(theirs),
                    _named(cold),
                    _ratio(cold),
                    _named(warm),
                    _ratio(warm),
                    number(None if warm is None else warm["speedup_calls"], ".2f", " ×"),
                ]
            )
    columns = ["", "rows", "best published", "best of ours, cold", "ratio", "taught", "ratio"]
    columns += ["fewer"]
    return Table("Best against best, at equal rows", columns, rows)


def versus_x0(found: Document) -> Table:
    """Return the best of ours beside the best published rule with x0 frozen instead, where it is
    not what its paper freezes."""
    rows = []
    for (target, steps), cells in groups(found).items():
        for kept in cells:
            cell, methods = kept["cell"], kept["found"]["methods"]
            theirs = best_of([m for m in methods if _is_x0(m) and not is_baseline(cell, m)])
            ours = best_of([m for m in methods if is_ours(m)])
            if theirs is not None and ours is not None:
                fewer, error = _quotient(theirs, ours)
                words = f"{fewer:.2f}" + (f" ± {2 * error:.2f}" if error else "")
                where = [title(target, steps), str(cell["rows"])]
                rows.append([*where, _named(theirs), _named(ours), words])
    columns = ["", "rows", "best rule with x0", "best of ours", "times fewer calls"]
    return Table("Against published rules with x0 frozen", columns, rows)


def _is_x0(method: dict[str, Any]) -> bool:
    return method["drafter"] == "free" and method["freeze"] == "x0" and not method["warm"]


def _quotient(above: dict[str, Any], below: dict[str, Any]) -> tuple[float, float | None]:
    """Return the quotient of mean calls and its standard error, as of independent samples."""
    quotient = above["calls_mean"] / below["calls_mean"]
    if above["calls_stderr"] is None or below["calls_stderr"] is None:
        return quotient, None
    parts = [m["calls_stderr"] / m["calls_mean"] for m in (above, below)]
    return quotient, quotient * math.hypot(*parts)


def auto_table(found: Document) -> Table:
    """Return what `redraft.tune` has chosen beside the best of all other methods."""
    rows = []
    for (target, steps), cells in groups(found).items():
        for kept in cells:
            methods = [m for m in kept["found"]["methods"] if m["name"] != SEQUENTIAL]
            auto = best_of([m for m in methods if is_auto(m)])
            fixed = best_of([m for m in methods if not is_auto(m)])
            if auto is not None and fixed is not None:
                parts = " ".join(auto[key] or "-" for key in ("drafter", "verifier", "tree"))
                where = [title(target, steps), str(kept["cell"]["rows"])]
                calls = number(auto["calls_mean"]), parts
                ratio = f"{auto['calls_mean'] / fixed['calls_mean']:.3f}"
                rows.append([*where, calls, _named(fixed), ratio, number(auto["taught_s"], ".1f")])
    columns = ["", "rows", "auto", "best fixed", "ratio", "tuned in, s"]
    return Table("Auto against the best fixed configuration", columns, rows)


def versus_published(found: Document) -> Table:
    """Return every published number beside ours."""
    rows = [
        [
            f"{pair.cell.method} {pair.cell.tree}",
            pair.whose,
            f"{pair.cell.churn:g}",
            f"{pair.cell.speedup:.2f} ± {2 * pair.cell.stderr:.2f}",
            f"{pair.speedup:.2f}" + (f" ± {2 * pair.stderr:.2f}" if pair.stderr else ""),
            number(pair.apart, "+.1f"),
        ]
        for pair in compared(found)
    ]
    columns = ["method", "whose number", "churn", "theirs", "ours", "combined s.e. apart"]
    return Table("Number by number", columns, rows, words=2)


def all_cells(found: Document) -> list[Table]:
    """Return everything measured, one table per target and number of steps."""
    tables = []
    columns = ["method", "tree", "budget", "calls", "fewer", "rows", "ratio"]
    columns += ["ms", "faster", "ideal", "of ideal", "own work", "taught in"]
    for (target, steps), cells in groups(found).items():
        rows = [_row(kept, method) for kept in cells for method in kept["found"]["methods"]]
        tables.append(Table(title(target, steps), columns, rows, words=2))
    return tables


def _row(kept: Document, method: dict[str, Any]) -> list[str]:
    wall, share, own = (method[k] for k in ("wall_s_median", "fraction_of_ideal", "own_share"))
    error = method["calls_stderr"]
    return [
        method["name"],
        method["tree"] or "-",
        str(kept["cell"]["rows"]),
        number(method["calls_mean"]) + (f" ± {2 * error:.1f}" if error else ""),
        number(method["speedup_calls"], ".1f", " ×"),
        number(method["rows_mean"], ".0f"),
        _ratio(method),
        number(None if wall is None else 1e3 * wall),
        number(method["speedup_wall"], ".2f", " ×"),
        number(method["ideal_speedup_wall"], ".2f", " ×"),
        number(None if share is None else 100 * share, ".0f", " %"),
        number(None if own is None else 100 * own, ".0f", " %"),
        number(method["taught_s"], ".1f", " s"),
    ]


def _named(method: dict[str, Any] | None) -> str | tuple[str, str]:
    if method is None:
        return "-"
    return number(method["calls_mean"]), f"{method['name']} {method['tree']}"


def _ratio(method: dict[str, Any] | None) -> str:
    if method is None or method["calls_ratio"] is None:
        return "-"
    error = method["calls_ratio_stderr"]
    return f"{method['calls_ratio']:.3f}" + (f" ± {2 * error:.3f}" if error else "")
