r"""Committed states of a chain of constant distance: closed forms, and what the walks do.

With A_n = 2 Phi(-delta sqrt(n) / 2), one less the total variation of n steps together:

* speculative sampling accepts i drafts or more with probability A_1^i;
* block verification with E[a_i], where log a_i is a random walk held below zero. It has the law
  of the least of S_0, ..., S_i, so by Spitzer's identity

      sum_i E[a_i] z^i = exp(sum_n A_n z^n / n).

References:
    Spitzer, "A combinatorial lemma and its application to probability theory", Trans. AMS 82
    (1956).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from redraft.audit import assert_event_rate
from redraft.coupling import GaussianPair, Greedy, Traversal
from redraft.tree import grow

from .scalar import normal_cdf

LENGTHS = (3, 4, 8, 16)

# Mean number of accepted drafts, speculative sampling and block verification, at LENGTHS, and the
# gain in committed states in %, without and with a bonus; simulated, as printed.
PRINTED = {
    0.25: "2.441/2.522 .9;2.3 | 3.099/3.267 2.4;4.1 | 5.143/5.923 10.3;12.7 | 7.361/10.185 31;34",
    0.5: "1.964/2.086 1.7;4.1 | 2.377/2.617 4.2;7.1 | 3.358/4.275 17;21 | 3.945/6.312 45;48",
    1.0: "1.234/1.364 2.4;5.8 | 1.379/1.601 5.8;9.4 | 1.580/2.143 19;22 | 1.614/2.470 32;33",
    2.0: ".451/.505 2.0;3.8 | .461/.532 3.7;4.8 | .466/.559 6.3;6.4 | .464/.560 6.6;6.6",
}


def token_rates(delta: float, length: int) -> np.ndarray:
    """P(i drafts or more are accepted), i = 1..length, by speculative sampling."""
    return (2.0 * normal_cdf(-delta / 2)) ** np.arange(1, length + 1)


def block_rates(delta: float, length: int) -> np.ndarray:
    """P(i drafts or more are accepted), i = 1..length, by block verification."""
    overlap = [2.0 * normal_cdf(-delta * math.sqrt(n) / 2) for n in range(1, length + 1)]
    rate = [1.0]
    for i in range(1, length + 1):
        rate.append(sum(overlap[n - 1] * rate[i - n] for n in range(1, i + 1)) / i)
    return np.array(rate[1:])


@pytest.mark.parametrize("delta", PRINTED)
def test_closed_forms_are_the_printed_table(delta):
    for length, cell in zip(LENGTHS, PRINTED[delta].split(" | "), strict=True):
        means, gains = cell.split()
        token, block = token_rates(delta, length), block_rates(delta, length)
        for rates, printed in zip((token, block), means.split("/"), strict=True):
            assert rates.sum() == pytest.approx(float(printed), abs=0.01, rel=2e-3)
        bare, bonus = (
            100.0 * ((1.0 + block[:last].sum()) / (1.0 + token[:last].sum()) - 1.0)
            for last in (length - 1, length)
        )
        for gain, printed in zip((bare, bonus), gains.split(";"), strict=True):
            assert gain == pytest.approx(float(printed), abs=0.7)


@pytest.mark.statistical
@pytest.mark.parametrize("delta", PRINTED)
@pytest.mark.parametrize(
    ("verifier", "rates"),
    [(Greedy(), token_rates), (Traversal(), block_rates)],
    ids=["speculative", "block"],
)
def test_the_walk_accepts_as_many(verifier, rates, delta, fresh_seed):
    num, length = 250_000, 16
    random = np.random.default_rng(fresh_seed)
    pair = GaussianPair(np.full((num, length + 1), delta))
    ratio = pair.log_ratio(random.standard_normal((num, length + 1, 1)))
    coin = random.random((num, length + 1))
    tree = grow(f"chain:{length + 1}")
    stop = verifier.walk(tree, pair, ratio, coin, np.full(num, length)).stop
    hits = [int((stop >= i).sum()) for i in range(1, length + 1)]
    labels = [f"{i} or more" for i in range(1, length + 1)]
    assert_event_rate(hits, num, rates(delta, length).tolist(), detect=0.02, labels=labels)
