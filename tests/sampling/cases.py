"""Every drafter x verifier x tree that goes together."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from redraft import draft
from redraft.chain.steps import Steps
from redraft.draft import Calibration
from redraft.draft.drafter import Drafter
from tests.sampling.problems import Problem


class Case(NamedTuple):
    """What is run: names of a drafter, a verifier and a tree."""

    drafter: str
    verifier: str
    tree: str


NAMED = ("frozen", "free", "recycled", "swept")
DRAFTERS = (*NAMED, "model", "corrected", "free/gain", "recycled/gain")
RULES = (
    ("greedy", "chain:4"),
    ("greedy", "kary:2,3"),
    ("traversal", "chain:4"),
    ("traversal", "kary:2,3"),
    ("reflection", "chain:4"),
)
CHOOSING = (("ranked", "kary:2,3"), ("optimal", "kary:3,3"))
CASES = [
    Case(drafter, verifier, tree)
    for verifier, tree in RULES
    for drafter in DRAFTERS
    if not (drafter.startswith("recycled") and verifier == "traversal")
] + [Case(drafter, *rule) for rule in CHOOSING for drafter in ("free", "recycled", "corrected")]
FREEZES = ("x0", "eps", "v", "velocity", "increment")


def rejected(case: Case) -> float:
    """Return how many drafts a path must see rejected; hardly any after a sweep of a small tree."""
    if case.verifier == "optimal":  # of three children hardly any is lost where distances are small
        return 0.1
    return 0.02 if case.drafter.startswith("swept") else 0.25


def growth(case: Case) -> float:
    """Return by which factor operations may grow with the batch: rules that choose find roots by
    iteration, as often as the slowest sample needs, and walk as deep as the deepest one."""
    return 3.5 if case.verifier in ("ranked", "optimal") else 1.25


def name(case: Case) -> str:
    return "-".join(case)


def arbitrary(problem: Problem) -> Calibration:
    """Return a calibration with coefficients between -0.2 and 0.6 that nothing has taught."""
    made = Calibration(Steps.of(problem.chain).total)
    made.count[:] = 1e9
    made.gram[:] = np.eye(4)
    wanted = np.random.default_rng(4).uniform(-0.2, 0.6, size=(*made.count.shape, 3))
    made.gram[..., 1:, 0] = made.gram[..., 0, 1:] = wanted
    return made


def make_drafter(word: str, problem: Problem) -> str | Drafter:
    """Return the drafter of a word: a name, or "free/eps/parent", "frozen/v", "target"."""
    kind, *options = word.split("/")
    if options == ["gain"]:
        taught = arbitrary(problem)
        return draft.Recycled(taught) if kind == "recycled" else draft.Free(calibration=taught)
    makers: dict[str, Callable[..., Drafter]] = {
        "model": lambda: draft.Model(problem.cheap),
        "corrected": lambda: draft.Corrected(problem.cheap),
        "target": lambda: draft.Model(problem.target),
        "free": draft.Free,
        "frozen": draft.Frozen,
        "swept": lambda sweeps, *freeze: draft.Swept(int(sweeps), *freeze),
    }
    return makers[kind](*options) if options or kind not in NAMED else kind
