"""Recycled drafts: what a round has not looked at, the next one uses again.

When every child of a node is rejected, the recovered state takes the place of one rejected child:
the part across of its noise, and with it the child's whole subtree. The noises in that subtree are
still *live* (no decision has looked at them), so they drive the next draft again; the predictions
computed there become guesses *at the same nodes*. The new states stay close to the old ones, so
each round is a Picard sweep at no extra call.

Why it is exact. The greedy walk looks at the parts along of the children of visited nodes, and at
nothing below a rejected child. Given all it has looked at, the noises below that child are i.i.d.
standard normal. An old prediction depends on the noises on the way to its node, never on the node's
outgoing noises, so the next draft is again i.i.d. draws from its kernel given the path: rule 1 of
``docs/contract.md``. A node that has no old prediction takes the one of the deepest node above it
that has: on its own path too. Nothing in the choice of what is kept looks at a live noise (rule 4).
"""

from __future__ import annotations

import numpy as np
import torch

from redraft.chain.steps import Steps
from redraft.draft.calibration import Calibration, check_calibration
from redraft.draft.drafter import Drawer, Ints
from redraft.draft.gain import GainDraft
from redraft.draft.linear import LinearDraft
from redraft.tree.tree import Tree

__all__ = ["Recycled"]


class Recycled:
    """Kept noises and the predictions computed on their paths; one target call per round.

    Args:
        calibration: Corrects the guesses by what earlier samples taught; see `redraft.draft.gain`.
    """

    name = "recycled"
    asks_root = False
    sweeps = 0
    needs_memory = True
    keeps_noise = True

    def __init__(self, calibration: Calibration | None = None) -> None:
        self.calibration = check_calibration(calibration)
        self.keeps_state = calibration is not None

    def recall(self, tree: Tree, stop: Ints, base: Ints, limit: Ints) -> Ints | None:
        """Return the node (B, T) of the last tree whose prediction guesses each new node's."""
        if tree.width <= 1:
            return np.minimum(base[:, None] + tree.depth, limit[:, None])
        heir = tree.subtree[base]
        heir = np.where((heir >= 0) & (tree.depth[heir] <= limit[:, None]), heir, -1)
        for node in range(1, len(tree)):
            heir[:, node] = np.where(heir[:, node] < 0, heir[:, tree.parent[node]], heir[:, node])
        return heir

    def prepare(self, steps: Steps, tree: Tree, device: torch.device) -> Drawer:
        """Lay out the triangular product."""
        if self.calibration is not None:
            return GainDraft.of(steps, self.calibration)
        return LinearDraft(steps, tree, "x0", device)
