"""Parts of a suite: ``--only steps=50,rows=4``, ``--methods recycled+greedy``, a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from redraft.bench.suite.cell import Cell
from redraft.registry import choose

__all__ = ["narrow"]

KEYS = {"target": str, "steps": int, "rows": int}


def narrow(
    cells: Sequence[Cell],
    *,
    target: str | None = None,
    only: str | None = None,
    methods: str | None = None,
) -> list[Cell]:
    """Return the cells that were asked for.

    Args:
        cells: All.
        target: Theirs; None: any.
        only: ``key=value`` pairs, separated by commas, of target, steps and rows; several values of
            a key are alternatives.
        methods: Names of methods, separated by commas, in all their trees; None: all. The
            sequential sampler stays.

    Raises:
        ValueError: If something is not in the suite.
    """
    wanted = _pairs(only or "")
    if target is not None:
        wanted.setdefault("target", []).append(target)
    for key, values in wanted.items():
        there = {str(getattr(cell, key)): None for cell in cells}
        for value in values:
            choose(f"{key} of this suite", value, there)
    kept = [
        cell
        for cell in cells
        if all(str(getattr(cell, key)) in values for key, values in wanted.items())
    ]
    if not kept:
        raise ValueError(f"--only {only!r} leaves no cell of this suite")
    if methods is None:
        return kept
    names = [word.strip() for word in methods.split(",") if word.strip()]
    known = {name: None for cell in kept for name, _ in cell.methods}
    for name in names:
        choose("method of this suite", name, known)
    kept = [cell for cell in kept if set(names) & {name for name, _ in cell.methods}]
    chosen = {"sequential", *names}
    return [
        replace(cell, methods=tuple(pair for pair in cell.methods if pair[0] in chosen))
        for cell in kept
    ]


def _pairs(text: str) -> dict[str, list[str]]:
    """Read ``key=value,key=value``."""
    found: dict[str, list[str]] = {}
    for word in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = (part.strip() for part in word.partition("="))
        choose("key of --only", key, KEYS)
        if not equals or (KEYS[key] is int and not value.isdecimal()):
            raise ValueError(f"--only {word!r} does not read as {key}=VALUE, e.g. steps=50,rows=4")
        found.setdefault(key, []).append(value)
    return found
