r"""Drafts by a cheap model, corrected by the target's last known error of it.

.. math:: g = m(\text{node}) + f(\text{base}) - m(\text{base})

with m the cheap model and the base the evaluated node nearest to the committed state, whose fate is
decided: nothing live enters the correction.

References:
    | Speculative Sampling for Faster Molecular Dynamics (2026), error correction
    | https://arxiv.org/abs/2606.02455
"""

from __future__ import annotations

import torch

from redraft.chain.steps import Steps
from redraft.draft.drafter import Drawer, Ints
from redraft.draft.model import Model, ModelDraft
from redraft.tree.tree import Tree

__all__ = ["Corrected"]


class Corrected(Model):
    """The cheap model's prediction plus the target's error of it at the nearest evaluated node."""

    name = "corrected"
    keeps_state = True

    def recall(self, tree: Tree, stop: Ints, base: Ints, limit: Ints) -> Ints | None:
        """Return the one node (B, 1) where the error is taken."""
        return base[:, None]

    def prepare(self, steps: Steps, tree: Tree, device: torch.device) -> Drawer:
        """Return the level-by-level draft with its correction."""
        return ModelDraft(steps, self.denoiser, corrects=True)
