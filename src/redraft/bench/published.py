"""Published speed-ups on the published mixture, under the protocol of `redraft.bench.protocol`.

Two kinds of numbers are listed: the authors' own (100 runs), and those of a reimplementation of the
same protocol (200 runs, ranked 100), which has more rules and agrees with the authors where both
exist.

References:
    | Accelerating Diffusion Sampling via Speculative Draft Trees (2026), section 5.1
    | https://arxiv.org/abs/2609.17691, https://github.com/marcellobullo/tree-specdiff
"""

from __future__ import annotations

import math
from typing import NamedTuple

from redraft.bench.protocol import NOISY

__all__ = ["CELLS", "Cell"]


class Cell(NamedTuple):
    """A number to reproduce.

    Attributes:
        method: The method in this library's words, as ``redraft bench`` reads it.
        tree: Specification of the draft tree.
        churn: Amount of noise of the chain, eps in the papers.
        speedup: Mean speed-up in calls, 28 / mean calls.
        stderr: Its standard error.
        authors: Whether the number is the authors' own.
    """

    method: str
    tree: str
    churn: float
    speedup: float
    stderr: float
    authors: bool = False


def _cells() -> tuple[Cell, ...]:
    """Return the table; standard errors follow from the spread of a run's calls, measured here."""
    table = [
        # drafter, rule, tree, spread of calls, speed-ups at churn 0.06 and 0.3
        ("free:velocity", "reflection", "chain:3", 0.88, 1.781, 1.825),
        ("free:velocity", "reflection", "chain:7", 1.10, 1.942, 1.984),
        ("free:velocity", "reflection", "chain:28", 1.13, 1.936, 1.999),
        ("free:velocity", "traversal", "chain:3", 0.88, 1.779, 1.826),
        ("free:velocity", "traversal", "chain:7", 1.16, 1.965, 2.026),
        ("free:velocity", "traversal", "chain:28", 1.25, 1.957, 1.982),
        ("free:velocity", "greedy", "kary:2,3", 0.75, 1.822, 1.877),
        ("free:velocity", "greedy", "kary:4,3", 0.71, 1.886, 1.944),
        ("free:velocity", "greedy", "kary:2,5", 0.95, 2.006, 2.096),
        ("free:velocity", "greedy", "kary:4,5", 0.90, 2.104, 2.176),
        ("free:velocity", "traversal", "kary:2,3", 0.76, 1.841, 1.893),
        ("free:velocity", "traversal", "kary:2,5", 0.95, 2.039, 2.133),
        ("free:velocity", "ranked", "kary:2,3", 0.76, 1.877, 1.909),
        ("free:velocity", "ranked", "kary:4,3", 0.71, 1.946, 2.001),
        ("free:velocity", "ranked", "kary:2,5", 0.95, 2.085, 2.154),
        ("free:velocity", "optimal", "kary:2,3", 0.76, 1.882, 1.926),
        ("free:velocity", "optimal", "kary:4,3", 0.71, 1.951, 2.008),
        ("free:velocity", "optimal", "kary:2,5", 0.95, 2.092, 2.185),
    ]
    cells = []
    for drafter, rule, tree, spread, *speedups in table:
        for churn, speedup in zip((0.06, 0.3), speedups, strict=True):
            runs = 100 if rule == "ranked" else 200
            error = _stderr(speedup, spread, runs, digits=3)
            cells.append(Cell(f"{drafter}+{rule}", tree, churn, speedup, error))
    frozen = {  # reflection on chain:7 and greedy on kary:2,5, at churn 0.06, 0.3 and 1
        "velocity": ((1.92, 2.00), (1.98, 2.07), (1.67, 1.73)),
        "increment": ((1.91, 1.99), (1.87, 1.97), (1.44, 1.47)),
        "x0": ((2.30, 2.29), (2.76, 2.62), (2.46, 2.37)),
        "eps": ((1.57, 1.61), (1.57, 1.61), (1.31, 1.33)),
    }
    for freeze, speedups in frozen.items():
        for churn, pair in zip((0.06, 0.3, 1.0), speedups, strict=True):
            for rule, tree, speedup in zip(
                ("reflection", "greedy"), ("chain:7", "kary:2,5"), pair, strict=True
            ):
                error = _stderr(speedup, 1.1, 200, digits=2)
                cells.append(Cell(f"free:{freeze}+{rule}", tree, churn, speedup, error))
    own = [
        ("free:velocity+greedy", "chain:3", 1.77),
        ("free:velocity+greedy", "kary:2,3", 1.83),
        ("free:velocity+greedy", "kary:4,3", 1.89),
        ("free:velocity+reflection", "chain:3", 1.78),
        ("free:velocity+reflection", "chain:7", 1.93),
        ("free:velocity+reflection", "chain:21", 1.91),
        ("free:velocity:parent+greedy", "chain:3", 1.27),
        ("frozen:velocity+greedy", "chain:3", 1.11),
    ]
    for method, tree, speedup in own:
        error = _stderr(speedup, 0.9, 100, digits=2)
        cells.append(Cell(method, tree, 0.06, speedup, error, authors=True))
    return tuple(cells)


def _stderr(speedup: float, spread: float, runs: int, digits: int) -> float:
    """Return the standard error of 28 / mean calls, what was rounded off included."""
    sampled = speedup**2 / NOISY * spread / math.sqrt(runs)
    return math.hypot(sampled, 10.0**-digits / math.sqrt(12.0))


CELLS = _cells()
