"""The three operations of a pair: identities of the excess, and a sampler that inverts it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from scipy.special import erfc

from redraft.coupling import CategoricalPair, GaussianPair
from redraft.coupling import gaussian as gaussian_module
from redraft.coupling.pair import Floats

from .quadrature import edge, integral, phi

DELTAS = (1e-12, 1e-6, 0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 40.0)
SHARES = (1e-4, 0.03, 0.3, 0.7, 0.97, 0.9999, 1.0)
UNIFORMS = np.array(
    [1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.03, 0.2, 0.5, 0.8, 0.97, 0.999]
    + [1 - 1e-6, 1 - 1e-9, 1 - 1e-12, 1 - 1e-15]
)


def reachable(delta: float, a: float, width: int = 6) -> list[float]:
    """Lambdas of a node of weight a after 0, 1, ... ``width`` children."""
    pair, lam, gap = GaussianPair(np.array(delta)), [0.0], 1.0
    for _ in range(width):
        lam.append(lam[-1] + gap)
        gap = 1.0 - a + float(pair.excess(np.array(a), np.array(lam[-1])))
    return lam


def survival(delta: float, zeta: Floats, rho: float, lam: float) -> tuple[Floats, Floats]:
    """rho P(N(delta, 1) > zeta), and lam P(N(0, 1) > zeta) taken off it."""
    above = 0.5 * rho * erfc((zeta - delta) / math.sqrt(2.0))
    return above, above - 0.5 * lam * erfc(zeta / math.sqrt(2.0))


@pytest.mark.parametrize("delta", DELTAS)
def test_excess_is_what_is_left_of_rho_above_the_smaller_density(delta):
    for a in SHARES:
        for lam in reachable(delta, a):

            def smaller(zeta: Floats, a: float = a, lam: float = lam) -> Floats:
                return np.minimum(a * phi(zeta - delta), lam * phi(zeta))

            both = integral(smaller, -13.0, delta + 13.0, [edge(delta, a, lam)])
            excess = GaussianPair(np.array(delta)).excess(np.array(a), np.array(lam))
            # distances below TINY count as TINY: an error of up to TINY phi(0)
            assert excess + both == pytest.approx(a, abs=5e-11 if delta < 1e-10 else 1e-13)


def test_excess_of_equal_weights_is_the_total_variation():
    delta = np.array(DELTAS[1:])
    excess = GaussianPair(delta).excess(np.ones(8), np.ones(8))
    wanted = [math.erf(x / math.sqrt(8.0)) for x in delta]
    np.testing.assert_allclose(excess, wanted, rtol=0, atol=2e-16)


def test_excess_keeps_its_precision_far_out():
    pair = GaussianPair(np.array(0.5))
    excess = float(pair.excess(np.array(1e-3), np.array(1.0)))
    above = edge(0.5, 1e-3, 1.0)
    found = integral(lambda z: 1e-3 * phi(z - 0.5) - phi(z), above, above + 25.0)
    assert excess == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("delta", DELTAS)
def test_sampler_inverts_the_survival_within_15_steps(delta, monkeypatch):
    monkeypatch.setattr(gaussian_module, "_MOST_STEPS", 15)
    for a in SHARES:
        for lam in reachable(delta, a):
            pair = GaussianPair(np.full(len(UNIFORMS), delta))
            rho, off = np.full(len(UNIFORMS), a), np.full(len(UNIFORMS), lam)
            excess = pair.excess(rho, off)
            zeta = pair.sample_excess(rho, off, UNIFORMS)
            assert np.isfinite(zeta).all()
            assert (np.diff(zeta) <= 1e-12 * (1.0 + np.abs(zeta[1:]))).all(), "falls in uniform"
            above, left = survival(max(delta, gaussian_module.TINY), zeta, a, lam)
            rounding = 2e-15 * (1.0 + (zeta - delta) ** 2) * above
            error = np.abs(left - UNIFORMS * excess)
            assert (error <= 1e-12 * UNIFORMS * excess + rounding).all()


def test_sampler_gives_every_uniform_of_a_batch_its_own_value():
    random = np.random.default_rng(0)
    pair = GaussianPair(random.random(200) * 3)
    rho, lam, uniform = random.random((3, 200))
    together = pair.sample_excess(rho, lam, uniform)
    alone = [
        GaussianPair(pair.delta[i : i + 1]).sample_excess(
            *(x[i : i + 1] for x in (rho, lam, uniform))
        )
        for i in range(200)
    ]
    np.testing.assert_allclose(together, np.concatenate(alone), rtol=0, atol=1e-11)


def test_log_ratio_is_that_of_the_densities():
    zeta, delta = np.linspace(-3.0, 3.0, 7), np.array([0.3, 2.0])
    ratio = GaussianPair(delta).log_ratio(np.broadcast_to(zeta, (2, 7)))
    wanted = np.log(phi(zeta - delta[:, None]) / phi(zeta))
    np.testing.assert_allclose(ratio, wanted, rtol=0, atol=1e-13)


def test_categorical_operations_are_sums_over_the_vocabulary():
    random = np.random.default_rng(0)
    p, q = random.dirichlet(np.ones(5), size=(2, 30))
    q[:, 2] = 0.0
    pair = CategoricalPair(torch.from_numpy(p), torch.from_numpy(q))
    child = random.integers(5, size=(30, 4))
    with np.errstate(divide="ignore"):
        wanted = np.log(np.take_along_axis(q / p, child, 1))
    np.testing.assert_allclose(pair.log_ratio(child), wanted, rtol=1e-12)
    for a, lam in itertools.product((0.2, 1.0), (0.0, 0.6, 1.0, 2.5)):
        rho, off = np.full(30, a), np.full(30, lam)
        smaller = np.minimum(a * q, lam * p).sum(1)
        np.testing.assert_allclose(pair.excess(rho, off) + smaller, a * q.sum(1), rtol=1e-12)
