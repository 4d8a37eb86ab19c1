"""Drafts do not depend on whether their factors are kept for all steps or made when needed."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import redraft
from redraft.draft import linear

CHAIN = redraft.chain.ancestral([*redraft.chain.karras(14, 8.0, 0.05).tolist(), 0.0])


def target(x: Tensor, level: Tensor) -> Tensor:
    return torch.tanh(3.0 * x / (1.0 + level.unsqueeze(-1)))


@pytest.mark.parametrize("tree", ["chain:5", "kary:2,3"])
@pytest.mark.parametrize("drafter", ["recycled", "free", redraft.draft.Frozen("eps")])
def test_factors_made_when_needed_give_the_same_bits(monkeypatch, drafter, tree):
    def run() -> redraft.Result:
        return redraft.sample(target, CHAIN, 9, (3,), seed=4, drafter=drafter, tree=tree)

    kept = run()
    made: list[int] = []
    factors = linear._factors

    def counted(*how):
        made.append(len(how[-1]))
        return factors(*how)

    monkeypatch.setattr(linear, "_LARGEST_TABLE", 0)
    monkeypatch.setattr(linear, "_factors", counted)
    assert torch.equal(run().samples, kept.samples)
    assert made and max(made) <= 9  # the factors of the samples at hand, not of all steps
