"""Paths whose law is a known Gaussian: a linear denoiser makes every chain one of these.

With x the flattened path, mean mu and covariance S = L L^T (Cholesky), the innovations

    w = L^-1 (x - mu) ~ N(0, I)

are tested through their distribution functions: each entry and each random projection against Phi,
and |w|^2 against the chi-square law with D degrees of freedom, whose cdf is the regularised
incomplete gamma function P(D/2, |w|^2 / 2). Entries are ordered by step, so entry j of w is what
step n adds beyond all that came before: a fault is reported at the step that made it.

A mean off by m standard deviations moves an entry by a KS distance of 2 Phi(m/2) - 1 = .40 m, a
standard deviation off by a factor 1 + s by .24 s. `moments` is the sharper test for both.

References:
    Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.4.19 (chi-square cdf).
"""

import torch
from torch import Tensor

from redraft.audit.asserts import assert_same_cdf
from redraft.audit.budget import FALSE_FAIL_PER_ASSERT
from redraft.audit.check import Check
from redraft.audit.columns import Columns
from redraft.audit.projections import unit_vectors

__all__ = ["assert_gaussian_law", "innovations"]

_SMALLEST_PIVOT = 1e-5


def assert_gaussian_law(
    paths: Tensor,
    mean: Tensor,
    cov: Tensor,
    *,
    count: int,
    seed: int,
    detect: float,
    false_fail: float = FALSE_FAIL_PER_ASSERT,
    false_pass: float = FALSE_FAIL_PER_ASSERT,
) -> tuple[Check, Check]:
    """Assert that paths are N(mean, cov), by KS tests of their innovations.

    Args:
        paths: (num, *shape) i.i.d. paths or samples with D entries each.
        mean: D entries, in any shape that flattens like a path.
        cov: (D, D) closed-form covariance, positive definite.
        count: Random projections of the D innovations.
        seed: Seed of the projections.
        detect: KS distance that must be found in any column.
        false_fail: Probability of rejecting a correct sampler; half for the D + count linear
            columns, half for the norm.
        false_pass: Probability of missing a column that is `detect` or more away.

    Returns:
        Checks of the linear columns and of the norm.

    Raises:
        ValueError: If there are too few paths, or the covariance is singular.
        Discrepancy: If a column leaves its band.
    """
    white = innovations(paths, mean, cov)
    size = white.values.shape[1]
    directions = unit_vectors(count, size, torch.Generator().manual_seed(seed))
    values = torch.cat([white.values, white.values @ directions.T], dim=1)
    linear = Columns(values, white.labels + [f"projection {i}" for i in range(count)])
    square = Columns(white.values.square().sum(dim=1, keepdim=True), ["|w|^2"])
    half = torch.tensor(size / 2, dtype=torch.float64)
    return (
        assert_same_cdf(
            linear,
            torch.special.ndtr,
            detect=detect,
            false_fail=false_fail / 2,
            false_pass=false_pass,
        ),
        assert_same_cdf(
            square,
            lambda r: torch.special.gammainc(half, r / 2),
            detect=detect,
            false_fail=false_fail / 2,
            false_pass=false_pass,
        ),
    )


def innovations(paths: Tensor, mean: Tensor, cov: Tensor) -> Columns:
    """Whiten paths by the closed-form Cholesky factor: w = L^-1 (x - mu).

    Args:
        paths: (num, *shape) with D entries each.
        mean: D entries.
        cov: (D, D).

    Returns:
        (num, D) float64 columns, N(0, I) if the paths are right, labelled by index in *shape.

    Raises:
        ValueError: If shapes do not fit, or an entry is (nearly) a function of the earlier ones, as
            after a step without noise.
    """
    shape = paths.shape[1:]
    size = shape.numel()
    if mean.numel() != size or cov.shape != (size, size):
        raise ValueError(
            f"paths of shape {tuple(shape)} need a mean of {size} entries and a ({size}, {size}) "
            f"covariance, got {tuple(mean.shape)} and {tuple(cov.shape)}"
        )
    cov = cov.to("cpu", torch.float64)
    std = cov.diagonal().sqrt()
    factor, failed = torch.linalg.cholesky_ex(cov / (std[:, None] * std))
    pivot = factor.diagonal()
    if int(failed) or not bool((pivot >= _SMALLEST_PIVOT).all()):
        index = int(failed) - 1 if int(failed) else int((pivot >= _SMALLEST_PIVOT).int().argmin())
        raise ValueError(
            f"cov is singular at entry {_name(index, shape)}: it is constant, or a function of the "
            "entries before it; leave out states after steps without noise"
        )
    centred = paths.detach().to("cpu", torch.float64).reshape(len(paths), size) - mean.to(
        "cpu", torch.float64
    ).reshape(size)
    white = torch.linalg.solve_triangular(factor, (centred / std).T, upper=False).T
    return Columns(white, [f"w{_name(i, shape)}" for i in range(size)])


def _name(index: int, shape: torch.Size) -> str:
    place = torch.unravel_index(torch.tensor(index), shape)
    return str([int(i) for i in place])
