"""The method ``auto``: settled by `redraft.tune` within the rows that all have."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from redraft import chain
from redraft.bench import Job, document, make_target, parse, run_bench


def job(num: int = 16) -> Job:
    made = make_target("mixture", device=torch.device("cpu"), dtype=torch.float32)
    return Job(made, chain.ancestral(chain.karras(30, 5.0, 0.05)), num, 0, taught=8)


def test_it_becomes_the_better_of_the_taught_ways() -> None:
    work, method = job(), parse("auto", "chain:8")
    assert method.goal == "calls" and method.rows == 8
    settled = work.settle(method)
    assert settled.name == "auto" and settled.goal is None and settled.rows <= 8
    assert work.settle(method) is settled, "tuned once"
    names = ["recycled:warm+greedy", "free:warm+traversal"]
    others = [work.sample(parse(name, "chain:8"), range(16)).calls.mean() for name in names]
    assert work.sample(settled, range(16)).calls.mean() <= 1.1 * min(others)


def test_a_bench_says_what_it_became() -> None:
    outcome = run_bench(
        job(4),
        [parse("sequential", "chain:4"), parse("auto", "chain:4")],
        repeats=1,
        wall=True,
        report=lambda *_: None,
    )
    entry = document(outcome, against=None, repeats=1)["methods"][1]
    assert entry["name"] == "auto" and entry["drafter"] in ("recycled", "free")
    assert entry["taught_s"] > 0 and np.isfinite(entry["wall_s_median"])


@pytest.mark.parametrize("tree", ["kary:2,3", "chain:7"])
def test_its_rows_are_those_of_the_tree_it_is_compared_with(tree: str) -> None:
    assert parse("auto:time", tree).rows == 7 and parse("auto:time", tree).goal == "time"
