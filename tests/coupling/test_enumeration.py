"""Every verifier on token trees: the output has the target's law, by enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from redraft.coupling import VERIFIERS
from redraft.tree import Tree, grow

from .enumeration import assert_exact, assert_possible
from .kernels import KINDS, draw
from .walks import CHOOSING

CHAINS = [grow(f"chain:{rows}") for rows in (1, 2, 3, 4)]
BUSHES = [grow(spec) for spec in ("kary:2,2", "kary:3,2", "kary:2,3")]
IRREGULAR = [
    Tree(np.array([-1, 0, 0, 1, 1, 1, 2]), "irregular"),
    Tree(np.array([-1, 0, 0, 2, 2]), "late"),
]
CASES = [
    pytest.param(make(), tree, id=f"{name}-{tree.name}")
    for name, make in VERIFIERS.items()
    for tree in CHAINS + BUSHES + IRREGULAR
    if (make.max_width is None or tree.width <= make.max_width) and name not in CHOOSING
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("verifier", "tree"), CASES)
def test_output_law_is_the_target_law_under_every_cut(verifier, tree, kind):
    for vocab, seed in ((2, 1), (2, 2), (3, 1), (5, 1))[: 4 if len(tree) <= 4 else 3]:
        assert_exact(verifier, tree, draw(kind, tree.height + 1, vocab, seed))


@pytest.mark.parametrize(("verifier", "tree"), CASES)
def test_a_coin_of_zero_never_commits_an_impossible_token(verifier, tree):
    for vocab in (2, 3):
        assert_possible(verifier, tree, draw("sparse target", tree.height + 1, vocab, 3))
