"""The closed-form denoisers against Tweedie's formula, Monte Carlo and linear algebra."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from redraft import zoo
from redraft.zoo.gaussian import Gaussian
from redraft.zoo.mixture import Mixture

Target = Gaussian | Mixture
LEVELS = (1e-3, 0.02, 0.3, 1.0, 20.0)


def _generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _tweedie(target: Target, x: Tensor, level: Tensor) -> Tensor:
    """x + sigma^2 grad log p_sigma(x), with the density written by torch.distributions."""
    point = x.clone().requires_grad_(True)
    eye = torch.eye(x.shape[1], dtype=torch.float64)
    total = torch.zeros((), dtype=torch.float64)
    for row, sigma in zip(point, level, strict=True):
        if isinstance(target, Mixture):
            means, stds, weights = target.means, target.stds, target.weights
            scale = (stds.square() + sigma**2).sqrt()[:, None].expand_as(means)
            parts = torch.distributions.Independent(torch.distributions.Normal(means, scale), 1)
            total = total + (parts.log_prob(row) + weights.log()).logsumexp(0)
        else:
            law = torch.distributions.MultivariateNormal(target.mean, target.cov + sigma**2 * eye)
            total = total + law.log_prob(row)
    (score,) = torch.autograd.grad(total, point)
    return x + level.square().unsqueeze(1) * score


@pytest.mark.parametrize(
    "target", [zoo.gaussian(5, seed=3), zoo.mixture(5, 4, seed=3)], ids=["gaussian", "mixture"]
)
def test_denoiser_is_tweedie(target: Target) -> None:
    level = torch.tensor(LEVELS, dtype=torch.float64)
    clean = target.sample(len(LEVELS), _generator())
    x = clean + level.unsqueeze(1) * torch.randn(
        clean.shape, generator=_generator(1), dtype=torch.float64
    )
    torch.testing.assert_close(target(x, level), _tweedie(target, x, level), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(
    "target", [zoo.gaussian(2, seed=1), zoo.mixture(2, 3, seed=1)], ids=["gaussian", "mixture"]
)
@pytest.mark.parametrize("sigma", [0.3, 1.0])
def test_denoiser_is_the_posterior_mean(target: Target, sigma: float) -> None:
    # Self-normalised importance sampling: weights N(x; x0, sigma^2) on draws of x0, five standard
    # errors.
    draws = target.sample(400_000, _generator(2))
    x = target.mean + torch.tensor([0.2, -0.3], dtype=torch.float64)
    weights = torch.softmax(-(draws - x).square().sum(1) / (2 * sigma**2), 0)
    estimate = weights @ draws
    error = (weights.square().unsqueeze(1) * (draws - estimate).square()).sum(0).sqrt()
    exact = target(x[None], torch.tensor([sigma], dtype=torch.float64))[0]
    assert ((exact - estimate).abs() < 5 * error).all()
    assert (error < 0.02).all()


@pytest.mark.parametrize(
    "target", [zoo.gaussian(6), zoo.mixture(6, 3)], ids=["gaussian", "mixture"]
)
def test_samples_have_the_stated_moments(target: Target) -> None:
    num = 200_000
    draws = target.sample(num, _generator(5))
    assert draws.shape == (num, 6)
    # 42 numbers with standard errors of at most about 2 / sqrt(num), six of them.
    bound = 6 * 2 * max(1.0, target.cov.diagonal().max().item()) / math.sqrt(num)
    assert (draws.mean(0) - target.mean).abs().max() < bound
    assert (torch.cov(draws.T) - target.cov).abs().max() < bound


@pytest.mark.parametrize("sigma", LEVELS)
def test_affine_is_the_denoiser(sigma: float) -> None:
    target = zoo.gaussian(7, seed=2)
    x = 3 * torch.randn(4, 7, generator=_generator(), dtype=torch.float64)
    matrix, offset = target.affine(sigma)
    assert matrix.dtype == offset.dtype == torch.float64
    level = torch.full((4,), sigma, dtype=torch.float64)
    torch.testing.assert_close(x @ matrix.T + offset, target(x, level), rtol=1e-12, atol=1e-12)
    direct = target.cov @ torch.linalg.inv(
        target.cov + sigma**2 * torch.eye(7, dtype=torch.float64)
    )
    torch.testing.assert_close(matrix, direct, rtol=1e-9, atol=1e-9)


def test_seeded_gaussian_has_eigenvalues_in_the_stated_range() -> None:
    eigenvalues = torch.linalg.eigvalsh(zoo.gaussian(40, seed=9).cov)
    assert eigenvalues.min() > 0.05 - 1e-9 and eigenvalues.max() < 1 + 1e-9


@pytest.mark.parametrize(
    "target", [zoo.gaussian(64), zoo.mixture(64, 5)], ids=["gaussian", "mixture"]
)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_any_trailing_shape_and_dtype(target: Target, dtype: torch.dtype) -> None:
    x = torch.randn(3, 1, 8, 8, generator=_generator(), dtype=torch.float64)
    level = torch.tensor([0.02, 1.0, 20.0])
    out = target(x.to(dtype), level)
    assert out.shape == x.shape and out.dtype == dtype
    tolerance = {torch.float64: 1e-12, torch.float32: 1e-4, torch.bfloat16: 0.05}[dtype]
    wanted = target(x.to(dtype).double(), level.double()).flatten(1)
    torch.testing.assert_close(out.double().flatten(1), wanted, rtol=tolerance, atol=tolerance)


def test_mixture_is_finite_far_away_and_at_tiny_levels() -> None:
    target = zoo.mixture(64, 8, seed=4)
    x = torch.tensor([1e4, -1e4, 0.0]).view(3, 1).expand(3, 64)
    assert target(x, torch.tensor([1e-6, 1e3, 1e-6])).isfinite().all()


def test_mixture_log_density_integrates_to_one() -> None:
    target = zoo.mixture(1, 3, seed=0)
    grid = torch.linspace(-12, 12, 20_001, dtype=torch.float64)
    for sigma in (0.0, 0.7):
        density = target.log_density(grid[:, None], torch.full_like(grid, sigma)).exp()
        assert abs(torch.trapezoid(density, grid).item() - 1) < 1e-9


def test_one_component_is_the_gaussian() -> None:
    single = zoo.mixture(3, 1, seed=6)
    same = zoo.gaussian(3, mean=single.mean, cov=single.cov)
    x = torch.randn(5, 3, generator=_generator(), dtype=torch.float64)
    level = torch.rand(5, generator=_generator(), dtype=torch.float64)
    torch.testing.assert_close(single(x, level), same(x, level), rtol=1e-12, atol=1e-12)


def test_interpolant_is_the_posterior_mean_of_the_straight_path() -> None:
    mixture = zoo.mixture(3, 2, seed=4)
    target = zoo.Interpolant(mixture)
    x = torch.randn(4, 3, generator=_generator(), dtype=torch.float64)
    t = torch.tensor([0.001, 0.3, 0.9, 0.999], dtype=torch.float64)
    # E[x0 | x] = (x + t² score) / (1 - t), with the score of the mixture of (1 - t) x0 + t eps
    scaled = [
        Mixture(
            (1 - time) * mixture.means,
            ((1 - time) ** 2 * mixture.stds.square() + time**2).sqrt(),
            mixture.weights,
        )
        for time in t
    ]
    point = x.clone().requires_grad_(True)
    zero = torch.zeros(1, dtype=torch.float64)
    total = sum(law.log_density(row[None], zero) for law, row in zip(scaled, point, strict=True))
    assert isinstance(total, Tensor)
    (score,) = torch.autograd.grad(total.sum(), point)
    expected = (x + t.square()[:, None] * score) / (1 - t)[:, None]
    torch.testing.assert_close(target(x, t), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_interpolant_of_pure_noise_is_the_prior_mean(dtype: torch.dtype) -> None:
    mixture = zoo.mixture(3, 2, seed=4)
    x = torch.randn(5, 3, generator=_generator(), dtype=dtype)
    out = zoo.Interpolant(mixture)(x, torch.ones(5, dtype=dtype))
    assert out.dtype == dtype
    torch.testing.assert_close(out.double(), mixture.mean.expand(5, 3), rtol=0, atol=1e-4)


def test_published_mixture_is_the_published_one() -> None:
    mixture = zoo.published_mixture().target
    assert isinstance(mixture, Mixture)
    generator = np.random.default_rng(20260714)
    means = generator.uniform(-2.0, 2.0, size=(5, 512))
    np.testing.assert_array_equal(mixture.means.numpy(), means)
    np.testing.assert_array_equal(mixture.stds.numpy(), generator.uniform(0.10, 0.25, 5))
    assert mixture.weights.tolist() == [0.2] * 5
    with pytest.raises(ValueError, match="at least 1, got 0 and 5"):
        zoo.published_mixture(0)


def test_singular_covariance_is_allowed() -> None:
    target = zoo.gaussian(2, cov=torch.tensor([[1.0, 0.0], [0.0, 0.0]]), mean=torch.zeros(2))
    out = target(torch.ones(2, 2), torch.tensor([0.0, 1.0]))
    torch.testing.assert_close(out, torch.tensor([[1.0, 0.0], [0.5, 0.0]]))


def test_seeds_reproduce_and_differ() -> None:
    assert torch.equal(zoo.gaussian(4, seed=1).cov, zoo.gaussian(4, seed=1).cov)
    assert not torch.equal(zoo.gaussian(4, seed=1).cov, zoo.gaussian(4, seed=2).cov)
    assert torch.equal(zoo.mixture(4, 2, seed=1).means, zoo.mixture(4, 2, seed=1).means)


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="x has 5 numbers a row"):
        zoo.gaussian(4)(torch.zeros(2, 5), torch.ones(2))
    with pytest.raises(ValueError, match="x has 5 numbers a row"):
        zoo.mixture(4, 2)(torch.zeros(2, 5), torch.ones(2))
    with pytest.raises(ValueError, match="positive semi-definite"):
        zoo.gaussian(2, cov=-torch.eye(2))
    with pytest.raises(ValueError, match="symmetric"):
        zoo.gaussian(2, cov=torch.tensor([[1.0, 0.5], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="dimension 3"):
        zoo.gaussian(3, mean=torch.zeros(2), cov=torch.eye(2))
    with pytest.raises(ValueError, match="dim"):
        zoo.gaussian(0)
    with pytest.raises(ValueError, match="components"):
        zoo.mixture(2, 0)
