"""The bounds hold exactly where the exact law is known, and are not far from it."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from redraft.audit.bounds import (
    _two_sample_tail,
    detectable_ks,
    dkwm_epsilon,
    min_num_samples_for_ks,
)

RATES = [0.3, 0.05, 1e-3, 1e-6, 1e-9]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("num", [2, 10, 100, 1000])
def test_one_sample_envelope_holds_against_the_exact_kolmogorov_law(num, rate):
    eps = dkwm_epsilon(num, rate)
    assert stats.kstwo.sf(eps, num) <= rate
    if num == 1000 and 1e-6 <= rate < 0.1:
        assert stats.kstwo.sf(eps, num) >= 0.7 * rate


@pytest.mark.parametrize(("num", "eps"), [(10**4, 0.0269), (10**5, 0.0085), (10**6, 0.0027)])
def test_one_sample_envelope_has_its_known_figures(num, eps):
    assert dkwm_epsilon(num, 1e-6) == pytest.approx(eps, abs=5e-5)
    assert detectable_ks(num, false_fail=1e-6, false_pass=1e-6) == pytest.approx(2 * eps, rel=0.02)


def equal_sizes_sf(num, k):
    """P(D_{n,n} >= k / n) = 2 sum_j (-1)^(j-1) C(2n, n - jk) / C(2n, n)."""
    jumps = range(0, num + 1, k)
    logs = [math.lgamma(num - jump + 1) + math.lgamma(num + jump + 1) for jump in jumps]
    return 2 * sum((-1) ** (j - 1) * math.exp(logs[0] - logs[j]) for j in range(1, len(logs)))


@pytest.mark.parametrize("num", [458, 459, 1000, 5000])
def test_equal_sizes_envelope_holds_against_the_exact_law_from_458(num):
    reach = int(7 * math.sqrt(num))
    for k in range(max(1, int(0.9 * math.sqrt(num))), min(reach, num)):
        assert equal_sizes_sf(num, k) <= 2 * math.exp(-k * k / num) * (1 + 1e-9)


@pytest.mark.parametrize("num", [5, 100, 457])
def test_equal_sizes_envelope_holds_below_458_where_the_constant_2_does_not(num):
    ratios = []
    for k in range(1, min(num, 4 * int(math.sqrt(num)))):
        massart = 2 * math.exp(-k * k / num) * (1 + 1e-9)
        ratios.append(equal_sizes_sf(num, k) / massart)
        if massart < 1:
            excluded = math.floor(num * dkwm_epsilon(num, massart, num)) + 1
            assert excluded > num or equal_sizes_sf(num, excluded) <= massart
    assert max(ratios) > 1


def unequal_sizes_sf(n, m, eps):
    """P(D_{n,m} > eps) by counting lattice paths that stay within eps of the diagonal."""
    inside = np.zeros((n + 1, m + 1))
    for i in range(n + 1):
        for j in range(m + 1):
            if abs(i / n - j / m) <= eps:
                above = inside[i - 1, j] if i else 0.0
                inside[i, j] = above + (inside[i, j - 1] if j else 0.0) + (i == j == 0)
    return 1 - inside[n, m] / math.comb(n + m, n)


@pytest.mark.parametrize("sizes", [(1, 1), (1, 2), (1, 3), (2, 3), (7, 12), (20, 20), (15, 60)])
@pytest.mark.parametrize("rate", [0.3, 0.05, 1e-3, 1e-6])
def test_two_sample_envelope_holds_against_counted_paths(sizes, rate):
    n, m = sizes
    assert unequal_sizes_sf(n, m, dkwm_epsilon(n, rate, m)) <= rate + 1e-12


@pytest.mark.parametrize(("n", "m"), [(50, 50), (50, 400), (400, 50), (3, 1000)])
@pytest.mark.parametrize("scale", [1.5, 2.5, 4.0])
def test_two_sample_tail_is_the_convolution_of_two_massart_tails(n, m, scale):
    eps = scale * math.sqrt((1 / n + 1 / m) / 2)

    def tail(s, size):
        return min(1.0, 2 * math.exp(-2 * size * s * s))

    start, stop = math.sqrt(math.log(2) / (2 * n)), eps - math.sqrt(math.log(2) / (2 * m))
    density = lambda s: 8 * n * s * math.exp(-2 * n * s * s) * tail(eps - s, m)  # noqa: E731
    want = 1.0
    if stop > start:
        want = integrate.quad(density, start, stop, epsabs=1e-14)[0] + tail(stop, n)
    assert _two_sample_tail(eps, n, m) == pytest.approx(min(1.0, want), rel=1e-8)
    assert _two_sample_tail(eps, n, m) == pytest.approx(_two_sample_tail(eps, m, n), rel=1e-9)


@pytest.mark.parametrize("other", [10**3, 10**4, 10**5, 2 * 10**6])
@pytest.mark.parametrize("rate", [1e-6, 1e-11])
def test_unequal_sizes_cost_little(other, rate):
    ideal = math.sqrt(math.log(2 / rate) * (1 / 10**5 + 1 / other) / 2)
    assert ideal * (1 - 1e-12) <= dkwm_epsilon(10**5, rate, other) <= 1.15 * ideal


@pytest.mark.parametrize("two_sample", [False, True])
@pytest.mark.parametrize("discrepancy", [0.9, 0.1, 0.006])
def test_min_num_samples_is_the_first_that_detects(discrepancy, two_sample):
    rates = {"false_fail": 1e-6, "false_pass": 1e-3}
    num = min_num_samples_for_ks(discrepancy, **rates, two_sample=two_sample)
    reach = [detectable_ks(n, **rates, other=n if two_sample else None) for n in (num - 1, num)]
    assert reach[1] <= discrepancy < reach[0]


@pytest.mark.parametrize("rate", [0.0, 1.0, -1e-3, math.nan])
def test_rates_outside_the_unit_interval_are_named(rate):
    with pytest.raises(ValueError, match="fail_rate must be strictly between 0 and 1"):
        dkwm_epsilon(10, rate)
    with pytest.raises(ValueError, match="false_pass must be strictly between 0 and 1"):
        detectable_ks(10, false_fail=0.1, false_pass=rate)


def test_impossible_sizes_and_discrepancies_are_named():
    with pytest.raises(ValueError, match="num must be at least 1, got 0"):
        dkwm_epsilon(0, 0.1)
    with pytest.raises(ValueError, match="other must be at least 1, got 0"):
        dkwm_epsilon(1, 0.1, 0)
    with pytest.raises(ValueError, match=r"discrepancy must be a KS distance in \(0, 1\], got 1.5"):
        min_num_samples_for_ks(1.5, false_fail=0.1, false_pass=0.1)
