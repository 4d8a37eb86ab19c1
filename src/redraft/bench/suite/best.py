"""Who is whose in a cell's document, and who is best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["best_of", "is_baseline", "is_ours"]


def is_baseline(cell: dict[str, Any], method: dict[str, Any]) -> bool:
    """Whether a method is one of the published ones that the cell is compared with."""
    return [method["name"], method["tree"]] in cell["baselines"]


def is_ours(method: dict[str, Any]) -> bool:
    """Whether a method has a drafter of this library's own: all but frozen and free ones."""
    return method["drafter"] not in (None, "frozen", "free") or method["warm"]


def best_of(methods: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the method with the fewest calls; None if there is none."""
    return min(methods, key=lambda method: method["calls_mean"], default=None)
