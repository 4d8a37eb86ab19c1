"""Tables of a draft tree, against walks from node to parent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.tree import Tree, grow


@st.composite
def trees(draw: st.DrawFn, most: int = 24) -> Tree:
    """Random trees, numbered breadth first: numbers of children, node by node."""
    count = draw(st.integers(1, most))
    parent, node = [-1], 0
    while len(parent) < count:
        children = draw(st.integers(0 if node + 1 < len(parent) else 1, 4))
        parent += [node] * min(children, count - len(parent))
        node += 1
    return Tree(np.array(parent))


def path(tree: Tree, node: int) -> list[int]:
    """Nodes from the root to ``node``."""
    found = [node]
    while found[-1] > 0:
        found.append(int(tree.parent[found[-1]]))
    return found[::-1]


def places(tree: Tree, node: int) -> list[int]:
    """Which child to take at each step from the root to ``node``."""
    return [sum(tree.parent[:step] == tree.parent[step]) for step in path(tree, node)[1:]]


def descend(tree: Tree, node: int, ranks: list[int]) -> int:
    """Node reached from ``node`` by ``ranks``; -1 if there is none."""
    for rank in ranks:
        children = np.nonzero(tree.parent == node)[0]
        if rank >= len(children):
            return -1
        node = int(children[rank])
    return node


@given(trees())
def test_depth_height_and_ancestors_follow_the_parents(tree):
    for node in range(len(tree)):
        assert tree.depth[node] == len(path(tree, node)) - 1
        assert set(np.nonzero(tree.ancestor[node])[0]) == set(path(tree, node))
    assert tree.height == max(tree.depth)


@given(trees())
def test_children_stand_in_drafting_order_and_know_their_rank(tree):
    assert tree.width == max((int(np.sum(tree.parent == u)) for u in range(len(tree))), default=0)
    assert tree.child.shape == (len(tree), max(tree.width, 1))
    for node, row in enumerate(tree.child):
        children = np.nonzero(tree.parent == node)[0]
        np.testing.assert_array_equal(row[: len(children)], children)
        assert (row[len(children) :] == -1).all()
        np.testing.assert_array_equal(tree.rank[children], np.arange(len(children)))


@given(trees())
def test_postorder_is_its_recursive_definition(tree):
    def below(node: int) -> list[int]:
        children = np.nonzero(tree.parent == node)[0]
        return [v for child in children for v in below(int(child))] + [node]

    assert tree.postorder.tolist() == below(0)


@given(trees())
def test_subtree_takes_the_same_turns_from_another_root(tree):
    for node in range(len(tree)):
        for place in range(len(tree)):
            assert tree.subtree[node, place] == descend(tree, node, places(tree, place))


@given(trees(), st.integers(0, 24))
def test_a_cut_keeps_the_numbers_of_the_nodes_above_it(tree, height):
    cut = tree.cut(height)
    kept = np.nonzero(tree.depth <= height)[0]
    np.testing.assert_array_equal(cut.parent, tree.parent[kept])
    assert cut.height == min(height, tree.height)
    assert cut.name == tree.name
    assert tree.cut(height) is cut


def test_a_cut_below_the_leaves_is_the_tree_itself():
    tree = grow("kary:2,3")
    assert tree.cut(2) is tree
    assert len(tree.cut(0)) == 1


def test_a_lone_root_has_no_children():
    tree = Tree(np.array([-1]))
    assert (len(tree), tree.height, tree.width) == (1, 0, 0)
    assert tree.child.tolist() == [[-1]]
    assert tree.postorder.tolist() == [0]
    assert tree.subtree.tolist() == [[0]]


@pytest.mark.parametrize(
    ("parent", "message"),
    [
        ([], "start with -1"),
        ([0], "start with -1"),
        ([[-1, 0]], "must be 1-D"),
        ([-1, -1], "must come before it"),
        ([-1, 1], "must come before it"),
        ([-1, 0, 3, 0], "must come before it"),
        ([-1, 0, 1, 0], "breadth first"),
    ],
)
def test_parents_that_are_no_tree_are_refused(parent, message):
    with pytest.raises(ValueError, match=message):
        Tree(np.array(parent))
