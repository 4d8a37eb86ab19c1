"""Event bands hold against the exact binomial law, both for false-fail and for false-pass."""

import math

import pytest
import torch
from scipy import stats

from redraft.audit import Discrepancy, assert_event_rate, uncharged
from redraft.audit.events import event_epsilon, min_num_samples_for_event


@pytest.mark.parametrize("rate", [0.3, 0.05, 1e-6])
@pytest.mark.parametrize("prob", [0.0, 1e-4, 0.03, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("num", [1, 10, 1000, 10**5])
def test_band_holds_against_the_exact_binomial(num, prob, rate):
    below, above = event_epsilon(num, prob, rate)
    hits = torch.arange(num + 1, dtype=torch.float64).numpy()
    outside = (hits / num > prob + above + 1e-12) | (hits / num < prob - below - 1e-12)
    assert stats.binom.pmf(hits[outside], num, prob).sum() <= rate


@pytest.mark.parametrize("prob", [0.03, 0.5, 0.9])
def test_band_edges_share_the_rate_between_the_sides(prob):
    for edge, sign in zip(event_epsilon(1000, prob, 1e-3), (-1, 1), strict=True):
        q = prob + sign * edge
        kl = q * math.log(q / prob) + (1 - q) * math.log((1 - q) / (1 - prob))
        assert 1000 * kl == pytest.approx(math.log(2 / 1e-3), rel=1e-9)


@pytest.mark.parametrize("prob", [0.0, 0.01, 0.3, 0.5, 0.99, 1.0])
@pytest.mark.parametrize("detect", [0.3, 0.02])
@pytest.mark.parametrize("rates", [(0.05, 0.05), (1e-6, 1e-3)])
def test_declared_power_is_reached_against_the_exact_binomial(prob, detect, rates):
    false_fail, false_pass = rates
    num = min_num_samples_for_event(detect, prob, false_fail=false_fail, false_pass=false_pass)
    below, above = event_epsilon(num, prob, false_fail)
    for other in (prob - detect, prob + detect):
        if 0 <= other <= 1:
            inside = stats.binom.cdf((prob + above) * num + 1e-9, num, other)
            inside -= stats.binom.cdf((prob - below) * num - 1e-9, num, other)
            assert inside <= false_pass


def test_certain_and_impossible_events_are_tested_exactly():
    with uncharged():
        assert_event_rate([1000, 0], 1000, [1.0, 0.0], detect=0.1)
        for hits in ([999, 0], [1000, 1]):
            with pytest.raises(Discrepancy):
                assert_event_rate(hits, 1000, [1.0, 0.0], detect=0.1)


def test_failure_names_the_event_and_its_band():
    hits, num = torch.tensor([510, 800]), torch.tensor([1000, 1200])
    with uncharged(), pytest.raises(Discrepancy, match="event rate: 0.16.* at depth 2") as caught:
        assert_event_rate(hits, num, 0.5, detect=0.3, labels=["depth 1", "depth 2"])
    check = caught.value.check
    assert check.statistic == pytest.approx(800 / 1200 - 0.5)
    assert check.bound == pytest.approx(event_epsilon(1200, 0.5, 1e-9 / 2)[1])
    assert check.num == "1000 to 1200"


def test_too_few_trials_are_refused_with_the_number_needed():
    needed = min_num_samples_for_event(0.1, 0.5, false_fail=1e-9, false_pass=1e-9)
    with uncharged():
        assert_event_rate(needed // 2, needed, 0.5, detect=0.1)
        with pytest.raises(ValueError, match=f"need at least {needed}, or raise `detect`"):
            assert_event_rate(needed // 2, needed - 1, 0.5, detect=0.1)


def test_misfits_are_named():
    with pytest.raises(ValueError, match=r"prob must be one number or one per event \(2\), got 3"):
        assert_event_rate([1, 2], 10, [0.1, 0.2, 0.3], detect=0.5)
    with pytest.raises(ValueError, match="hits must be between 0 and num=10, got 11 for event 0"):
        assert_event_rate(11, 10, 0.1, detect=0.5)
    with pytest.raises(ValueError, match="as many labels, got 2 and 1"):
        assert_event_rate([1, 2], 10, 0.1, detect=0.5, labels=["a"])
    with pytest.raises(ValueError, match=r"prob must be in \[0, 1\], got 1.5"):
        event_epsilon(10, 1.5, 0.1)
    with pytest.raises(ValueError, match="no probability is 0.7 away from prob=0.5"):
        min_num_samples_for_event(0.7, 0.5, false_fail=0.1, false_pass=0.1)
