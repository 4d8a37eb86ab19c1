"""Finite-sample bounds of empirical distribution functions.

*One sample.* With F_n the empirical distribution function of n i.i.d. draws from any law F,

    P( sup |F_n - F| > eps ) <= 2 exp(-2 n eps^2)                                  (Massart)

*Two samples* of sizes n and m from one law. For n = m >= 458 the same holds with n m / (n + m) in
the place of n (Wei and Dudley). Otherwise sup |F_n - G_m| <= A + B with A = sup |F_n - F| and
B = sup |G_m - F| independent; both are dominated by variables whose tail is Massart's bound, and
the tail of the sum of those is a Gaussian integral in closed form.

*Power.* Where |F - G| reaches D, the difference of the empirical functions is a mean of independent
bounded variables, so it falls below D - t with probability at most exp(-2 t^2 / (1/n + 1/m))
(Hoeffding; 1/m = 0 for a known cdf). A discrepancy is therefore found with probability at least
1 - false_pass as soon as it reaches the envelope plus that t.

Both hold with atoms and for every n, and lose at most a constant factor inside a logarithm.

References:
    Massart, "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Ann. Probab. 18
    (1990).
    Wei and Dudley, "Two-sample Dvoretzky-Kiefer-Wolfowitz inequalities", Stat. Probab. Lett. 82
    (2012).
    Hoeffding, "Probability inequalities for sums of bounded random variables", JASA 58 (1963).
    TensorFlow Probability, `statistical_testing.py`.
"""

import math
from collections.abc import Callable

__all__ = [
    "detectable_ks",
    "dkwm_epsilon",
    "least_integer",
    "least_point",
    "min_num_samples_for_ks",
    "require_count",
    "require_rate",
]

_EQUAL_SIZES_FROM = 458


def dkwm_epsilon(num: int, fail_rate: float, other: int | None = None) -> float:
    """Half-width of the envelope that a correct sampler leaves at most at `fail_rate`.

    Args:
        num: Size of the sample.
        fail_rate: Probability in (0, 1) of leaving the envelope.
        other: Size of the second sample; None compares with a known cdf.

    Returns:
        eps with P(sup |F_n - F| > eps) <= fail_rate, or the same with G_m for F; may exceed 1.

    Raises:
        ValueError: If a size is below 1 or the rate is outside (0, 1).
    """
    require_count("num", num)
    require_rate("fail_rate", fail_rate)
    if other is None:
        return math.sqrt(math.log(2 / fail_rate) / (2 * num))
    require_count("other", other)
    if num == other and num >= _EQUAL_SIZES_FROM:
        return math.sqrt(math.log(2 / fail_rate) / num)
    widest = dkwm_epsilon(num, fail_rate / 2) + dkwm_epsilon(other, fail_rate / 2)
    return least_point(lambda eps: _two_sample_tail(eps, num, other) <= fail_rate, 0.0, widest)


def detectable_ks(
    num: int, *, false_fail: float, false_pass: float, other: int | None = None
) -> float:
    """Smallest sup |F - G| that `num` draws (against `other`, or a known cdf) are sure to reveal.

    Args:
        num: Size of the sample.
        false_fail: Probability of rejecting a correct sampler.
        false_pass: Probability of missing a law that is at least this far away.
        other: Size of the second sample; None compares with a known cdf.

    Returns:
        The Kolmogorov-Smirnov distance; above 1 when nothing can be revealed.
    """
    require_rate("false_pass", false_pass)
    inverse = 1 / num + (1 / other if other is not None else 0.0)
    return dkwm_epsilon(num, false_fail, other) + math.sqrt(math.log(1 / false_pass) * inverse / 2)


def min_num_samples_for_ks(
    discrepancy: float, *, false_fail: float, false_pass: float, two_sample: bool = False
) -> int:
    """Fewest draws, of each sample if `two_sample`, that are sure to reveal `discrepancy`.

    Returns:
        The least number whose `detectable_ks` is at most `discrepancy`.

    Raises:
        ValueError: If the discrepancy is outside (0, 1] or a rate outside (0, 1).
    """
    if not 0 < discrepancy <= 1:
        raise ValueError(f"discrepancy must be a KS distance in (0, 1], got {discrepancy!r}")

    def enough(num: int) -> bool:
        other = num if two_sample else None
        reach = detectable_ks(num, false_fail=false_fail, false_pass=false_pass, other=other)
        return reach <= discrepancy

    return least_integer(enough)


def require_rate(name: str, rate: float) -> None:
    """Raise ValueError unless `rate` is a probability strictly between 0 and 1."""
    if not 0 < rate < 1:
        raise ValueError(f"{name} must be strictly between 0 and 1, got {rate!r}")


def require_count(name: str, num: int) -> None:
    """Raise ValueError unless `num` is at least 1."""
    if num < 1:
        raise ValueError(f"{name} must be at least 1, got {num!r}")


def _two_sample_tail(eps: float, n: int, m: int) -> float:
    """P(A' + B' > eps), A' and B' >= 0 independent with tails min(1, 2 exp(-2 n s^2)) (and m)."""
    start, stop = math.sqrt(math.log(2) / (2 * n)), eps - math.sqrt(math.log(2) / (2 * m))
    if stop <= start:
        return 1.0
    k, centre = n + m, m * eps / (n + m)
    lo, hi = math.sqrt(2 * k) * (start - centre), math.sqrt(2 * k) * (stop - centre)
    bulk = centre * math.sqrt(math.pi / (8 * k)) * (math.erf(hi) - math.erf(lo))
    edge = (math.exp(-lo * lo) - math.exp(-hi * hi)) / (4 * k)
    both = 16 * n * math.exp(-2 * n * m / k * eps * eps) * (bulk + edge)
    return min(1.0, both + 2 * math.exp(-2 * n * stop * stop))


def least_point(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Least point of [low, high] where a monotone predicate holds; `high` if it never does."""
    for _ in range(64):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def least_integer(enough: Callable[[int], bool]) -> int:
    """Least positive integer where a monotone predicate holds."""
    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
