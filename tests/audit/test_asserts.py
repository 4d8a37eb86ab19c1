"""The asserts have the error rates they state, measured at rates that can be measured."""

import pytest
import torch

from redraft.audit import Columns, Discrepancy, assert_same_cdf, assert_same_law, uncharged
from redraft.audit.bounds import dkwm_epsilon, min_num_samples_for_ks
from redraft.audit.budget import FALSE_FAIL_PER_ASSERT, LEDGER
from redraft.audit.events import event_epsilon
from redraft.audit.ks import ks_one_sample, ks_two_sample

pytestmark = pytest.mark.statistical
NOMINAL = 0.05
DETECT = 0.2


def require_at_most(hits, num, rate):
    """Fail if `hits` of `num` events prove, at the budget's rate, that they are above `rate`."""
    LEDGER.charge(FALSE_FAIL_PER_ASSERT, FALSE_FAIL_PER_ASSERT)
    assert hits <= num * (rate + event_epsilon(num, rate, FALSE_FAIL_PER_ASSERT)[1])


def failures(test, repeats):
    """How many of `repeats` calls raise a Discrepancy."""
    count = 0
    with uncharged():
        for _ in range(repeats):
            try:
                test()
            except Discrepancy:
                count += 1
    return count


def uniform(x):
    return x.clamp(0, 1)


def dice(x):
    return (x.floor() / 6).clamp(0, 1)


@pytest.fixture
def generator(fresh_seed):
    return torch.Generator().manual_seed(fresh_seed)


@pytest.mark.parametrize("law", [uniform, dice])
def test_one_sample_band_is_left_as_rarely_as_declared(law, generator):
    x = torch.rand(200, 10000, dtype=torch.float64, generator=generator)
    x = x if law is uniform else (6 * x).floor() + 1
    hits = int((ks_one_sample(x, law) > dkwm_epsilon(200, NOMINAL)).sum())
    require_at_most(hits, 10000, NOMINAL)
    if law is uniform:  # Massart's constant is sharp, so the band must not be much too wide
        require_at_most(10000 - hits, 10000, 1 - 0.6 * NOMINAL)


@pytest.mark.parametrize(("n", "m"), [(458, 458), (100, 100), (50, 400)])
def test_two_sample_band_is_left_as_rarely_as_declared(n, m, generator):
    a = torch.rand(n, 3000, generator=generator)
    b = torch.rand(m, 3000, generator=generator)
    require_at_most(int((ks_two_sample(a, b) > dkwm_epsilon(n, NOMINAL, m)).sum()), 3000, NOMINAL)


def test_false_fail_is_a_total_over_columns(generator):
    rates = {"false_fail": NOMINAL, "false_pass": NOMINAL, "detect": DETECT}

    def one_sample():
        assert_same_cdf(torch.rand(400, 10, generator=generator), uniform, **rates)

    def two_sample():
        a, b = torch.rand(2, 700, 10, generator=generator)
        assert_same_law(a, b, **rates)

    require_at_most(failures(one_sample, 400), 400, NOMINAL)
    require_at_most(failures(two_sample, 400), 400, NOMINAL)


@pytest.mark.parametrize("two_sample", [False, True])
@pytest.mark.parametrize("kind", ["shift", "atom"])
def test_planted_discrepancy_is_missed_as_rarely_as_declared(two_sample, kind, generator):
    rates = {"false_fail": NOMINAL / 3, "false_pass": NOMINAL, "two_sample": two_sample}
    num = min_num_samples_for_ks(DETECT, **rates)

    def missed():
        x = torch.rand(num, 3, dtype=torch.float64, generator=generator)
        y = torch.rand(num, 3, dtype=torch.float64, generator=generator)
        if kind == "shift":
            x[:, 1] += DETECT
        else:  # mass DETECT is moved from the lower values to an atom at .5
            x[:, 1] = torch.where(x[:, 1] < DETECT, 0.5, x[:, 1])
        rates = {"false_fail": NOMINAL, "false_pass": NOMINAL, "detect": DETECT}
        if two_sample:
            assert_same_law(x, y, **rates)
        else:
            assert_same_cdf(x, uniform, **rates)

    require_at_most(300 - failures(missed, 300), 300, NOMINAL)


def test_failure_states_column_statistic_bound_and_rates(generator):
    x = torch.rand(1000, 2, dtype=torch.float64, generator=generator)
    x[:, 1] = x[:, 1] / 2
    with uncharged(), pytest.raises(Discrepancy) as caught:
        assert_same_cdf(Columns(x, ["good", "bad"]), uniform, detect=0.4)
    check = caught.value.check
    assert check.label == "bad" and check.statistic > 0.4 and check.columns == 2
    assert check.bound == dkwm_epsilon(1000, FALSE_FAIL_PER_ASSERT / 2)
    for part in ("same cdf", "> bound", "at bad", "num 1000", "false-fail 1e-09", "at 0.4"):
        assert part in str(caught.value)


def test_too_few_samples_are_refused_with_the_number_needed():
    rates = {"false_fail": 0.1, "false_pass": 0.2}
    for two_sample in (False, True):
        needed = min_num_samples_for_ks(0.1, **rates, two_sample=two_sample)
        x = torch.arange(needed - 1, dtype=torch.float64) / needed
        with pytest.raises(ValueError, match=f"need at least {needed}, or raise `detect`"):
            if two_sample:
                assert_same_law(x, x, **rates, detect=0.1)
            else:
                assert_same_cdf(x, uniform, **rates, detect=0.1)
        with uncharged():
            x = torch.arange(needed, dtype=torch.float64) / needed
            assert assert_same_law(x, x, **rates, detect=0.2).statistic == 0


def test_unusable_samples_are_named():
    x = torch.zeros(1000, 2)
    with pytest.raises(ValueError, match="b must be finite, got NaN or infinity in column 1"):
        assert_same_law(x, torch.tensor([0.0, torch.nan]).expand(1000, 2), detect=0.5)
    with pytest.raises(ValueError, match=r"a must be non-empty .* got \(5, 2, 2\)"):
        assert_same_law(torch.zeros(5, 2, 2), x, detect=0.5)
    with pytest.raises(ValueError, match="same columns, got 2 and 1"):
        assert_same_law(x, x[:, 0], detect=0.5)
    with pytest.raises(ValueError, match="2 columns, but 1 labels"):
        assert_same_law(Columns(x, ["one"]), x, detect=0.5)
