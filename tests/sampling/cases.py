"""Every drafter x verifier x tree that goes together."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from redraft import draft
from redraft.draft.drafter import Drafter
from tests.sampling.problems import Problem


class Case(NamedTuple):
    """What is run: names of a drafter, a verifier and a tree."""

    drafter: str
    verifier: str
    tree: str


DRAFTERS = ("frozen", "free", "recycled", "model", "corrected")
RULES = (
    ("greedy", "chain:4"),
    ("greedy", "kary:2,3"),
    ("traversal", "chain:4"),
    ("traversal", "kary:2,3"),
    ("reflection", "chain:4"),
)
CASES = [
    Case(drafter, verifier, tree)
    for verifier, tree in RULES
    for drafter in DRAFTERS
    if (drafter, verifier) != ("recycled", "traversal")
]
FREEZES = ("x0", "eps", "v", "increment")


def name(case: Case) -> str:
    return "-".join(case)


def make_drafter(word: str, problem: Problem) -> str | Drafter:
    """Return the drafter of a word: a name, or "free/eps/parent", "frozen/v", "target"."""
    kind, *options = word.split("/")
    makers: dict[str, Callable[..., Drafter]] = {
        "model": lambda: draft.Model(problem.cheap),
        "corrected": lambda: draft.Corrected(problem.cheap),
        "target": lambda: draft.Model(problem.target),
        "free": draft.Free,
        "frozen": draft.Frozen,
    }
    return makers[kind](*options) if options or kind not in DRAFTERS[:3] else kind
