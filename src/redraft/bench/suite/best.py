"""Who is whose in a cell's document, and who is best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from redraft.bench.methods import AUTO

__all__ = ["best_of", "is_auto", "is_baseline", "is_ours"]


def is_baseline(cell: dict[str, Any], method: dict[str, Any]) -> bool:
    """Whether a method is one of the published ones that the cell is compared with."""
    return [method["name"], method["tree"]] in cell["baselines"]


def is_ours(method: dict[str, Any]) -> bool:
    """Whether a method is this library's own: all but frozen and free drafters, and what tunes."""
    own = method["drafter"] not in (None, "frozen", "free") or method["warm"]
    return own or is_auto(method)


def is_auto(method: dict[str, Any]) -> bool:
    """Whether the configuration was left to `redraft.tune`."""
    return method["name"] in AUTO


def best_of(methods: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the method with the fewest calls; None if there is none."""
    return min(methods, key=lambda method: method["calls_mean"], default=None)
