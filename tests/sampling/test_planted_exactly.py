"""Planted bugs that need no statistics: coins of 0, and coins shared by a batch."""

from __future__ import annotations

import numpy as np
import pytest

from redraft.coupling import GaussianPair, Greedy, Verifier, offered
from redraft.sampling import Sampler, noise
from redraft.tree import grow
from tests.sampling.planted_verifiers import AcceptsEqual, OneCoinForAll
from tests.sampling.problems import bimodal
from tests.sampling.stepping import walk


def check_zero_coin(verifier: Verifier) -> None:
    """A child whose chance is 0 is rejected, even by a coin of exactly 0."""
    tree = grow("kary:2,2")
    delta, zeta = np.ones((1, 3)), np.array([[0.0, -60.0, -60.0]])
    ratio = GaussianPair(delta).log_ratio(offered(tree, zeta[:, 1:]))
    ratio[..., :] = -np.inf
    verdict = verifier.walk(tree, GaussianPair(delta), ratio, np.zeros((1, 3)), np.array([1]))
    assert verdict.stop[0] == 0, "a child with chance 0 was accepted"


def check_independent(verifier: Verifier) -> None:
    """A sample's path is the same alone and in a batch."""
    problem, seeds = bimodal(), [5, 6, 7, 8, 9, 10]
    options = {"drafter": "free", "verifier": verifier, "tree": "chain:4", "record": True}
    whole = walk(Sampler(problem.chain, 6, (2,), seeds, **options), problem.target)
    for i, seed in enumerate(seeds):
        alone = walk(Sampler(problem.chain, 1, (2,), [seed], **options), problem.target)
        assert np.allclose(alone[0], whole[i], atol=1e-4), f"sample {i} depends on its batch"


@pytest.mark.parametrize(
    ("check", "bug"), [(check_zero_coin, AcceptsEqual), (check_independent, OneCoinForAll)]
)
def test_exact_checks_pass_the_rule_and_catch_the_bug(check, bug) -> None:
    check(Greedy())
    with pytest.raises(AssertionError):
        check(bug())


def test_coins_are_never_0_or_1(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = noise.stream_keys(np.arange(1000), noise.DECIDE)
    for word in (0, 2**64 - 1):
        monkeypatch.setattr(noise, "_mix", lambda bits, word=word: np.full_like(bits, word))
        coin = noise.uniform(keys, 0, 0)
        assert ((coin > 0.0) & (coin < 1.0)).all()
