"""Planted bugs are caught, by the checks that the verifiers pass."""

from __future__ import annotations

import pytest

from redraft.coupling import CategoricalPair, Greedy, Traversal
from redraft.tree import grow

from . import planted
from .enumeration import assert_exact, assert_possible
from .kernels import draw
from .quadrature import Node, assert_covered, reflected
from .recursion import Recursion

WRONG_LAW = "output law is"


@pytest.mark.parametrize(
    ("good", "bad", "spec"),
    [
        pytest.param(Greedy(), planted.NoRatio(Greedy()), "chain:3", id="ratio-greedy"),
        pytest.param(Greedy(), planted.NoRatio(Greedy()), "kary:2,2", id="ratio-greedy-tree"),
        pytest.param(Traversal(), planted.NoRatio(Traversal()), "chain:3", id="ratio-traversal"),
        pytest.param(Greedy(), planted.OtherWeights(Greedy(), "lam"), "kary:2,2", id="lam-greedy"),
        pytest.param(
            Traversal(), planted.OtherWeights(Traversal(), "lam"), "kary:2,2", id="lam-traversal"
        ),
        pytest.param(
            Traversal(), planted.OtherWeights(Traversal(), "rho"), "chain:3", id="rho-traversal"
        ),
        pytest.param(Greedy(), planted.SortedChildren(), "kary:2,2", id="sorted-2"),
        pytest.param(Greedy(), planted.SortedChildren(), "kary:3,2", id="sorted-3"),
        pytest.param(Recursion(), Recursion(accumulates=False), "kary:2,2", id="not-accumulated"),
        pytest.param(Traversal(), planted.RootFirst(), "chain:3", id="root-first"),
    ],
)
def test_a_wrong_verifier_is_caught_by_enumeration(good, bad, spec):
    tree = grow(spec)
    kernels = draw("generic", tree.height + 1, 5, seed=5)  # 2 tokens have but one residual law
    assert_exact(good, tree, kernels)
    with pytest.raises(AssertionError, match=WRONG_LAW):
        assert_exact(bad, tree, kernels)


@pytest.mark.parametrize("pair", [planted.ResidualFromTarget, planted.ResidualFromDraftSide])
@pytest.mark.parametrize("verifier", [Greedy(), Traversal()], ids=lambda v: v.name)
@pytest.mark.parametrize("spec", ["chain:2", "chain:3", "kary:2,2"])
def test_a_wrong_residual_is_caught_by_enumeration(pair, verifier, spec):
    tree = grow(spec)
    kernels = draw("generic", tree.height + 1, 3, seed=5)
    assert_exact(verifier, tree, kernels, CategoricalPair)
    with pytest.raises(AssertionError, match=WRONG_LAW):
        assert_exact(verifier, tree, kernels, pair)


@pytest.mark.parametrize("verifier", [Greedy(), Traversal()], ids=lambda v: v.name)
@pytest.mark.parametrize("spec", ["chain:2", "chain:4", "kary:2,3"])
def test_a_coin_of_zero_at_a_chance_of_zero_is_caught_if_it_accepts(verifier, spec):
    tree = grow(spec)
    kernels = draw("sparse target", tree.height + 1, 3, seed=5)
    assert_possible(verifier, tree, kernels)
    with pytest.raises(AssertionError, match="never takes"):
        assert_possible(planted.NotStrict(verifier), tree, kernels)


@pytest.mark.parametrize(("delta", "a"), [(0.1, 0.97), (1.0, 0.3), (1.0, 0.9), (3.0, 0.1)])
def test_reflection_inside_traversal_is_caught_by_quadrature(delta, a):
    assert_covered(Node(Traversal(), delta, a, 1))
    assert_covered(Node(Traversal(), delta, 1.0, 1), reflected)  # there it is right
    with pytest.raises(AssertionError, match="density is"):
        assert_covered(Node(Traversal(), delta, a, 1), reflected)


@pytest.mark.parametrize("width", [2, 3])
def test_reflection_of_one_of_several_children_is_caught_by_quadrature(width):
    assert_covered(Node(Greedy(), 1.0, 1.0, width))
    with pytest.raises(AssertionError, match="density is"):
        assert_covered(Node(Greedy(), 1.0, 1.0, width), reflected)


@pytest.mark.parametrize("delta", [0.5, 3.0])
def test_an_unaccumulated_lambda_is_caught_by_quadrature(delta):
    assert_covered(Node(Recursion(), delta, 0.7, 2))
    with pytest.raises(AssertionError, match="density is"):
        assert_covered(Node(Recursion(accumulates=False), delta, 0.7, 2))
