"""What the suites measure.

digits
    The shipped model, N in {50, 100, 250, 1000} steps and 4 to 64 rows. The baselines are the
    published methods with x0 frozen and the nearest prediction: reflection, draft trees with greedy
    selection (the best of a few shapes), block verification.

papers
    The published mixture under the papers' protocol (`redraft.bench.protocol`): every number of
    `redraft.bench.published`, and beside them, up to 31 rows, ours. The baselines are the published
    methods, each freezing what its paper freezes.
"""

from __future__ import annotations

from collections.abc import Callable

from redraft.bench.methods import SEQUENTIAL
from redraft.bench.protocol import NOISY
from redraft.bench.published import CELLS
from redraft.bench.suite.cell import Cell
from redraft.coupling import VERIFIERS
from redraft.tree import grow

__all__ = ["SUITES"]

Pair = tuple[str, str]

STEPS = (50, 100, 250, 1000)
TIMED = 250
"""Steps of the cells that are timed."""
SHAPES = {
    4: ("kary:2,2", "kary:3,2"),
    8: ("kary:2,3",),
    16: ("kary:2,4", "kary:3,3"),
    32: ("kary:2,5", "kary:5,3"),
    64: ("kary:2,6", "kary:3,4"),
}
BEATEN = (31, "kary:2,5")
"""Rows and tree at which the published methods are to be beaten."""
PLAIN: Pair = (SEQUENTIAL, "")


def _digits() -> tuple[Cell, ...]:
    return tuple(
        Cell("digits", steps, rows, *_on_digits(rows), wall=steps == TIMED)
        for steps in STEPS
        for rows in SHAPES
    )


def _on_digits(rows: int) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """Return methods and baselines with at most so many rows."""
    chain, shapes = f"chain:{rows}", SHAPES[rows]
    published = (
        ("free+reflection", chain),
        *(("free+greedy", tree) for tree in (*shapes, chain)),
        ("free+traversal", chain),
    )
    ours = (
        ("recycled+greedy", chain),
        ("recycled:warm+greedy", chain),
        ("auto", chain),
        *(("free:warm+traversal", tree) for tree in (chain, shapes[0])),
    )
    return (PLAIN, *published, *ours), published


def _papers() -> tuple[Cell, ...]:
    cells = []
    for churn in sorted({cell.churn for cell in CELLS}):
        trees: dict[int, list[Pair]] = {}
        for cell in CELLS:
            if cell.churn == churn:
                trees.setdefault(len(grow(cell.tree)), []).append((cell.method, cell.tree))
        published, ours = _beating()
        trees.setdefault(BEATEN[0], []).extend((*published, *ours))
        for rows, pairs in sorted(trees.items()):
            pairs = list(dict.fromkeys(pairs))
            baselines = tuple(pair for pair in pairs if _as_published(pair[0]))
            cells.append(
                Cell(f"gm:{churn:g}", NOISY, rows, (PLAIN, *pairs), baselines, protocol=True)
            )
    return tuple(cells)


def _beating() -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """Return the published methods, with what they and with what we freeze, and ours."""
    rows, tree = BEATEN
    chain = f"chain:{rows}"
    rules = [("reflection", chain), ("traversal", chain), ("greedy", tree), ("traversal", tree)]
    rules += [(rule, tree) for rule in ("ranked", "optimal") if rule in VERIFIERS]
    published = [
        (f"{drafter}+{rule}", shape)
        for drafter in ("free:velocity", "free")
        for rule, shape in rules
    ]
    ours = [
        ("recycled+greedy", chain),
        ("recycled:warm+greedy", chain),
        ("auto", chain),
        ("free:warm+traversal", chain),
        ("free:warm+traversal", tree),
    ]
    return tuple(published), tuple(ours)


def _as_published(name: str) -> bool:
    """Whether a method is its paper's best: the velocity frozen, of the nearest evaluated node."""
    return name.startswith("free:velocity+") and not name.endswith("+optimal")


SUITES: dict[str, Callable[[], tuple[Cell, ...]]] = {"digits": _digits, "papers": _papers}
