"""The ancestral kernel against Bayes' rule, its marginals, and its edges."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from redraft.chain import ancestral, karras

# three digits: the references below subtract neighbouring levels, which must not be rounding alone
levels = st.floats(1e-3, 1e3).map(lambda level: float(f"{level:.3g}"))
schedules = st.lists(levels, min_size=2, max_size=30, unique=True).map(
    lambda chosen: sorted(chosen, reverse=True)
)


def condition(mean_x, var_x, gain, noise, y):
    """Law of x ~ N(mean_x, var_x) given y = gain x + N(0, noise), by adding precisions."""
    precision = 1 / var_x + gain**2 / noise
    return (mean_x / var_x + gain * y / noise) / precision, 1 / precision


@given(schedules, st.floats(-3, 3), st.floats(-100, 100))
def test_eta_1_is_the_posterior_given_x0(sigmas, x0, x) -> None:
    chain = ancestral(sigmas)
    for n, (s, s_next) in enumerate(zip(sigmas[:-1], sigmas[1:], strict=True)):
        mean, var = condition(x0, s_next**2, 1.0, s**2 - s_next**2, x)
        np.testing.assert_allclose(chain.std[n] ** 2, var, rtol=1e-9)
        got = (chain.a[n] * x + chain.b[n] * x0).item()
        np.testing.assert_allclose(got, mean, rtol=1e-9, atol=1e-9)


@given(schedules, st.floats(0, 3), st.floats(-3, 3))
def test_marginals_given_x0_are_kept_for_every_eta(sigmas, eta, x0) -> None:
    chain = ancestral(sigmas, eta)
    mean, var = x0, sigmas[0] ** 2
    for n, s_next in enumerate(sigmas[1:]):
        a, b, std = chain.a[n].item(), chain.b[n].item(), chain.std[n].item()
        mean, var = a * mean + b * x0, a**2 * var + std**2
        np.testing.assert_allclose(mean, x0, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(var, s_next**2, rtol=1e-12)


@given(schedules, st.floats(-2, 2), st.floats(0.1, 2))
def test_with_gaussian_data_mean_and_total_variance_are_those_of_the_reverse_process(
    sigmas, m, v
) -> None:
    # x0 ~ N(m, v): x_{s'} given x_s has mean a x + b E[x0|x], variance std² + b² Var[x0|x].
    chain = ancestral(sigmas)
    for n, (s, s_next) in enumerate(zip(sigmas[:-1], sigmas[1:], strict=True)):
        x = m + 1.7 * s
        x0_mean, x0_var = condition(m, v, 1.0, s**2, x)
        mean, var = condition(m, v + s_next**2, 1.0, s**2 - s_next**2, x)
        a, b, std = chain.a[n].item(), chain.b[n].item(), chain.std[n].item()
        np.testing.assert_allclose(a * x + b * x0_mean, mean, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(std**2 + b**2 * x0_var, var, rtol=1e-8)


def test_eta_scales_the_noise_up_to_the_cap() -> None:
    full = ancestral([2.0, 1.0, 0.5])
    torch.testing.assert_close(ancestral([2.0, 1.0, 0.5], 0.3).std, 0.3 * full.std)
    capped = ancestral([2.0, 1.0, 0.5], 50.0)
    assert capped.std.tolist() == [1.0, 0.5]
    assert capped.a.tolist() == [0.0, 0.0]
    assert capped.b.tolist() == [1.0, 1.0]


def test_values_of_one_step() -> None:
    chain = ancestral([2.0, 1.0], eta=0.5)
    up = 0.5 * (1 * (4 - 1) / 4) ** 0.5
    down = (1 - up**2) ** 0.5
    assert chain.std.item() == pytest.approx(up, rel=1e-15)
    assert chain.a.item() == pytest.approx(down / 2, rel=1e-15)
    assert chain.b.item() == pytest.approx(1 - down / 2, rel=1e-15)


def test_a_tiny_ratio_of_levels_keeps_its_digits() -> None:
    chain = ancestral([1e6, 1e-3])
    assert chain.a.item() == pytest.approx((1e-3) ** 2 / 1e6**2, rel=1e-12)
    assert chain.std.item() == pytest.approx(1e-3, rel=1e-12)


def test_a_positive_last_level_is_the_terminal_one() -> None:
    chain = ancestral(karras(10, 80.0, 0.002))
    assert chain.num_steps == 10
    assert chain.calls_sequential == 11
    assert chain.terminal == 0.002
    assert (chain.std > 0).all()
    assert chain.init_std == 80.0
    assert chain.alpha is not None and chain.alpha.tolist() == [1.0] * 11
    assert chain.sigma is not None and chain.sigma[-1].item() == 0.002
    assert torch.equal(chain.level, karras(10, 80.0, 0.002)[:-1])


def test_a_last_level_of_0_is_a_deterministic_step_to_the_prediction() -> None:
    chain = ancestral([*karras(10, 80.0, 0.002).tolist(), 0.0])
    assert chain.num_steps == chain.calls_sequential == 11
    assert chain.terminal is None
    assert (chain.a[-1], chain.b[-1], chain.std[-1]) == (0, 1, 0)
    assert (chain.std[:-1] > 0).all()
    assert chain.sigma is not None and torch.equal(chain.sigma, chain.level)


def test_one_step_works_with_and_without_noise() -> None:
    noisy = ancestral([2.0, 1.0])
    assert (noisy.num_steps, noisy.calls_sequential) == (1, 2)
    direct = ancestral([2.0, 0.0])
    assert (direct.num_steps, direct.calls_sequential) == (1, 1)
    assert (direct.a.item(), direct.b.item(), direct.std.item()) == (0, 1, 0)


@given(schedules)
def test_eta_0_is_the_euler_step_without_noise(sigmas) -> None:
    chain = ancestral(sigmas, eta=0.0)
    s = torch.tensor(sigmas, dtype=torch.float64)
    assert (chain.std == 0).all()
    # x + (x - x̂0)/s (s' - s)
    torch.testing.assert_close(chain.a, 1 + s.diff() / s[:-1], rtol=1e-12, atol=1e-12)


def test_the_name_says_what_was_chosen() -> None:
    assert ancestral([2.0, 1.0], eta=0.25).name == "ancestral(eta=0.25)"


@pytest.mark.parametrize(
    ("sigmas", "message"),
    [
        ([3.0, 1.0, 2.0], r"sigmas must be strictly decreasing.* sigmas\[1\] = 1, sigmas\[2\] = 2"),
        (
            [3.0, 3.0],
            r"sigmas must be strictly decreasing.* sigmas\[0\] = 3, sigmas\[1\] = 3; sort",
        ),
        ([1.0, 0.0, 0.0], r"sigmas\[1\] = 0, sigmas\[2\] = 0"),
        ([3.0, 1.0, -0.5], r"sigmas must be >= 0, got sigmas\[2\] = -0.5"),
        ([3.0], r"sigmas has one level \(3\)"),
        ([], "sigmas is empty"),
        ([3.0, float("nan"), 1.0], r"sigmas must be finite, got sigmas\[1\] = nan"),
        ([[3.0, 1.0]], "sigmas must be 1-D"),
    ],
)
def test_wrong_levels_are_named(sigmas, message) -> None:
    with pytest.raises(ValueError, match=message):
        ancestral(sigmas)


@pytest.mark.parametrize("eta", [-0.1, float("nan"), float("inf")])
def test_eta_out_of_range_is_named(eta) -> None:
    with pytest.raises(ValueError, match=f"eta must be >= 0 and finite, got {eta}"):
        ancestral([2.0, 1.0], eta)
