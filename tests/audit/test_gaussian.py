"""Gaussian paths against closed form: right ones pass, each planted error is found and located."""

import pytest
import torch

from redraft.audit import (
    Discrepancy,
    assert_gaussian_law,
    assert_gaussian_moments,
    expect_caught,
    uncharged,
)
from redraft.audit.budget import FALSE_FAIL_PER_ASSERT, LEDGER
from redraft.audit.events import event_epsilon
from redraft.audit.gaussian import innovations
from redraft.audit.moments import min_num_samples_for_moments

pytestmark = pytest.mark.statistical
NUM, LENGTH, SIZE = 6000, 4, 3


def linear_chain():
    """Mean (LENGTH, SIZE) and factor of x_{n+1} = .9 x_n + .3 + .5 z with a wide start."""
    depth = torch.arange(LENGTH * SIZE) // SIZE
    entry = torch.arange(LENGTH * SIZE) % SIZE
    step = (depth[:, None] - depth).clamp(min=0)
    lower = (depth[:, None] >= depth) & (entry[:, None] == entry)
    std = torch.where(depth == 0, 20.0, 0.5).double()
    factor = torch.where(lower, 0.9 ** step.double(), 0.0) * std
    mean = 3.0 - 3.0 * 0.9 ** depth.double()
    return mean.reshape(LENGTH, SIZE), factor


def draw(seed, num=NUM, white=None):
    mean, factor = linear_chain()
    generator = torch.Generator().manual_seed(seed)
    w = torch.randn(num, LENGTH * SIZE, dtype=torch.float64, generator=generator)
    if white is not None:
        w = white(w)
    return (w @ factor.T).reshape(num, LENGTH, SIZE) + mean, mean, factor @ factor.T


def check_law(*case, detect=0.1, **rates):
    return assert_gaussian_law(*case, count=8, seed=0, detect=detect, **rates)


def test_right_paths_pass_in_double_and_single_precision(fresh_seed):
    paths, mean, cov = draw(fresh_seed)
    linear, norm = check_law(paths, mean, cov)
    assert linear.columns == LENGTH * SIZE + 8 and norm.label == "|w|^2"
    assert_gaussian_moments(paths.float(), mean, cov, detect=0.4)


def test_innovations_undo_the_factor():
    paths, mean, cov = draw(0, num=7)
    w = torch.randn(
        7, LENGTH * SIZE, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )
    white = innovations(paths, mean, cov)
    assert torch.allclose(white.values, w, atol=1e-9)
    assert white.labels[SIZE + 1] == "w[1, 1]"


def shifted(w):
    w[:, 7] += 0.5
    return w


def widened(w):
    w[:, 7] *= 1.6
    return w


def correlated(w):
    w[:, 7] = 0.8 * w[:, 7] + 0.6 * w[:, 2]
    return w


def skewed(w):
    w[:, 7] = w[:, 7].square() / 2**0.5 - 0.5**0.5
    return w


@pytest.mark.parametrize("bug", [shifted, widened])
def test_planted_error_of_the_law_is_located(bug, fresh_seed):
    with expect_caught(bug.__name__):
        check_law(*draw(fresh_seed, white=bug))
    with uncharged(), pytest.raises(Discrepancy, match=r"w\[2, 1\]"):
        check_law(*draw(0, white=bug))


@pytest.mark.parametrize("bug", [shifted, widened, correlated])
def test_planted_error_of_a_moment_is_located(bug, fresh_seed):
    with expect_caught(bug.__name__):
        assert_gaussian_moments(*draw(fresh_seed, white=bug), detect=0.4)
    with uncharged(), pytest.raises(Discrepancy, match=r"w\[2, 1\]"):
        assert_gaussian_moments(*draw(0, white=bug), detect=0.4)


def test_wrong_law_with_right_moments_is_caught(fresh_seed):
    with expect_caught("skewed"):
        check_law(*draw(fresh_seed, white=skewed))


def count_failures(repeats, num, white, seed):
    failures = 0
    with uncharged():
        for i in range(repeats):
            case = draw(seed // 2 + i, num=num, white=white)
            try:
                assert_gaussian_moments(*case, detect=0.5, false_fail=0.05, false_pass=0.05)
            except Discrepancy:
                failures += 1
    return failures


def require_at_most(hits, num, rate):
    LEDGER.charge(FALSE_FAIL_PER_ASSERT, FALSE_FAIL_PER_ASSERT)
    assert hits <= num * (rate + event_epsilon(num, rate, FALSE_FAIL_PER_ASSERT)[1])


def scaled_entry(size):
    def white(w):
        w[:, 7] *= size**0.5
        return w

    return white


def correlated_by_half(w):
    w[:, 7] = 0.75**0.5 * w[:, 7] + 0.5 * w[:, 2]
    return w


def test_moments_have_the_declared_rates(fresh_seed):
    num = min_num_samples_for_moments(0.5, LENGTH * SIZE, false_fail=0.05, false_pass=0.05)
    require_at_most(count_failures(200, num, None, fresh_seed), 200, 0.05)
    for white in (shifted, scaled_entry(1.5), scaled_entry(0.5), correlated_by_half):
        require_at_most(200 - count_failures(200, num, white, fresh_seed), 200, 0.05)


def test_law_has_the_declared_false_fail(fresh_seed):
    failures = 0
    with uncharged():
        for i in range(200):
            try:
                check_law(*draw(fresh_seed // 2 + i, num=300), detect=0.3, false_fail=0.05)
            except Discrepancy:
                failures += 1
    require_at_most(failures, 200, 0.05)


def test_too_few_paths_are_refused_with_the_number_needed():
    needed = min_num_samples_for_moments(0.4, LENGTH * SIZE, false_fail=1e-9, false_pass=1e-9)
    with pytest.raises(ValueError, match=f"need at least {needed}, or raise `detect`"):
        assert_gaussian_moments(*draw(0, num=needed - 1), detect=0.4)


def test_a_step_without_noise_is_named():
    paths, mean, cov = draw(0, num=10)
    cov = cov.clone()
    cov[6:9] = 0.9 * cov[3:6]
    cov[:, 6:9] = 0.9 * cov[:, 3:6]
    cov[6:9, 6:9] = 0.81 * cov[3:6, 3:6]
    with pytest.raises(ValueError, match=r"cov is singular at entry \[2, 0\]: .* without noise"):
        innovations(paths, mean, cov)


def test_misfits_are_named():
    paths, mean, cov = draw(0, num=10)
    with pytest.raises(ValueError, match=r"need a mean of 12 entries and a \(12, 12\) covariance"):
        innovations(paths, mean[:1], cov)
    with pytest.raises(ValueError, match="discrepancy must be positive, got 0"):
        min_num_samples_for_moments(0, 3, false_fail=0.1, false_pass=0.1)
