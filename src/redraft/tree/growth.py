"""Shapes: chains, k-ary trees, and trees grown where they reach most.

``chain:M`` has M rows below one another; ``kary:K,D`` has K children per node and D levels of rows,
root included, so ``chain:M`` is ``kary:1,M``. ``best:M,A`` has at most M rows, grown for drafts of
which the first one below a node is accepted with chance A; see `redraft.tree.best`.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from redraft.registry import choose
from redraft.tree.best import best
from redraft.tree.tree import Tree

__all__ = ["MAX_ROWS", "chain", "grow", "kary"]

MAX_ROWS = 4096
"""Largest tree that is built; a larger one is almost certainly a slip of the pen."""


def chain(rows: int) -> Tree:
    """Return a chain of ``rows`` evaluated rows, root included.

    Raises:
        ValueError: If ``rows`` is not in [1, MAX_ROWS].
    """
    return kary(1, rows)


@lru_cache(maxsize=64)
def kary(children: int, levels: int) -> Tree:
    """Return the tree with ``children`` per node and ``levels`` levels of rows, root included.

    The same numbers give the same object, whose tables are made once.

    Raises:
        ValueError: If a number is below 1 or the tree has more than MAX_ROWS rows.
    """
    name = f"chain:{levels}" if children == 1 else f"kary:{children},{levels}"
    if children < 1 or levels < 1:
        raise ValueError(f"tree {name!r} has no rows; use at least 1 row (chain:1, kary:2,1)")
    rows = sum(children**level for level in range(min(levels, MAX_ROWS + 1)))
    if rows > MAX_ROWS:
        raise ValueError(f"tree {name!r} has {rows} rows or more; use at most {MAX_ROWS}")
    parent = np.concatenate(([-1], np.repeat(np.arange(rows), children)[: rows - 1]))
    return Tree(parent, name)


def grow(spec: str | Tree) -> Tree:
    """Return the tree that ``spec`` names, or ``spec`` itself if it is one.

    Raises:
        ValueError: If the specification is not of the form ``chain:M``, ``kary:K,D`` or
            ``best:M,A``.
    """
    if isinstance(spec, Tree):
        return spec
    kind, _, numbers = str(spec).partition(":")
    make, count, example = choose("tree", kind, _SHAPES)
    values = numbers.split(",") if numbers else []
    if kind == "best":
        return _best(str(spec), values)
    if len(values) != count or not all(re.fullmatch(r"\s*-?\d+\s*", value) for value in values):
        raise ValueError(f"tree {spec!r} does not read as {example}")
    return make(*(int(value) for value in values))


def _best(spec: str, values: list[str]) -> Tree:
    rows, *share = values or [""]
    if not rows.strip().isdecimal() or len(share) > 1 or not all(map(_is_share, share)):
        raise ValueError(f"tree {spec!r} does not read as {_SHAPES['best'][2]}")
    if not 1 <= int(rows) <= MAX_ROWS:
        raise ValueError(f"tree {spec!r} has {rows} rows; use 1 to {MAX_ROWS}")
    return best(int(rows), float(share[0]) if share else _SHARE)


def _is_share(text: str) -> bool:
    try:
        return 0.0 < float(text) < 1.0
    except ValueError:
        return False


_SHARE = 0.7
_SHAPES = {
    "chain": (chain, 1, "chain:M, e.g. chain:16 (M evaluated rows)"),
    "kary": (kary, 2, "kary:K,D, e.g. kary:2,4 (K children per node, D levels of rows)"),
    "best": (best, 2, "best:M,A, e.g. best:31,0.6 (M rows, drafts accepted with chance A < 1)"),
}
