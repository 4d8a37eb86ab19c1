"""Fixed shapes, the specifications that name them, and what is said about those that are wrong."""

from __future__ import annotations

import re

import numpy as np
import pytest

from redraft.tree import Tree, chain, grow, kary
from redraft.tree.growth import MAX_ROWS


@pytest.mark.parametrize("rows", [1, 2, 7, MAX_ROWS])
def test_a_chain_has_its_rows_below_one_another(rows):
    tree = grow(f"chain:{rows}")
    np.testing.assert_array_equal(tree.parent, np.arange(rows) - 1)
    assert (len(tree), tree.height, tree.name) == (rows, rows - 1, f"chain:{rows}")
    assert tree.width == min(rows - 1, 1)


@pytest.mark.parametrize(
    ("children", "levels", "rows"), [(2, 1, 1), (2, 3, 7), (3, 3, 13), (4, 2, 5), (2, 12, 4095)]
)
def test_a_k_ary_tree_is_full(children, levels, rows):
    tree = grow(f"kary:{children},{levels}")
    assert (len(tree), tree.height) == (rows, levels - 1)
    assert tree.name == f"kary:{children},{levels}"
    counts = np.bincount(tree.parent[1:], minlength=rows)
    np.testing.assert_array_equal(counts, np.where(tree.depth < levels - 1, children, 0))


def test_one_child_per_node_is_a_chain():
    np.testing.assert_array_equal(kary(1, 5).parent, chain(5).parent)
    assert kary(1, 5).name == "chain:5"


def test_spaces_after_the_comma_are_read():
    assert len(grow("kary:2, 3")) == 7


def test_a_tree_grows_into_itself():
    tree = Tree(np.array([-1, 0, 0]))
    assert grow(tree) is tree


@pytest.mark.parametrize("spec", ["chain:0", "chain:-3", "kary:0,2", "kary:2,0", "kary:-1,4"])
def test_a_tree_without_rows_is_refused(spec):
    with pytest.raises(ValueError, match="has no rows; use at least 1 row"):
        grow(spec)


@pytest.mark.parametrize("spec", [f"chain:{MAX_ROWS + 1}", "kary:2,13", "kary:9,1000000"])
def test_a_tree_with_too_many_rows_is_refused(spec):
    with pytest.raises(ValueError, match=f"use at most {MAX_ROWS}"):
        grow(spec)


@pytest.mark.parametrize(
    "spec",
    ["chain", "chain:", "chain:3,4", "chain:x", "chain:3.5", "kary:2", "kary:2,3,4", "kary:,"],
)
def test_numbers_that_do_not_fit_the_shape_are_refused_with_an_example(spec):
    with pytest.raises(ValueError, match=f"{re.escape(repr(spec))} does not read as .*e.g. "):
        grow(spec)


@pytest.mark.parametrize(
    ("spec", "nearest"), [("chian:4", "chain"), ("karry:2,2", "kary"), ("k-ary:2,2", "kary")]
)
def test_an_unknown_shape_is_answered_with_the_nearest_one(spec, nearest):
    with pytest.raises(ValueError, match=f"unknown tree .*Did you mean '{nearest}'"):
        grow(spec)


def test_an_unlike_shape_is_answered_with_all_of_them():
    with pytest.raises(ValueError, match="Valid names: best, chain, kary"):
        grow("7")
