"""The mean and the full covariance of Gaussian paths against closed form, entry by entry.

With innovations w_1 .. w_n ~ N(0, I_D) (see `gaussian`), m their mean, C their covariance around m
and k = n - 1 degrees of freedom, each entry has a finite-sample bound at exp(-x) per side:

    |m_i|           <= sqrt(2 x / n)                          Gaussian tail
    |C_ii - 1|      <= 2 sqrt(x / k) + 2 x / k                chi-square tail (Laurent and Massart)
    |C_ij|          <= sqrt(2 x / k) + x / k                  half a difference of two chi-squares

There are E = D + D (D + 1) / 2 entries of two sides, so x = ln(2 E / false_fail). This finds errors
of a mean or a covariance several times smaller than KS tests do, and looks at all pairs of entries,
but at nothing else: `gaussian` tests the law.

*Power*, against Gaussian paths with E[w] = m* and Cov[w] = I + E*. Let y = ln(1 / false_pass) and
t the largest of the three bounds. An entry of at least `detect` is found with probability
1 - false_pass if

    detect >= t + (1 + detect) max( 2 sqrt(y / k) + 2 y / k, sqrt(2 y / n) ):

a variance that far off shows on the diagonal; if no variance is, all are below 1 + detect, and the
mean or covariance entry deviates from its own value by at most the second term.

References:
    Laurent and Massart, "Adaptive estimation of a quadratic functional by model selection", Ann.
    Statist. 28 (2000), Lemma 1.
    Boucheron, Lugosi and Massart, "Concentration Inequalities", 2.4 (sub-gamma variables).
"""

import math

import torch
from torch import Tensor

from redraft.audit.bounds import least_integer, require_rate
from redraft.audit.budget import FALSE_FAIL_PER_ASSERT
from redraft.audit.check import Check
from redraft.audit.columns import as_columns
from redraft.audit.gaussian import innovations
from redraft.audit.judge import conclude, require_enough

__all__ = ["assert_gaussian_moments", "min_num_samples_for_moments"]


def assert_gaussian_moments(
    paths: Tensor,
    mean: Tensor,
    cov: Tensor,
    *,
    detect: float,
    false_fail: float = FALSE_FAIL_PER_ASSERT,
    false_pass: float = FALSE_FAIL_PER_ASSERT,
) -> Check:
    """Assert the mean and every covariance entry of Gaussian paths, in units of their innovations.

    Args:
        paths: (num, *shape) i.i.d. Gaussian paths with D entries each.
        mean: D entries, in any shape that flattens like a path.
        cov: (D, D) closed-form covariance, positive definite.
        detect: Error of an entry of E[w] or Cov[w] that must be found; w = L^-1 (x - mean).
        false_fail: Probability of rejecting a correct sampler, total over all entries.
        false_pass: Probability of missing a Gaussian sampler with an entry `detect` or more off.

    Raises:
        ValueError: If there are too few paths, they are not finite, or the covariance is singular.
        Discrepancy: If an entry leaves its band.
    """
    white, labels = as_columns("paths", innovations(paths, mean, cov))
    num, size = white.shape
    needed = min_num_samples_for_moments(detect, size, false_fail=false_fail, false_pass=false_pass)
    what = f"{detect} in a moment of {size} entries"
    require_enough(num >= needed, num, lambda: needed, what)
    average, diagonal, across = _bounds(num, _nats(size, false_fail))
    centre = white.mean(dim=0)
    cross = (white - centre).T @ (white - centre) / (num - 1)
    error = (cross - torch.eye(size, dtype=torch.float64)).abs()
    bound = torch.full_like(error, across).fill_diagonal_(diagonal)
    i, j = divmod(int((error - bound).argmax()), size)
    entries = [
        (float(centre.abs().max()), average, f"E[{labels[int(centre.abs().argmax())]}]"),
        (float(error[i, j]), float(bound[i, j]), f"Cov[{labels[i]}, {labels[j]}]"),
    ]
    statistics, bounds, names = (list(column) for column in zip(*entries, strict=True))
    rates = (false_fail, false_pass, detect)
    return conclude("moments", statistics, bounds, names, f"{num}", rates)


def min_num_samples_for_moments(
    discrepancy: float, size: int, *, false_fail: float, false_pass: float
) -> int:
    """Fewest paths that reveal an error of `discrepancy` in a moment of `size` innovations.

    Raises:
        ValueError: If the discrepancy is not positive, or a rate outside (0, 1).
    """
    if not discrepancy > 0:
        raise ValueError(f"discrepancy must be positive, got {discrepancy!r}")
    require_rate("false_fail", false_fail)
    require_rate("false_pass", false_pass)

    def enough(num: int) -> bool:
        if num < 2:
            return False
        allowed = max(_bounds(num, _nats(size, false_fail)))
        spread = max(_bounds(num, math.log(1 / false_pass)))
        return allowed + (1 + discrepancy) * spread <= discrepancy

    return least_integer(enough)


def _nats(size: int, false_fail: float) -> float:
    """ln(2 E / false_fail): two sides of each mean and covariance entry."""
    return math.log(2 * (size + size * (size + 1) // 2) / false_fail)


def _bounds(num: int, nats: float) -> tuple[float, float, float]:
    """Bounds of a mean, a variance and a covariance entry at exp(-nats) per side."""
    x = nats / (num - 1)
    return math.sqrt(2 * nats / num), 2 * math.sqrt(x) + 2 * x, math.sqrt(2 * x) + x
