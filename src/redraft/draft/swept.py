r"""Swept drafts: a few more target calls inside a round bring the draft closer to the target.

A round first drafts as *free* does. Then J times the target is asked at the drafted nodes, and the
tree is drafted again **with the same noises**, each node's guess being the prediction just computed
at the same node: a Picard sweep. The last call verifies. A node of depth d is exact after d + 1
sweeps (its path is, and then its own guess), so after J sweeps every node of depth < J has draft
distance 0, and more sweeps than levels are never made. A round takes J + 1 calls.

Why it is exact. The state of a node, and so the prediction computed there, depends on the noises
on the way to the node only, in every sweep; the guess at a node never knows its outgoing noises.
Given its path, a node's children are i.i.d. draws from its kernel: rule 1 of ``docs/contract.md``.
Sweeps decide nothing, and how many are made follows from the step alone (rule 2).

References:
    | Accelerating Diffusion Sampling via Speculative Draft Trees (2026), proposal refinement
    | https://arxiv.org/abs/2609.17691, https://github.com/marcellobullo/tree-specdiff
    | Parallel Sampling of Diffusion Models (Shih et al., 2023), https://arxiv.org/abs/2305.16317
"""

from __future__ import annotations

import numpy as np
import torch

from redraft.chain.steps import Steps
from redraft.draft.drafter import Drawer, Ints
from redraft.draft.freeze import check_freeze
from redraft.draft.linear import LinearDraft
from redraft.tree.tree import Tree

__all__ = ["Swept"]


class Swept:
    """The nearest prediction, then Picard sweeps over the tree; 1 + J target calls per round.

    Args:
        sweeps: J, at least 1.
        freeze: What is held fixed between a node's prediction and its use: "x0" (default), "eps",
            "v", "velocity" or "increment".

    Raises:
        ValueError: If ``sweeps`` is not a positive integer, or ``freeze`` is unknown.
    """

    name = "swept"
    asks_root = False
    sweeps = 1
    needs_memory = True
    keeps_noise = False

    def __init__(self, sweeps: int = 1, freeze: str = "x0") -> None:
        if not isinstance(sweeps, int) or isinstance(sweeps, bool) or sweeps < 1:
            raise ValueError(
                f"sweeps must be a positive integer, got {sweeps!r}; without sweeps it is "
                "drafter='free'"
            )
        self.sweeps = sweeps
        self.freeze = check_freeze(freeze)
        self.keeps_state = freeze != "x0"

    def recall(self, tree: Tree, stop: Ints, base: Ints, limit: Ints) -> Ints | None:
        """Return, for every node (B, T), the one whose prediction starts the next round."""
        return np.repeat(base[:, None], len(tree), axis=1)

    def prepare(self, steps: Steps, tree: Tree, device: torch.device) -> Drawer:
        """Lay out the triangular product."""
        return LinearDraft(steps, tree, self.freeze, device)
