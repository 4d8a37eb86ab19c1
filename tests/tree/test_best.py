"""Trees grown where they reach most."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from redraft.tree import Tree, best, chain, grow, kary
from redraft.tree.best import chances, reach


def test_chances_are_those_of_greedy_rejection_sampling() -> None:
    """Sums are the acceptance of table C.5 of the dossier, e.g. .803, .868, .900, .918, .952."""
    share = 2.0 * 0.4012936743170763  # delta = .5
    found = np.cumsum(chances(share, 8))
    assert found[[0, 1, 2, 3, 7]] == pytest.approx([0.803, 0.868, 0.900, 0.918, 0.952], abs=6e-4)
    assert (np.diff(chances(share)) < 0).all() and sum(chances(share)) < 1


def shapes(rows: int) -> list[Tree]:
    """All trees of so many nodes, numbered breadth first."""
    found = []
    for parents in itertools.product(*(range(node) for node in range(1, rows))):
        try:
            found.append(Tree(np.array([-1, *parents])))
        except ValueError:
            continue
    return found


@pytest.mark.parametrize("share", [0.2, 0.5, 0.7, 0.9])
def test_no_tree_of_as_many_rows_reaches_more(share: float) -> None:
    most = max(reach(tree, share).sum() for tree in shapes(7))
    assert reach(best(7, share), share).sum() == pytest.approx(most)


def test_likely_drafts_get_a_chain_and_unlikely_ones_a_bush() -> None:
    assert best(16, 0.97).name == "chain:16" and best(16, 0.97).width == 1
    assert best(31, 0.3).width > 3 and best(31, 0.3).height < 6
    heights = [best(31, share).height for share in (0.3, 0.5, 0.7, 0.9)]
    assert heights == sorted(heights)


def test_a_tree_is_kept_only_if_it_beats_the_chain() -> None:
    for share in np.linspace(0.05, 0.99, 30):
        tree = best(12, float(share))
        assert reach(tree, float(share)).sum() >= reach(chain(12), float(share)).sum() - 1e-12


def test_specifications() -> None:
    assert grow("best:31,0.5") is best(31, 0.5) and grow("best:31,0.5").name == "best:31,0.5"
    assert len(grow("best:1,0.5")) == 1 and grow("best:20").name == best(20, 0.7).name
    for wrong in ("best:", "best:x", "best:8,2", "best:8,0", "best:8,0.5,1", "best:-1", "best:8,a"):
        with pytest.raises(ValueError, match="does not read as best:M,A"):
            grow(wrong)
    with pytest.raises(ValueError, match="use 1 to"):
        grow("best:0")
    with pytest.raises(ValueError, match="inside"):
        best(4, 1.0)
    with pytest.raises(ValueError, match="at least 1 row"):
        best(0, 0.5)


def test_reach_of_a_kary_tree_is_a_product() -> None:
    first, second = chances(0.6, 2)
    found = reach(kary(2, 3), 0.6)
    assert found == pytest.approx(
        [1, first, second, first**2, first * second, second * first, second**2]
    )
