"""Frozen drafts: the target is asked at the committed state, then its answer is held fixed.

Two target calls per round, one row and then the tree; the first draft of every round is always
accepted, because its guess is the target's own prediction.

References:
    | Accelerated Diffusion Models via Speculative Sampling (De Bortoli et al., 2025), eq. 7
    | https://arxiv.org/abs/2501.05370
"""

from __future__ import annotations

import torch

from redraft.chain.steps import Steps
from redraft.draft.drafter import Drawer, Ints
from redraft.draft.freeze import check_freeze
from redraft.draft.linear import LinearDraft
from redraft.tree.tree import Tree

__all__ = ["Frozen"]


class Frozen:
    """The target's prediction at the root of the round.

    Args:
        freeze: What is held fixed along the draft: "x0" (default), "eps", "v", "velocity" or
            "increment".
    """

    name = "frozen"
    asks_root = True
    sweeps = 0
    needs_memory = True
    keeps_noise = False

    def __init__(self, freeze: str = "x0") -> None:
        self.freeze = check_freeze(freeze)
        self.keeps_state = freeze != "x0"

    def recall(self, tree: Tree, stop: Ints, base: Ints, limit: Ints) -> Ints | None:
        """Remember nothing: the next round asks the target again."""
        return None

    def prepare(self, steps: Steps, tree: Tree, device: torch.device) -> Drawer:
        """Lay out the triangular product."""
        return LinearDraft(steps, tree, self.freeze, device)
