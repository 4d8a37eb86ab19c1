"""Ranked and optimal: acceptance as printed, exact by quadrature, and bugs that must show."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from redraft.coupling import CategoricalPair, GaussianPair, Greedy, Optimal, Ranked
from redraft.coupling.optimal import promotions, turns
from redraft.coupling.ranked import Ranks
from redraft.coupling.verifier import Verdict
from redraft.coupling.weights import rank_weights
from redraft.tree import grow

from . import planted
from .kernels import draw as draw_kernels
from .line import ALL, DELTAS, assert_covers, best, log_ratios, measure
from .quadrature import integral, phi
from .walks import TREES, draw

# Acceptance of one node at distances .1, .25, .5, 1, 1.5, 2, 3.
PRINTED_AT = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0)
RANKED = {
    2: (0.994, 0.980, 0.941, 0.790, 0.597, 0.426, 0.184),
    3: (0.994, 0.984, 0.959, 0.861, 0.681, 0.496, 0.219),
    4: (0.998, 0.993, 0.977, 0.896, 0.734, 0.546, 0.245),
    8: (0.999, 0.998, 0.992, 0.946, 0.834, 0.661, 0.317),
}
OPTIMAL = {
    2: (1.0, 0.9997, 0.9705, 0.792, 0.597, 0.426, 0.184),
    3: (1.0, 1.0, 0.9957, 0.878, 0.683, 0.496, 0.219),
    4: (1.0, 1.0, 0.9992, 0.924, 0.741, 0.546, 0.245),
    8: (1.0, 1.0, 1.0, 0.982, 0.859, 0.667, 0.317),
}
PRINTED_DIGITS = 5.5e-4
WIDTHS = (2, 3, 4, 8, 16)

every_rule = pytest.mark.parametrize("verifier", ALL, ids=lambda v: v.name)


@pytest.mark.parametrize("width", RANKED)
@every_rule
def test_acceptance_of_one_node_is_as_printed(verifier, width):
    printed = RANKED if verifier.name == "ranked" else OPTIMAL
    for delta, wanted in zip(PRINTED_AT, printed[width], strict=True):
        found = measure(verifier, delta, width)(delta + 10.0)
        assert found == pytest.approx(wanted, abs=PRINTED_DIGITS)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("delta", [0.1, 0.5, 1.0, 3.0, 6.0])
def test_optimal_attains_the_bound_and_ranked_lies_between_greedy_and_it(delta, width):
    bound, lam, gap = best(delta, width), np.array(0.0), np.array(1.0)
    for _ in range(width):
        lam = lam + gap
        gap = GaussianPair(np.array(delta)).excess(np.array(1.0), lam)
    ranked, optimal = (measure(verifier, delta, width)(delta + 10.0) for verifier in ALL)
    assert optimal == pytest.approx(bound, abs=1e-9)
    assert 1.0 - gap - 1e-4 <= ranked <= bound + 1e-9


@every_rule
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("delta", DELTAS)
def test_accepted_and_recovered_densities_add_up_to_the_target(verifier, delta, width):
    assert_covers(verifier, delta, width)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("delta", DELTAS)
def test_promotions_move_as_much_mass_to_a_place_as_away_from_it(delta, width):
    """What leaves (x, s1) arrives between s1 and the partner of x, and the same goes back."""
    shift = np.array([delta])
    at = turns(shift, width)
    s0, s1 = float(at.s0[0]), float(at.s1[0])
    if s0 == -math.inf:
        return

    def moved(s):
        same = np.full(len(s), delta)
        weight = promotions(same, width, turns(same, width), s[:, None])[1]
        return phi(s) * weight[:, 0]

    for x in s1 - np.array([0.1, 0.5, 1.0, 2.0]):
        partner = float(promotions(shift, width, at, np.array([[x]]))[0][0, 0])
        assert s1 < partner <= s0
        steps = 0.5 ** np.arange(1, 30)  # near s0 the weight is no smooth function
        away = integral(moved, x, s1, (s1 - (s1 - x) * steps).tolist())
        cuts = np.concatenate((s1 + (partner - s1) * steps, partner - (partner - s1) * steps))
        back = integral(moved, s1, partner, cuts.tolist())
        assert away == pytest.approx(back, abs=1e-9)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("delta", [0.05, 0.7, 2.0])
def test_a_rank_is_drawn_with_its_weight_and_leaves_a_fresh_coin(delta, width):
    assert_drawn(Ranked(), delta, width)


def test_a_coin_tossed_twice_is_caught():
    with pytest.raises(AssertionError):
        assert_drawn(planted.TossedTwice(Ranked()), 0.7, 3)


def assert_drawn(verifier, delta, width):
    """Coins that choose a rank make up an interval of its weight, and the rest is uniform again."""
    coin = (np.arange(20_000) + 0.5) / 20_000
    order = np.random.default_rng(width).permutation(width)
    zeta = np.broadcast_to(np.linspace(-1.0, 1.0, width)[order], (len(coin), width))
    uniform = np.repeat(coin[:, None], width, axis=1)
    found = verifier.choose(np.full(len(coin), delta), log_ratios(delta, zeta), uniform)
    rank = order[found.rank]
    weight = rank_weights(np.array([delta]), width)[0]
    np.testing.assert_allclose(np.bincount(rank, minlength=width) / len(coin), weight, atol=1e-4)
    for r in np.nonzero(weight > 0.02)[0]:
        rest = np.sort(found.coin[rank == r])
        even = (np.arange(len(rest)) + 0.5) / len(rest)
        np.testing.assert_allclose(rest, even, atol=2.0 / len(rest))


@every_rule
def test_with_one_child_it_is_the_greedy_walk(verifier):
    for tree in (TREES["chain:9"], TREES["irregular"].cut(0), grow("chain:3")):
        given, _ = draw(tree)
        ours, greedy = verifier.walk(*given), Greedy().walk(*given)
        for a, b in zip(ours, greedy, strict=True):
            np.testing.assert_array_equal(a, b)


@every_rule
def test_a_lone_child_among_bushes_is_tried_as_by_greedy(verifier):
    tree = TREES["irregular"]  # node 2 has one child, node 6
    given, part = draw(tree, cut=False)
    verdict, greedy = verifier.walk(*given), Greedy().walk(*given)
    tried = verdict.chance[:, 6] > 0.0
    assert tried.any()
    wanted = np.minimum(greedy.chance[tried, 6], 1.0)
    np.testing.assert_allclose(verdict.chance[tried, 6], wanted, rtol=1e-12)
    pair, uniform = GaussianPair(np.array([0.1, 1.0, 5.0])), np.array([0.2, 0.5, 0.9])
    one = np.ones(3)
    verdict = Verdict(np.zeros(3, dtype=np.int64), one, one, one)
    found = verifier.recover(pair, verdict, np.ones(3, dtype=np.int64), uniform)
    np.testing.assert_array_equal(found, pair.sample_excess(one, one, uniform))


@every_rule
@pytest.mark.parametrize("spec", ["chain:3", "kary:2,2"])
def test_tokens_have_no_line_to_order_them_along(verifier, spec):
    tree, kernels = grow(spec), draw_kernels("generic", 3, 3, 1)
    pair = CategoricalPair(*(torch.from_numpy(x[0, 0]).expand(1, len(tree), 3) for x in kernels))
    zeros = np.zeros((1, len(tree)))
    with pytest.raises(TypeError, match=f"{verifier.name}.*CategoricalPair.*greedy"):
        verifier.walk(tree, pair, zeros[..., None], zeros, np.ones(1, dtype=np.int64))
    with pytest.raises(TypeError, match="without delta"):
        verifier.recover(pair, None, np.ones(1, dtype=np.int64), zeros[0])  # type: ignore


@pytest.mark.parametrize("width", [1, 5, 31])
def test_the_law_of_a_rank_integrates_its_density(width):
    random = np.random.default_rng(width)
    law = Ranks(np.array([0.8]), random.dirichlet(np.ones(width), 1))
    for s in (-2.0, 0.3, 1.5):
        inside = integral(lambda x: phi(x - 0.8) - phi(x) * law.density_ratio(x[None])[0], s, 12.0)
        assert law.missing(np.array([[s]])).item() == pytest.approx(inside, abs=1e-12)


def test_weights_are_weights_and_follow_the_distance():
    delta = np.concatenate(([0.0, 1e-12, 1e8], np.geomspace(1e-3, 20.0, 200)))
    for width in (2, 3, 7, 32):
        weight = rank_weights(delta, width)
        assert (weight >= 0.0).all()
        np.testing.assert_allclose(weight.sum(axis=1), 1.0, rtol=0, atol=1e-14)
        np.testing.assert_allclose(weight[:2], 1.0 / width, atol=1e-9)
        assert (weight[delta >= 8.0, -1] == 1.0).all()


def test_more_children_than_are_ranked_are_left_out():
    tree = grow("kary:40,2")
    given, _ = draw(tree, cut=False)
    stop = Ranked().walk(*given).stop
    assert stop.max() <= 32 and len(np.unique(stop)) > 20


@pytest.mark.parametrize("width", [2, 3, 8])
@pytest.mark.parametrize(
    "make",
    [
        lambda: planted.GreedyRatio(Ranked()),
        lambda: planted.GreedyRatio(Optimal()),
        lambda: planted.PlainResidual(Ranked()),
        lambda: planted.PlainResidual(Optimal()),
        lambda: planted.NeverPromotes(),
        lambda: planted.OtherRanks(),
    ],
    ids=["ratio-ranked", "ratio-optimal", "residual-ranked", "residual-optimal", "w", "weights"],
)
def test_a_wrong_selection_is_caught_by_quadrature(make, width):
    with pytest.raises(AssertionError, match="law is"):
        assert_covers(make(), 0.7, width)
