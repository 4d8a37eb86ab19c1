"""One node of the verifiers that choose, drawn: the next part along is N(delta, 1)."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from redraft.audit import Columns, assert_event_rate, assert_same_cdf
from redraft.coupling import GaussianPair
from redraft.tree import grow

from .line import ALL, best, measure

NUM = 20_000
DELTAS = (1e-6, 1e-3, 0.1, 0.5, 1.0, 3.0, 10.0, 60.0)


@pytest.mark.statistical
@pytest.mark.parametrize("width", [1, 2, 3, 4, 8, 16])
@pytest.mark.parametrize("verifier", ALL, ids=lambda v: v.name)
def test_the_next_part_along_has_the_law_of_the_target(verifier, width, fresh_seed):
    tree, random = grow(f"kary:{width},2"), np.random.default_rng(fresh_seed)
    columns, hits, rates = [], [], []
    for delta in DELTAS:
        shape = (NUM, len(tree))
        pair, zeta, coin = (
            GaussianPair(np.full(shape, delta)),
            random.standard_normal(shape),
            random.random(shape),
        )
        ratio = pair.log_ratio(zeta[:, np.maximum(tree.child, 0)])
        verdict = verifier.walk(tree, pair, ratio, coin, np.ones(NUM, dtype=np.int64))
        taken = verdict.stop > 0
        count = np.where(taken, 0, width)
        ends = GaussianPair(np.full(NUM, delta))
        new = verifier.recover(ends, verdict, count, random.random(NUM))
        old = zeta[np.arange(NUM), verdict.stop]
        columns.append(np.where(taken, old, new) - delta)
        hits.append(int(taken.sum()))
        optimal = verifier.name == "optimal" or width == 1
        rate = best(delta, width) if optimal else measure(verifier, delta, width)(delta + 10.0)
        rates.append(float(np.clip(rate, 0.0, 1.0)))
    law = Columns(torch.from_numpy(np.stack(columns, axis=1)), [f"delta {d}" for d in DELTAS])
    assert_same_cdf(law, torch.special.ndtr, detect=0.05, false_fail=1e-10)
    assert_event_rate(hits, NUM, rates, detect=0.05)
