"""What `walk` takes, at random: Gaussian pairs and parts along under the draft."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from redraft.coupling import VERIFIERS, GaussianPair
from redraft.coupling.pair import Floats
from redraft.tree import Tree, grow

__all__ = ["CASES", "CHOOSING", "TREES", "Given", "draw"]

TREES = {
    **{spec: grow(spec) for spec in ("chain:1", "chain:9", "kary:2,4", "kary:3,3")},
    "irregular": Tree(np.array([-1, 0, 0, 1, 1, 1, 2]), "irregular"),
}
CHOOSING = ("ranked", "optimal")
"""Verifiers that choose among a node's children along the line between two Gaussian means."""
CASES = [
    (make(), tree)
    for make in VERIFIERS.values()
    for tree in TREES.values()
    if make.max_width is None or tree.width <= make.max_width
]


class Given(NamedTuple):
    """Arguments of `walk`."""

    tree: Tree
    pair: GaussianPair
    ratio: Floats
    coin: Floats
    limit: NDArray[np.int64]


def draw(tree: Tree, batch: int = 400, cut: bool = True) -> tuple[Given, Floats]:
    """Return arguments of `walk`, distances in (0, 2), and the parts along (B, T).

    Args:
        cut: Whether samples have limits of their own, or none.
    """
    random = np.random.default_rng(batch)
    delta, coin = 2.0 * random.random((2, batch, len(tree)))
    part = random.standard_normal((batch, len(tree)))
    pair = GaussianPair(delta + 1e-3)
    ratio = pair.log_ratio(part[:, np.maximum(tree.child, 0)])
    limit = random.integers(0 if cut else tree.height, tree.height + 1, batch)
    return Given(tree, pair, ratio, 0.5 * coin, limit), part
