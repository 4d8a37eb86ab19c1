"""The churned flow chain against its SDE, its marginals, and its edges."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from redraft.chain import flow_sde
from redraft.chain.steps import Steps

settings = st.tuples(st.integers(3, 60), st.floats(0.01, 1.5), st.floats(0.3, 4.0))


def levels(steps: int, shift: float) -> np.ndarray:
    """The papers' grid, its end at 0 included."""
    even = np.linspace(1000.0, 1.0, steps) / 1000.0
    return np.append(shift * even / (1.0 + (shift - 1.0) * even), 0.0)


@given(settings, st.floats(-3, 3), st.floats(-3, 3))
def test_noisy_steps_are_euler_maruyama_in_velocity_and_score(setting, x, x0) -> None:
    steps, churn, shift = setting
    chain, t = flow_sde(steps, churn, shift), levels(steps, shift)
    for n in range(1, steps - 1):
        dt, g2 = t[n + 1] - t[n], 2.0 * t[n] / (1.0 - t[n])
        u = (x - x0) / t[n]
        score = -(x + (1.0 - t[n]) * u) / t[n]
        mean = x + dt * (u - 0.5 * churn**2 * g2 * score)
        got = (chain.a[n] * x + chain.b[n] * x0).item()
        np.testing.assert_allclose(got, mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(chain.std[n], churn * (g2 * -dt) ** 0.5, rtol=1e-9)


@given(settings, st.floats(-3, 3), st.floats(-3, 3))
def test_first_and_last_steps_are_euler_steps_of_the_ode(setting, x, x0) -> None:
    steps, churn, shift = setting
    chain, t = flow_sde(steps, churn, shift), levels(steps, shift)
    for n in (0, steps - 1):
        euler = x + (t[n + 1] - t[n]) * (x - x0) / t[n]
        got = (chain.a[n] * x + chain.b[n] * x0).item()
        np.testing.assert_allclose(got, euler, rtol=1e-9, atol=1e-9)
        assert chain.std[n] == 0
    assert chain.a[-1].item() == pytest.approx(0.0, abs=1e-15)
    assert chain.b[-1].item() == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize("churn", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("spread", [0.5, 2.0])
def test_marginals_are_kept_in_the_limit_of_many_steps(churn: float, spread: float) -> None:
    # from t = 0.9 on: where g diverges, a step is off by churn^4 however many there are
    errors = []
    for steps in (400, 800):
        chain, t = flow_sde(steps, churn), levels(steps, 1.0)
        exact = ((1.0 - t) * spread) ** 2 + t**2
        gain = (1.0 - t) * spread**2 / exact  # E[x_0 | x] = gain x for data N(0, spread²)
        start = int(np.argmax(t < 0.9))
        variance, error = exact[start], 0.0
        for n in range(start, steps):
            factor = (chain.a[n] + chain.b[n] * gain[n]).item()
            variance = factor**2 * variance + chain.std[n].item() ** 2
            error = max(error, abs(variance - exact[n + 1]))
        errors.append(error)
    assert errors[0] < 0.05 and errors[1] < 0.6 * errors[0]


def test_churn_is_what_the_noise_scales_with() -> None:
    one, third = flow_sde(30, 1.0), flow_sde(30, 0.3)
    torch.testing.assert_close(third.std, 0.3 * one.std)
    assert not flow_sde(30, 0.0).std.any()
    assert int((one.std > 0).sum()) == 28 and one.calls_sequential == 30


def test_scales_are_those_of_the_interpolant() -> None:
    chain = flow_sde(10, 0.3, shift=3.0)
    alpha, sigma = chain.scales(chain.level)
    torch.testing.assert_close(alpha + sigma, torch.ones_like(alpha))
    assert alpha[0] == 0 and sigma[0] == 1 and chain.init_std == 1.0


def test_drafts_reach_neither_across_the_first_step_nor_past_the_last() -> None:
    assert Steps.of(flow_sde(5, 0.3)).reach.tolist() == [0, 3, 2, 1, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2, 0.3), "num_steps must be at least 3.*got 2"),
        ((30, -0.1), "churn must be >= 0.*got -0.1"),
        ((30, float("nan")), "churn must be >= 0 and finite, got nan"),
        ((30, 0.3, 0.0), "shift must be positive and finite, got 0.0"),
    ],
)
def test_bad_arguments(arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        flow_sde(*arguments)
