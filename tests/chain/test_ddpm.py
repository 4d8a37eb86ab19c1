"""The DDPM kernel against Bayes' rule, an independent step, and the ancestral chain."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from redraft.chain import ancestral, ddpm, from_eps

T = 1000
ABAR = np.cumprod(1 - np.linspace(0.02, 0.1, 200) ** 2)
LONG = np.cumprod(1 - np.linspace(1e-4, 0.02, T))


@st.composite
def problems(draw) -> tuple[np.ndarray, list[int]]:
    """Some alphas_cumprod and some of its timesteps."""
    betas = draw(st.lists(st.floats(1e-4, 0.9), min_size=1, max_size=40))
    abar = np.cumprod(1 - np.array(betas))
    chosen = draw(st.sets(st.integers(0, len(betas) - 1), min_size=1))
    return abar, sorted(chosen, reverse=True)


def pairs(abar, timesteps):
    """(abar_t, abar_s) of every step."""
    values = [abar[t] for t in timesteps]
    return zip(values, [*values[1:], 1.0], strict=True)


@given(problems(), st.floats(-2, 2), st.floats(-4, 4))
def test_fixed_small_is_the_posterior_given_x0(problem, x0, x) -> None:
    abar, timesteps = problem
    chain = ddpm(abar, timesteps)
    for n, (here, after) in enumerate(pairs(abar, timesteps)):
        if after == 1:  # the last step: s is the data
            mean, var = x0, 0.0
        else:
            prior_mean, prior_var = sqrt(after) * x0, 1 - after
            alpha = here / after
            precision = 1 / prior_var + alpha / (1 - alpha)
            mean = (prior_mean / prior_var + sqrt(alpha) * x / (1 - alpha)) / precision
            var = 0.0 if timesteps[n] == 0 else 1 / precision
        got = (chain.a[n] * x + chain.b[n] * x0).item()
        np.testing.assert_allclose(got, mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(chain.std[n] ** 2, var, rtol=1e-9)


@given(problems(), st.floats(-2, 2))
def test_fixed_small_keeps_the_marginals_given_x0(problem, x0) -> None:
    abar, timesteps = problem
    chain = ddpm(abar, timesteps)
    mean, var = sqrt(abar[timesteps[0]]) * x0, 1 - abar[timesteps[0]]
    for n, (_, after) in enumerate(pairs(abar, timesteps)):
        a, b, std = chain.a[n].item(), chain.b[n].item(), chain.std[n].item()
        mean, var = a * mean + b * x0, a**2 * var + std**2
        np.testing.assert_allclose(mean, sqrt(after) * x0, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(var, 1 - after, rtol=1e-12, atol=1e-12)


@given(problems())
def test_fixed_large_keeps_the_law_of_standard_normal_data(problem) -> None:
    # x0 ~ N(0, 1): x_t ~ N(0, 1) at every t and E[x0 | x_t] = sqrt(abar_t) x_t.
    abar, timesteps = problem
    chain = ddpm(abar, timesteps, "fixed_large")
    var = 1.0
    for n, (here, _) in enumerate(pairs(abar, timesteps)):
        factor = chain.a[n].item() + chain.b[n].item() * sqrt(here)
        var = factor**2 * var + chain.std[n].item() ** 2
        if timesteps[n] > 0:
            assert var == pytest.approx(1.0, rel=1e-12)


@given(problems())
def test_variances_are_beta_and_its_posterior_share(problem) -> None:
    abar, timesteps = problem
    small, large = ddpm(abar, timesteps), ddpm(abar, timesteps, "fixed_large")
    for n, (here, after) in enumerate(pairs(abar, timesteps)):
        beta = 1 - here / after
        noise = timesteps[n] > 0
        assert large.std[n].item() ** 2 == pytest.approx(beta * noise, rel=1e-9)
        share = (1 - after) / (1 - here)
        assert small.std[n].item() ** 2 == pytest.approx(beta * share * noise, rel=1e-9)
    assert torch.equal(small.a, large.a)
    assert torch.equal(small.b, large.b)


def test_fixed_small_is_the_ancestral_chain_in_scaled_variables() -> None:
    # x = sqrt(abar) x_ve with level sqrt((1-abar)/abar)
    timesteps = [190, 150, 80, 30, 5]
    chain = ddpm(ABAR, timesteps)
    alpha = np.append(np.sqrt(ABAR[timesteps]), 1.0)
    levels = np.append(np.sqrt((1 - ABAR[timesteps]) / ABAR[timesteps]), 0.0)
    exploding = ancestral(levels)
    np.testing.assert_allclose(chain.a, exploding.a.numpy() * alpha[1:] / alpha[:-1], rtol=1e-11)
    np.testing.assert_allclose(chain.b, exploding.b.numpy() * alpha[1:], rtol=1e-11)
    np.testing.assert_allclose(chain.std, exploding.std.numpy() * alpha[1:], rtol=1e-11)


def spaced(spacing: str, n: int, offset: int = 0) -> list[int]:
    """The three usual ways to pick n of T timesteps."""
    if spacing == "linspace":
        picked = np.linspace(0, T - 1, n).round()[::-1]
    elif spacing == "leading":
        picked = (np.arange(n) * (T // n)).round()[::-1] + offset
    else:
        picked = np.arange(T, 0, -T / n).round() - 1
    return [int(t) for t in picked]


def reference_step(eps, n, timesteps, x, noise, variance):
    """One step for an eps-prediction, in the usual order of operations: x̂0 first, then the mean."""
    t = timesteps[n]
    prev = timesteps[n + 1] if n + 1 < len(timesteps) else -1
    abar_t = LONG[t]
    abar_prev = LONG[prev] if prev >= 0 else 1.0
    alpha_t = abar_t / abar_prev
    x0 = (x - (1 - abar_t) ** 0.5 * eps) / abar_t**0.5
    mean = (abar_prev**0.5 * (1 - alpha_t)) / (1 - abar_t) * x0
    mean = mean + alpha_t**0.5 * (1 - abar_prev) / (1 - abar_t) * x
    if t == 0:
        return mean
    var = 1 - alpha_t
    if variance == "fixed_small":
        var = max((1 - abar_prev) / (1 - abar_t) * var, 1e-20)
    return mean + var**0.5 * noise


@pytest.mark.parametrize("variance", ["fixed_small", "fixed_large"])
@pytest.mark.parametrize(
    ("spacing", "n", "offset"),
    [("linspace", n, 0) for n in (1, 2, 13, 1000)]
    + [("leading", n, offset) for n in (1, 10, 13, 999) for offset in (0, 1)]
    + [("trailing", n, 0) for n in (1, 10, 13, 1000)],
)
def test_steps_as_an_independent_implementation_does(spacing, n, offset, variance) -> None:
    timesteps = spaced(spacing, n, offset)
    rng = np.random.default_rng(1)
    x, eps, noise = rng.standard_normal((3, len(timesteps), 4))
    chain = ddpm(LONG, timesteps, variance)
    denoiser = from_eps(lambda x, level: torch.from_numpy(eps), chain)
    x0 = denoiser(torch.from_numpy(x), chain.level).numpy()
    column = {name: getattr(chain, name).numpy()[:, None] for name in ("a", "b", "std")}
    got = column["a"] * x + column["b"] * x0 + column["std"] * noise
    for i in range(len(timesteps)):
        expected = reference_step(eps[i], i, timesteps, x[i], noise[i], variance)
        # where the reference clamps a variance at 1e-20 we have none
        np.testing.assert_allclose(got[i], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("spacing", "offset", "variance", "last_std"),
    [
        ("trailing", 0, "fixed_large", sqrt(1 - LONG[99])),
        ("trailing", 0, "fixed_small", 0.0),
        ("leading", 1, "fixed_large", sqrt(1 - LONG[1])),
        ("leading", 0, "fixed_large", 0.0),
        ("linspace", 0, "fixed_large", 0.0),
        ("linspace", 0, "fixed_small", 0.0),
    ],
)
def test_the_last_step_is_noisy_only_with_fixed_large_at_t_above_0(
    spacing, offset, variance, last_std
) -> None:
    chain = ddpm(LONG, spaced(spacing, 10, offset), variance)
    assert chain.std[-1].item() == pytest.approx(last_std, rel=1e-12)
    assert (chain.std[:-1] > 0).all()
    assert (chain.a[-1].item(), chain.b[-1].item()) == (0, 1)


@pytest.mark.parametrize("variance", ["fixed_small", "fixed_large"])
def test_between_equal_alphas_the_state_stays(variance) -> None:
    still = ddpm([0.9, 0.5, 0.5], variance=variance)
    assert (still.a[0], still.b[0], still.std[0]) == (1, 0, 0)


def test_the_table_says_what_the_model_is_told_and_the_scales() -> None:
    chain = ddpm(ABAR, [150, 20, 3])
    assert chain.level.tolist() == [150, 20, 3]
    assert chain.terminal is None
    assert chain.init_std == 1.0
    assert chain.calls_sequential == chain.num_steps == 3
    alpha, sigma = chain.scales(torch.tensor([3.0, 150.0]))
    np.testing.assert_allclose(alpha**2, ABAR[[3, 150]], rtol=1e-14)
    np.testing.assert_allclose(sigma**2, 1 - ABAR[[3, 150]], rtol=1e-14)


def test_timesteps_default_to_all() -> None:
    assert ddpm(ABAR).level.tolist() == list(range(199, -1, -1))
    assert ddpm(ABAR, 200).level.tolist() == list(range(199, -1, -1))


@given(st.integers(1, 300), st.data())
def test_a_number_of_timesteps_is_spaced_evenly_from_the_last_to_0(total, data) -> None:
    n = data.draw(st.integers(1, total))
    level = ddpm(np.linspace(0.99, 0.1, total), n).level
    assert len(level) == n
    assert level[0] == total - 1
    if n > 1:
        assert level[-1] == 0
        gaps = -level.diff()
        assert gaps.min() >= 1
        assert gaps.max() - gaps.min() <= 2
        # never further than half a timestep from the even spacing
        even = torch.linspace(total - 1, 0, n, dtype=torch.float64)
        assert (level - even).abs().max() <= 0.5 + 1e-9


def test_one_timestep_goes_straight_to_the_prediction() -> None:
    chain = ddpm(ABAR, 1)
    assert (chain.a.item(), chain.b.item(), chain.std.item()) == (0, 1, 0)
    assert ddpm(ABAR, [0]).num_steps == 1


def test_lists_arrays_and_tensors_give_the_same_chain() -> None:
    expected = ddpm(ABAR, [100, 10, 0])
    for alphas in (ABAR.tolist(), torch.from_numpy(ABAR)):
        for timesteps in (np.array([0, 10, 100])[::-1], torch.tensor([100.0, 10.0, 0.0])):
            assert torch.equal(ddpm(alphas, timesteps).std, expected.std)


def test_zero_terminal_snr_has_a_kernel_in_terms_of_x0() -> None:
    abar = np.append(ABAR, 0.0)
    chain = ddpm(abar, [200, 100, 0])
    assert chain.alpha is not None and chain.alpha[0] == 0
    # x_t says nothing about x_s: a = 0, and x_s given x̂0 has its own marginal
    assert chain.a[0] == 0
    assert chain.b[0].item() == pytest.approx(sqrt(ABAR[100]), rel=1e-14)
    assert chain.std[0].item() == pytest.approx(sqrt(1 - ABAR[100]), rel=1e-14)


@pytest.mark.parametrize(
    ("alphas", "message"),
    [
        ([0.9, 1.1], r"alphas_cumprod must lie in \[0, 1\], got alphas_cumprod\[1\] = 1.1"),
        ([0.9, -0.1], r"alphas_cumprod must lie in \[0, 1\], got alphas_cumprod\[1\] = -0.1"),
        (
            [0.5, 0.6],
            r"must not increase, got alphas_cumprod\[0\] = 0.5, alphas_cumprod\[1\] = 0.6",
        ),
        ([0.9, float("nan")], r"alphas_cumprod must be finite, got alphas_cumprod\[1\] = nan"),
        ([], "alphas_cumprod is empty"),
        ([[0.9, 0.5]], "alphas_cumprod must be 1-D"),
        ([0.5, 0.0, 0.0], "alphas_cumprod is 0 at both timesteps 2 and 1"),
        ([1.0, 0.5], r"alphas_cumprod\[0\] = 1: .* leave it out"),
    ],
)
def test_wrong_alphas_are_named(alphas, message) -> None:
    with pytest.raises(ValueError, match=message):
        ddpm(alphas)


def test_a_noise_free_or_repeated_signal_free_timestep_may_be_left_out() -> None:
    assert ddpm([1.0, 0.5, 0.0, 0.0], [2, 1]).num_steps == 2


@pytest.mark.parametrize(
    ("timesteps", "message"),
    [
        ([], "timesteps is empty"),
        (0, r"number of timesteps must be in 1\.\.200 .*, got 0"),
        (201, r"number of timesteps must be in 1\.\.200 .*, got 201"),
        (
            [5, 7],
            r"timesteps must be strictly decreasing, .*timesteps\[0\] = 5, timesteps\[1\] = 7",
        ),
        ([7, 7], r"timesteps must be strictly decreasing"),
        ([200, 0], r"timesteps must be whole numbers in 0\.\.199 .* got timesteps\[0\] = 200"),
        ([5, -1], r"timesteps must be whole numbers in 0\.\.199 .* got timesteps\[1\] = -1"),
        ([5.5, 1], r"timesteps must be whole numbers .* got timesteps\[0\] = 5.5"),
        ([5, float("nan")], r"timesteps must be finite"),
        ([[5, 1]], "timesteps must be 1-D"),
    ],
)
def test_wrong_timesteps_are_named(timesteps, message) -> None:
    with pytest.raises(ValueError, match=message):
        ddpm(ABAR, timesteps)


def test_an_unknown_variance_is_answered_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="unknown variance 'fixed_smal'.*'fixed_small'"):
        ddpm(ABAR, variance="fixed_smal")
