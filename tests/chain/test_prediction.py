"""Every prediction type gives the same x̂0."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from redraft.chain import Chain, ancestral, ddpm, from_eps, from_score, from_v, from_velocity

ABAR = np.cumprod(1 - np.linspace(0.01, 0.2, 30))


def flow() -> Chain:
    """A chain with the scales of a linear interpolant, alpha = 1 - t, sigma = t."""
    t = torch.tensor([1.0, 0.8, 0.5, 0.1], dtype=torch.float64)
    return Chain(t, t, t, t, 1.0, alpha=1 - t, sigma=t, name="flow")


CHAINS = {
    "ddpm": ddpm(ABAR),
    "ancestral": ancestral([10.0, 3.0, 1.0, 0.2]),
    "ends at 0": ancestral([10.0, 3.0, 0.0]),
}


# each: prediction from (x0, eps, alpha, sigma)
KINDS = {
    "eps": (from_eps, lambda x0, eps, alpha, sigma: eps),
    "v": (from_v, lambda x0, eps, alpha, sigma: alpha * eps - sigma * x0),
    "score": (from_score, lambda x0, eps, alpha, sigma: -eps / sigma),
    "velocity": (from_velocity, lambda x0, eps, alpha, sigma: eps - x0),
}


def rows(chain: Chain, shape: tuple[int, ...], seed: int):
    """Random (level, x0, eps, alpha, sigma), a row for every level of the chain; float64."""
    generator = torch.Generator().manual_seed(seed)
    level = chain.call_levels[torch.randperm(chain.calls_sequential, generator=generator)]
    x0, eps = torch.randn(2, len(level), *shape, dtype=torch.float64, generator=generator)
    alpha, sigma = (s.view(-1, *[1] * len(shape)) for s in chain.scales(level))
    return level, x0, eps, alpha, sigma


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chain", CHAINS.values(), ids=list(CHAINS))
@given(seed=st.integers(0, 2**31), shape=st.sampled_from([(), (3,), (1, 2, 2)]))
def test_the_true_prediction_gives_x0_in_float64(kind, chain, seed, shape) -> None:
    convert, predict = KINDS[kind]
    level, x0, eps, alpha, sigma = rows(chain, shape, seed)
    denoiser = convert(lambda x, level: predict(x0, eps, alpha, sigma), chain)
    got = denoiser(alpha * x0 + sigma * eps, level)
    assert got.dtype == torch.float64
    torch.testing.assert_close(got, x0, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("dtype", "rounding"),
    [(torch.float32, 2**-24), (torch.bfloat16, 2**-8), (torch.float16, 2**-11)],
)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chain", CHAINS.values(), ids=list(CHAINS))
@pytest.mark.parametrize("told", [torch.float32, torch.float64])
def test_low_precision_costs_only_the_rounding_of_x_and_the_prediction(
    kind, chain, dtype, rounding, told
) -> None:
    convert, predict = KINDS[kind]
    level, x0, eps, alpha, sigma = rows(chain, (5,), seed=3)
    x, prediction = alpha * x0 + sigma * eps, predict(x0, eps, alpha, sigma)
    denoiser = convert(lambda x, level: prediction.to(dtype), chain)
    got = denoiser(x.to(dtype), level.to(told))
    assert got.dtype == dtype
    # x̂0 = p x + q prediction: the inputs' errors times p and q, and the output's own rounding
    unit = torch.ones(len(level), 1, dtype=torch.float64)
    p = convert(lambda x, level: 0 * unit, chain)(unit, level)
    q = convert(lambda x, level: unit, chain)(0 * unit, level)
    # one unit in the first term is the float32 arithmetic inside
    arithmetic = 4 * 2**-24 + rounding
    bound = arithmetic * ((p * x).abs() + (q * prediction).abs()) + rounding * x0.abs()
    assert ((got.double() - x0).abs() <= 1.01 * bound + 1e-7).all()


def test_velocity_is_that_of_flow_matching() -> None:
    chain = flow()
    level, x0, eps, alpha, sigma = rows(chain, (4,), seed=0)
    x = alpha * x0 + sigma * eps
    # x_t = x_0 + t u: following u back from t to 0 gives the data
    torch.testing.assert_close(x - level[:, None] * (eps - x0), x0)
    torch.testing.assert_close(from_velocity(lambda x, level: eps - x0, chain)(x, level), x0)


def test_gaussian_data_gives_the_posterior_mean_from_its_score_and_from_every_other() -> None:
    # data N(m, v): E[x0 | x] = m + alpha v (x - alpha m)/(alpha² v + sigma²)
    m, v, chain = 0.7, 0.3, CHAINS["ddpm"]
    level = chain.level
    alpha, sigma = (scale[:, None] for scale in chain.scales(level))
    x = torch.linspace(-2, 2, 5, dtype=torch.float64).expand(len(level), 5)
    var = alpha**2 * v + sigma**2
    mean = m + alpha * v * (x - alpha * m) / var
    score = -(x - alpha * m) / var
    eps = -sigma * score
    outputs = {"score": score, "eps": eps, "v": alpha * eps - sigma * mean, "velocity": eps - mean}
    for kind, output in outputs.items():
        denoiser = KINDS[kind][0](lambda x, level, output=output: output, chain)
        torch.testing.assert_close(denoiser(x, level), mean, rtol=1e-11, atol=1e-11)


def test_float32_scales_are_rounded_once() -> None:
    # 1/alpha in float32 from a float64 table, not from a rounded alpha
    chain = ddpm(ABAR)
    x = torch.ones(chain.num_steps, 1)
    got = from_eps(lambda x, level: torch.zeros_like(x), chain)(x, chain.level.float())
    assert torch.equal(got[:, 0], torch.from_numpy(1 / np.sqrt(ABAR[::-1].copy())).float())


def test_a_half_precision_model_on_float32_states_gives_float32() -> None:
    chain = CHAINS["ancestral"]
    denoiser = from_eps(lambda x, level: torch.ones_like(x, dtype=torch.bfloat16), chain)
    x = torch.full((2, 3), 7.0)
    got = denoiser(x, torch.tensor([1.0, 3.0]))
    assert got.dtype == torch.float32
    assert got[:, 0].tolist() == [6.0, 4.0]


@pytest.mark.parametrize("kind", KINDS)
def test_clip_clamps_x0_and_nothing_else(kind) -> None:
    convert, predict = KINDS[kind]
    chain = CHAINS["ddpm"]
    level, x0, eps, alpha, sigma = rows(chain, (50,), seed=1)
    prediction = predict(x0, eps, alpha, sigma)
    x = alpha * x0 + sigma * eps
    free = convert(lambda x, level: prediction, chain)(x, level)
    clipped = convert(lambda x, level: prediction, chain, clip=0.5)(x, level)
    assert clipped.abs().max() == 0.5
    assert torch.equal(clipped, free.clamp(-0.5, 0.5))


def test_a_nan_prediction_stays_nan_when_clipped() -> None:
    denoiser = from_eps(lambda x, level: x * float("nan"), CHAINS["ancestral"], clip=1.0)
    assert denoiser(torch.zeros(1, 2), torch.tensor([1.0])).isnan().all()


def test_conditioning_and_level_reach_the_model_unchanged() -> None:
    seen = {}

    def model(x, level, **cond):
        seen.update(cond, x=x, level=level)
        return torch.zeros_like(x)

    x, level = torch.randn(2, 1, 3), torch.tensor([3.0, 1.0])
    label = torch.tensor([4, 5])
    from_v(model, CHAINS["ancestral"])(x, level, label=label)
    assert seen["x"] is x and seen["level"] is level and seen["label"] is label


def test_gradients_reach_the_model() -> None:
    weight = torch.ones((), requires_grad=True)
    denoiser = from_eps(lambda x, level: weight * x, CHAINS["ancestral"])
    denoiser(torch.ones(1, 2), torch.tensor([3.0])).sum().backward()
    assert weight.grad is not None and weight.grad.item() == -6.0


def test_no_rows_give_no_rows() -> None:
    denoiser = from_eps(lambda x, level: x, CHAINS["ancestral"])
    assert denoiser(torch.empty(0, 1, 8, 8), torch.empty(0)).shape == (0, 1, 8, 8)


def identity_model(x, level):
    return x


def test_a_denoiser_can_be_pickled() -> None:
    denoiser = from_v(identity_model, CHAINS["ddpm"], clip=1.0)
    twin = pickle.loads(pickle.dumps(denoiser))
    x, level = torch.randn(2, 3), torch.tensor([4.0, 0.0])
    assert torch.equal(twin(x, level), denoiser(x, level))


@pytest.mark.parametrize("convert", [from_eps, from_score])
@pytest.mark.parametrize(
    ("chain", "level"), [(ddpm(np.append(ABAR, 0.0)), "30"), (flow(), "1")], ids=["ddpm", "flow"]
)
def test_pure_noise_refuses_eps_and_score_and_names_the_level(convert, chain, level) -> None:
    with pytest.raises(ValueError, match=f"cannot give x̂0 at level {level} of chain .*alpha = 0"):
        convert(identity_model, chain)


@pytest.mark.parametrize("convert", [from_v, from_velocity])
def test_pure_noise_is_fine_for_v_and_velocity(convert) -> None:
    chain = ddpm(np.append(ABAR, 0.0))
    # alpha = 0, sigma = 1: v = u + ... = -x0 for v; u = x - x0 for the velocity
    got = convert(lambda x, level: torch.full_like(x, 0.25), chain)(
        torch.full((1, 1), 2.0), torch.tensor([30.0])
    )
    assert got.item() == (-0.25 if convert is from_v else 1.75)


@pytest.mark.parametrize("convert", [from_eps, from_v, from_score, from_velocity])
def test_a_chain_without_scales_is_refused(convert) -> None:
    one = torch.ones(1, dtype=torch.float64)
    with pytest.raises(ValueError, match="chain 'langevin' has no alpha and sigma"):
        convert(identity_model, Chain(one, one, one, one, 1.0, name="langevin"))


@pytest.mark.parametrize("clip", [0.0, -1.0, float("nan"), float("inf")])
def test_a_clip_that_is_not_positive_is_refused(clip) -> None:
    with pytest.raises(ValueError, match=f"clip must be positive and finite, or None, got {clip}"):
        from_eps(identity_model, CHAINS["ddpm"], clip)


def test_a_wrong_output_shape_is_named() -> None:
    denoiser = from_eps(lambda x, level: torch.cat([x, x], 1), CHAINS["ancestral"])
    with pytest.raises(ValueError, match=r"model of eps returned shape \(2, 6\) for x .*\(2, 3\)"):
        denoiser(torch.zeros(2, 3), torch.tensor([3.0, 1.0]))


@pytest.mark.parametrize("level", [torch.tensor(3.0), torch.tensor([3.0]), torch.ones(2, 1)])
def test_a_wrong_shape_of_level_is_named(level) -> None:
    with pytest.raises(ValueError, match=r"level must have shape \(2,\)"):
        from_eps(identity_model, CHAINS["ancestral"])(torch.zeros(2, 3), level)


def test_an_unknown_level_is_refused_before_the_model_is_called() -> None:
    denoiser = from_eps(lambda x, level: pytest.fail("called"), CHAINS["ancestral"])
    with pytest.raises(ValueError, match=r"level 5 \(row 1\)"):
        denoiser(torch.zeros(2, 3), torch.tensor([3.0, 5.0]))
