"""What every walk owes its caller: strict coins, independent samples, what it looked at."""

from __future__ import annotations

import numpy as np
import pytest

from redraft.coupling import VERIFIERS, GaussianPair, Traversal, offered
from redraft.tree import grow

from .walks import CASES, CHOOSING, TREES, draw

every_walk = pytest.mark.parametrize(
    ("verifier", "tree"), CASES, ids=[f"{v.name}-{t.name}" for v, t in CASES]
)
TOSSED = [(v, t) for v, t in CASES if v.name not in CHOOSING or t.width <= 1]


@pytest.mark.parametrize(
    ("verifier", "tree"), TOSSED, ids=[f"{v.name}-{t.name}" for v, t in TOSSED]
)
def test_a_coin_counts_only_through_whether_it_is_below_its_chance(verifier, tree):
    given, _ = draw(tree)
    verdict = verifier.walk(*given)
    coin = np.where(given.coin < verdict.chance, 0.0, 1.0)
    assert (verifier.walk(*given._replace(coin=coin)).stop == verdict.stop).all()
    equal = verifier.walk(*given._replace(coin=verdict.chance))
    assert (equal.stop == 0).all()
    below = verifier.walk(*given._replace(coin=np.nextafter(verdict.chance, -1.0)))
    assert (tree.depth[below.stop] == given.limit).all()


@every_walk
def test_the_verdict_on_a_sample_does_not_depend_on_its_batch(verifier, tree):
    given, _ = draw(tree, batch=20)
    whole = verifier.walk(*given)
    for i in range(len(given.coin)):
        row = slice(i, i + 1)
        pair, *rest = GaussianPair(given.pair.delta[row]), *(x[row] for x in given[2:])
        for alone, among in zip(verifier.walk(tree, pair, *rest), whole, strict=True):
            np.testing.assert_array_equal(alone, among[row])


@every_walk
def test_a_draft_that_is_the_target_is_accepted_to_the_end(verifier, tree):
    given, _ = draw(tree)
    pair = GaussianPair(np.zeros(given.coin.shape))
    stop = verifier.walk(*given._replace(pair=pair, ratio=np.zeros(given.ratio.shape))).stop
    assert (stop == [np.argmax(tree.depth == depth) for depth in given.limit]).all()


@every_walk
@pytest.mark.parametrize("delta", [1e-12, 1e-9, 40.0, 1e3, 1e8])
def test_extreme_distances_give_chances_and_weights_that_are_numbers(verifier, tree, delta):
    given, part = draw(tree, batch=50)
    pair = GaussianPair(np.full(given.coin.shape, delta))
    ratio = pair.log_ratio(part[:, np.maximum(tree.child, 0)])
    verdict = verifier.walk(*given._replace(pair=pair, ratio=ratio))
    for values in verdict:
        assert np.isfinite(values).all()


@pytest.mark.parametrize("name", ["greedy", "ranked", "optimal"])
def test_top_down_walks_looked_at_their_path_and_traversal_at_all_nodes_above_the_cut(name):
    given, _ = draw(TREES["kary:2,4"])
    tree, limit, verifier = given.tree, given.limit, VERIFIERS[name]()
    stop = verifier.walk(*given).stop
    seen = verifier.visited(tree, stop, limit)
    for row, node in zip(seen, stop, strict=True):
        path = {0}
        while node > 0:
            path.add(int(node))
            node = tree.parent[node]
        assert set(np.nonzero(row)[0]) == path
    assert (Traversal().visited(tree, stop, limit) == (tree.depth <= limit[:, None])).all()


def test_only_traversal_looks_below_and_only_reflection_is_for_chains():
    assert [name for name, make in VERIFIERS.items() if not make.keeps_noise] == ["traversal"]
    assert {name for name, make in VERIFIERS.items() if make.reflects} == {"greedy", "reflection"}
    assert [name for name, make in VERIFIERS.items() if make.max_width] == ["reflection"]
    assert all(make().name == name for name, make in VERIFIERS.items())


@pytest.mark.parametrize("spec", ["chain:4", "kary:2,3", "kary:3,2"])
def test_offered_gathers_the_children_of_every_node(spec):
    tree = grow(spec)
    incoming = np.random.default_rng(0).standard_normal((5, len(tree) - 1, 2))
    found = offered(tree, incoming)
    assert found.shape == (5, len(tree), tree.width, 2)
    for node, row in enumerate(tree.child):
        for rank, child in enumerate(row):
            if child >= 0:
                np.testing.assert_array_equal(found[:, node, rank], incoming[:, child - 1])


def test_offered_on_a_chain_may_go_one_past_the_leaf():
    incoming = np.random.default_rng(0).standard_normal((5, 4))
    np.testing.assert_array_equal(offered(grow("chain:4"), incoming)[..., 0], incoming)
