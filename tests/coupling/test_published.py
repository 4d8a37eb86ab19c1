"""The walks against the published algorithms, written out on one sample, and each other."""

from __future__ import annotations

import numpy as np
import pytest

from redraft.coupling import GaussianPair, Greedy, Reflection, Traversal
from redraft.tree import grow

from .recursion import Recursion
from .scalar import block_verification, greedy_tree, speculative_chain
from .walks import TREES, draw


@pytest.mark.parametrize("rows", [2, 3, 5, 9])
def test_traversal_on_a_chain_is_block_verification(rows):
    given, part = draw(grow(f"chain:{rows}"), cut=False)
    verdict = Traversal().walk(*given)
    delta = given.pair.delta
    for i in range(len(part)):
        block = block_verification(delta[i, :-1], part[i, 1:], given.coin[i, 1:])
        assert verdict.stop[i] == block.tau
        np.testing.assert_allclose(verdict.chance[i, 1:], block.h[1:], rtol=1e-9, atol=1e-12)
        assert verdict.rho[i] == pytest.approx(block.a, rel=1e-12)
        if block.tau < rows - 1:
            assert verdict.lam[i] == 1.0
            excess = GaussianPair(delta[i, block.tau]).excess(verdict.rho[i], verdict.lam[i])
            assert excess == pytest.approx(block.residual, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("verifier", [Greedy(), Reflection()], ids=lambda v: v.name)
@pytest.mark.parametrize("rows", [2, 5, 9])
def test_greedy_on_a_chain_is_speculative_sampling(rows, verifier):
    given, part = draw(grow(f"chain:{rows}"), cut=False)
    verdict = verifier.walk(*given)
    for i in range(len(part)):
        sample = given.pair.delta[i, :-1], part[i, 1:], given.coin[i, 1:]
        assert verdict.stop[i] == speculative_chain(*sample)
    assert (verdict.rho == 1.0).all()
    assert (verdict.lam == 1.0).all()


@pytest.mark.parametrize("name", TREES)
def test_greedy_on_a_tree_is_greedy_rejection_sampling_from_the_root(name):
    tree = TREES[name]
    given, part = draw(tree, cut=False)
    verdict = Greedy().walk(*given)
    children = [[int(c) for c in row if c >= 0] for row in tree.child]
    for i in range(len(part)):
        stop, lam = greedy_tree(children, given.pair.delta[i], part[i], given.coin[i])
        assert verdict.stop[i] == stop
        if children[stop]:
            assert verdict.lam[i] == pytest.approx(lam, rel=1e-12)


@pytest.mark.parametrize("name", TREES)
def test_traversal_is_its_recursion(name):
    tree = TREES[name]
    given, _ = draw(tree)
    verdict, wanted = Traversal().walk(*given), Recursion().walk(*given)
    assert (verdict.stop == wanted.stop).all()
    np.testing.assert_allclose(verdict.rho, wanted.rho, rtol=1e-12)
    exists = (tree.depth <= given.limit[:, None]) & (tree.parent >= 0)
    chances = (x.chance[exists] for x in (verdict, wanted))
    np.testing.assert_allclose(*chances, rtol=1e-9, atol=1e-12)
    inner = (tree.depth[verdict.stop] < given.limit) & (tree.child[verdict.stop, 0] >= 0)
    np.testing.assert_allclose(verdict.lam[inner], wanted.lam[inner], rtol=1e-12)


@pytest.mark.parametrize("width", [1, 2, 3, 8])
def test_traversal_one_level_deep_is_greedy(width):
    given, _ = draw(grow(f"kary:{width},2"))
    greedy, traversal = Greedy().walk(*given), Traversal().walk(*given)
    assert (greedy.stop == traversal.stop).all()
    chances = np.minimum(greedy.chance, 1.0)[:, 1:], traversal.chance[:, 1:]
    np.testing.assert_allclose(*chances, rtol=1e-12, atol=1e-15)
    recovered = (greedy.stop == 0) & (given.limit > 0)
    assert (traversal.rho[recovered] == 1.0).all()
    np.testing.assert_allclose(greedy.lam[recovered], traversal.lam[recovered], rtol=1e-12)
