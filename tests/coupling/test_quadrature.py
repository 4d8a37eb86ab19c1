"""One Gaussian pair: accepted and recovered densities add up to the target's, by quadrature."""

from __future__ import annotations

import numpy as np
import pytest

from redraft.coupling import GaussianPair, Greedy, Reflection, Traversal

from .quadrature import Node, assert_covered, integral, phi, reflected
from .scalar import normal_cdf

DELTAS = (1e-12, 1e-6, 0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 40.0)
SHARES = (1e-4, 0.03, 0.3, 0.7, 0.97, 0.9999, 1.0)

# Acceptance of one node with K i.i.d. children, greedy, as printed (from four digits, rounded once
# more: .553486 reads .554).
PRINTED_AT = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
PRINTED = {
    1: (0.960, 0.901, 0.803, 0.617, 0.453, 0.317, 0.134),
    2: (0.976, 0.938, 0.868, 0.714, 0.554, 0.404, 0.180),
    3: (0.983, 0.955, 0.900, 0.765, 0.611, 0.458, 0.211),
    4: (0.987, 0.964, 0.918, 0.798, 0.651, 0.497, 0.235),
    8: (0.993, 0.981, 0.952, 0.864, 0.738, 0.588, 0.299),
}


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("delta", DELTAS)
def test_greedy_covers_the_target(delta, width):
    assert_covered(Node(Greedy(), delta, 1.0, width))


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("delta", DELTAS)
def test_traversal_covers_its_share_of_the_target(delta, width):
    for a in SHARES:
        node = Node(Traversal(), delta, a, width)
        assert_covered(node)
        succeeds = 1.0 - node.reach[-1] + node.ending[0]
        assert succeeds == pytest.approx(a, abs=1e-10)


@pytest.mark.parametrize("delta", DELTAS)
def test_reflection_covers_the_target_with_the_mirror_image_of_the_rejected_draft(delta):
    assert_covered(Node(Reflection(), delta, 1.0, 1), reflected)


@pytest.mark.parametrize("delta", DELTAS)
def test_reflection_takes_what_is_rejected_to_what_is_missing_and_back(delta):
    zeta = np.linspace(-9.0, delta + 9.0, 1001)
    mirror = delta - zeta
    np.testing.assert_allclose(delta - mirror, zeta, rtol=0, atol=1e-14)
    rejected = phi(mirror) * (1.0 - Node(Reflection(), delta, 1.0, 1).chance(mirror)[:, 0])
    missing = np.maximum(phi(zeta - delta) - phi(zeta), 0.0)
    np.testing.assert_allclose(rejected, missing, rtol=0, atol=1e-14)


@pytest.mark.parametrize("width", PRINTED)
def test_acceptance_of_one_node_is_as_printed(width):
    for delta, printed in zip(PRINTED_AT, PRINTED[width], strict=True):
        pair = GaussianPair(np.array(delta))
        lam, gap = np.array(0.0), np.array(1.0)
        for _ in range(width):
            lam = lam + gap
            gap = pair.excess(np.array(1.0), lam)
        assert 1.0 - gap == pytest.approx(printed, abs=5.5e-4)
        assert Node(Greedy(), delta, 1.0, width).reach[-1] == pytest.approx(gap, abs=1e-12)


def test_the_quadrature_integrates_across_a_kink():
    found = integral(lambda z: phi(z) * np.maximum(z - 0.3, 0.0), -13.0, 13.0, [0.3])
    wanted = phi(np.array(0.3)) - 0.3 * normal_cdf(-0.3)
    assert found == pytest.approx(wanted, abs=1e-15)
