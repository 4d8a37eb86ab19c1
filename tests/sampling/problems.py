"""Targets whose chains have a known law, with cheap models of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from redraft import chain, zoo
from redraft.bench.protocol import noisy_part
from redraft.chain.chain import Chain
from redraft.zoo.gaussian import Gaussian
from redraft.zoo.mixture import Mixture

Affine = Callable[[float], tuple[Tensor, Tensor]]


class Problem(NamedTuple):
    """A target, a cheap model of it, its chain; if it is linear, f(x) = A x + c by level."""

    target: Callable[..., Tensor]
    cheap: Callable[..., Tensor]
    chain: Chain
    dim: int
    affine: Affine | None = None


def bimodal(shift: float = 0.0) -> Problem:
    """A sharply bimodal mixture in the plane under few, large steps; ``shift`` moves its mean."""
    means = torch.tensor([[1.0, 0.4], [-1.0, -0.5]], dtype=torch.float64) + shift
    target = Mixture(means, torch.tensor([0.15, 0.1]), torch.tensor([0.55, 0.45]))
    cheap = zoo.gaussian(2, mean=target.mean + 0.1, cov=target.cov)
    return Problem(target, cheap, chain.ancestral(chain.karras(8, 3.0, 0.1)), 2)


def linear(family: str, dim: int) -> Problem:
    """A wide Gaussian target under few steps of a chain family: the prediction moves with x."""
    target, cheap = wide(dim, dim), wide(dim, dim + 10, offset=2.0)
    if family == "ancestral":
        table = chain.ancestral(chain.karras(7, 8.0, 0.2, rho=3.0))
        return Problem(target, cheap, table, dim, target.affine)
    if family == "flow":
        return Problem(
            zoo.Interpolant(target),
            zoo.Interpolant(cheap),
            noisy_part(chain.flow_sde(9, 0.8)),
            dim,
            lambda level: interpolated(target, level),
        )
    table = chain.ddpm(preserving_levels(), 7, family)
    assert table.alpha is not None and table.sigma is not None
    scales = {
        level: (a, s)
        for level, a, s in zip(
            table.level.tolist(), table.alpha.tolist(), table.sigma.tolist(), strict=True
        )
    }

    def affine(level: float) -> tuple[Tensor, Tensor]:
        alpha, sigma = scales[level]
        matrix, offset = target.affine(sigma / alpha)
        return matrix / alpha, offset

    return Problem(preserve(target, table), preserve(cheap, table), table, dim, affine)


def interpolated(target: Gaussian, level: float) -> tuple[Tensor, Tensor]:
    """E[x_0 | (1 - t) x_0 + t eps = x] as A x + c."""
    matrix, offset = target.affine(level / (1.0 - level))
    return matrix / (1.0 - level), offset


def isotropic() -> Problem:
    """A wide Gaussian in six dimensions whose prediction follows the state: f = A x, A near 1.

    Whatever a draft knows of its own noise comes back as a correlation between steps.
    """
    eye = torch.eye(6, dtype=torch.float64)
    target = zoo.gaussian(6, mean=torch.zeros(6), cov=25.0 * eye)
    cheap = zoo.gaussian(6, mean=torch.ones(6), cov=18.0 * eye)
    table = chain.ancestral([4.0 * 0.8**step for step in range(11)])
    return Problem(target, cheap, table, 6, target.affine)


def offset(delta: float, steps: int) -> Problem:
    """One dimension where the cheap model is off by ``delta`` standard deviations at every step."""
    one = torch.ones(steps, dtype=torch.float64)
    table = Chain(
        level=one.cumsum(0).flip(0),
        a=0.9 * one,
        b=one,
        std=one,
        init_std=1.0,
        terminal=None,
        name="offset",
    )

    def affine(level: float) -> tuple[Tensor, Tensor]:
        return torch.full((1, 1), 0.05).double(), torch.zeros(1).double()

    return Problem(lambda x, level: 0.05 * x, lambda x, level: 0.05 * x + delta, table, 1, affine)


def wide(dim: int, seed: int, offset: float = 0.0) -> Gaussian:
    """A Gaussian with standard deviations between 1 and 4.5."""
    drawn = zoo.gaussian(dim, seed)
    return zoo.gaussian(dim, mean=drawn.mean + offset, cov=20.0 * drawn.cov)


def preserving_levels() -> Tensor:
    """(100,) abar of a linear beta schedule."""
    return torch.linspace(1e-3, 0.12, 100, dtype=torch.float64).neg().add(1.0).cumprod(0)


def preserve(target: Callable[..., Tensor], table: Chain) -> Callable[..., Tensor]:
    """Return E[x_0 | alpha x_0 + sigma eps = x] of a target that knows x_0 + sigma eps."""

    def denoiser(x: Tensor, level: Tensor) -> Tensor:
        alpha, sigma = (scale.to(x) for scale in table.scales(level))
        return target(x / alpha.reshape(-1, *[1] * (x.ndim - 1)), sigma / alpha)

    return denoiser


def path_moments(problem: Problem, states: int) -> tuple[Tensor, Tensor]:
    """Mean (states, D) and covariance (states D, states D) of x_0..x_{states-1}, float64.

    Each state is written as mean + factor w with w ~ N(0, I): factor_0 = init_std, and
    factor_{n+1} = (a + b A) factor_n plus std on the columns of step n.
    """
    table, dim = problem.chain, problem.dim
    assert problem.affine is not None
    factor = torch.zeros(states, dim, states * dim, dtype=torch.float64)
    mean = torch.zeros(states, dim, dtype=torch.float64)
    eye = torch.eye(dim, dtype=torch.float64)
    factor[0, :, :dim] = table.init_std * eye
    for n in range(states - 1):
        matrix, offset = problem.affine(table.level[n].item())
        step = table.a[n] * eye + table.b[n] * matrix
        mean[n + 1] = step @ mean[n] + table.b[n] * offset
        factor[n + 1] = step @ factor[n]
        factor[n + 1, :, (n + 1) * dim : (n + 2) * dim] += table.std[n] * eye
    flat = factor.reshape(states * dim, states * dim)
    return mean, flat @ flat.T
