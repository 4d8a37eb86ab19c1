"""Look-up of pluggable parts by name, with an error that names the nearest valid one."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeVar

T = TypeVar("T")


def choose(kind: str, name: str, options: Mapping[str, T]) -> T:
    """Return ``options[name]``.

    Args:
        kind: What is being chosen ("drafter", "verifier", ...); used in the error.
        name: The user's word.
        options: Valid names and what they stand for.

    Raises:
        ValueError: If ``name`` is unknown; the message gives the nearest name and all valid ones.
    """
    if name in options:
        return options[name]
    near = get_close_matches(str(name), options, n=1, cutoff=0.3)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"unknown {kind} {name!r}.{hint} Valid names: {', '.join(sorted(options))}.")
