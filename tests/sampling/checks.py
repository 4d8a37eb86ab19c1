"""What every exact sampler's paths must satisfy; the planted bugs must fail these very checks.

The sharpest one looks at the standardised residuals of a path under the target's own kernels,

    z_n = (x_{n+1} - a_n x_n - b_n f(x_n)) / std_n,        z_{-1} = x_0 / init_std,

which are i.i.d. N(0, I) if and only if the path has the law of the chain. Every column below is a
function of a path that is N(0, 1) for any target:

    z            each coordinate, and random projections of all of them together
    norm_n       |z_n|^2 through the chi-square cdf; sums and differences of neighbours; |z|^2
    lag_n        <z_n, z_{n+1}> / |z_n|, and the same with x_0 for z_n
    drift_n      <z_n, u_n>, u_n the direction in which the prediction has just moved: a draft errs
                 along it, so a wrong decision shows here first; sums and differences of neighbours
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from redraft.audit import (
    Check,
    Columns,
    assert_gaussian_law,
    assert_gaussian_moments,
    assert_same_cdf,
    assert_same_law,
    projections,
)
from redraft.audit.projections import unit_vectors
from redraft.sampling import Result
from tests.sampling.problems import Problem, path_moments

RATE = 1e-10
"""False-fail rate of one assert here; there are hundreds of them."""


def noisy_states(problem: Problem) -> int:
    """Number of states x_0.. up to the last noisy step; what follows is a function of them."""
    return int(problem.chain.std.nonzero()[-1]) + 2


def check_linear_path(paths: Tensor, problem: Problem) -> list[Check]:
    """Check paths of a linear target against the closed-form mean and covariance of all states."""
    states = noisy_states(problem)
    mean, cov = path_moments(problem, states)
    paths = paths[:, :states].flatten(2)
    moments = assert_gaussian_moments(paths, mean, cov, detect=0.25, false_fail=RATE)
    law = assert_gaussian_law(paths, mean, cov, count=24, seed=1, detect=0.08, false_fail=RATE)
    return [moments, *law]


def check_residuals(paths: Tensor, problem: Problem) -> list[Check]:
    """Check that the standardised residuals of paths are i.i.d. standard normal."""
    residual, drift = residuals(paths, problem)
    num, steps, dim = residual.shape
    flat = residual.flatten(1)
    norm = _score(residual.square().sum(-1), dim)
    lag = (residual[:, :-1] * residual[:, 1:]).sum(-1) / residual[:, :-1].norm(dim=-1)
    start = (residual[:, :1] * residual[:, 2:]).sum(-1) / residual[:, :1].norm(dim=-1)
    blocks = {
        "z": flat,
        "projection": flat @ unit_vectors(24, flat.shape[1], torch.Generator().manual_seed(2)).T,
        "norm": norm,
        "path norm": _score(flat.square().sum(-1, keepdim=True), steps * dim),
        "norm sum": (norm[:, :-1] + norm[:, 1:]) / math.sqrt(2.0),
        "norm difference": (norm[:, :-1] - norm[:, 1:]) / math.sqrt(2.0),
        "lag": lag,
        "lag x_0": start,
        "drift": drift,
        "drift sum": (drift[:, :-1] + drift[:, 1:]) / math.sqrt(2.0),
        "drift difference": (drift[:, :-1] - drift[:, 1:]) / math.sqrt(2.0),
    }
    labels = [f"{name} {i}" for name, block in blocks.items() for i in range(block.shape[1])]
    columns = Columns(torch.cat(list(blocks.values()), dim=1), labels)
    return [
        *(
            assert_gaussian_moments(
                block, torch.zeros(width), torch.eye(width), detect=0.2, false_fail=RATE
            )
            for block, width in ((flat, flat.shape[1]), (drift, drift.shape[1]), (norm, steps))
        ),
        assert_same_cdf(columns, torch.special.ndtr, detect=0.08, false_fail=RATE),
    ]


def residuals(paths: Tensor, problem: Problem) -> tuple[Tensor, Tensor]:
    """Return residuals (num, 1 + steps, D) and their parts along the drift (num, steps - 1)."""
    table, states = problem.chain, noisy_states(problem)
    x = paths[:, :states].flatten(2).double()
    f = predictions(x, problem)
    a, b, std = (column[: states - 1, None] for column in (table.a, table.b, table.std))
    z = (x[:, 1:] - a * x[:, :-1] - b * f) / std
    moved = torch.nn.functional.normalize(f[:, 1:] - f[:, :-1], dim=-1)
    return torch.cat((x[:, :1] / table.init_std, z), dim=1), (z[:, 1:] * moved).sum(-1)


def predictions(x: Tensor, problem: Problem) -> Tensor:
    """Return the target's predictions at x_0..x_{n-1} of paths (num, n + 1, D), float64."""
    f = [
        problem.target(x[:, n], problem.chain.level[n].expand(len(x)))
        for n in range(x.shape[1] - 1)
    ]
    return torch.stack(f, dim=1)


def check_same_law(paths: Tensor, reference: Tensor, problem: Problem) -> Check:
    """Check paths against sequential ones: marginals, norms, steps, neighbours, whole paths."""
    states = paths.shape[1]
    scale = torch.cat((problem.chain.level, torch.tensor([problem.chain.terminal or 0.0])))
    scale = (1.0 + scale**2).sqrt()[:states, None]
    a, b = (projections(p.flatten(2), 3, 3, scale=scale) for p in (paths, reference))
    return assert_same_law(a, b, detect=0.12, false_fail=RATE)


def check_rejections(result: Result, rejected: float) -> None:
    """Check that the run has power: many drafts were accepted, many rejected (a path's share)."""
    summary, num = result.summary, len(result.samples)
    assert summary.num_accepted > 0.5 * num and summary.num_recovered > rejected * num, (
        f"{summary.num_accepted} drafts accepted and {summary.num_recovered} rejected on {num} "
        "paths: no power"
    )


def _score(square: Tensor, dim: int) -> Tensor:
    """Return standard normal scores of chi-square variables."""
    half = torch.tensor(dim / 2.0, dtype=torch.float64)
    below = torch.special.gammainc(half, square / 2.0)
    above = torch.special.gammaincc(half, square / 2.0)
    tiny = torch.finfo(torch.float64).tiny
    lower = torch.special.ndtri(below.clamp_min(tiny))
    return torch.where(below < 0.5, lower, -torch.special.ndtri(above.clamp_min(tiny)))
