"""Drafts by a cheap model: a smaller network, cached features, an early exit, a student.

References:
    | Accelerated Diffusion Models via Speculative Sampling (De Bortoli et al., 2025)
    | https://arxiv.org/abs/2501.05370
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from redraft.chain.steps import Steps
from redraft.draft.drafter import Denoiser, Draft, Drawer, Frontier, Ints
from redraft.tree.tree import Tree

__all__ = ["Model", "ModelDraft"]


class Model:
    """The cheap model's prediction at every node; one cheap call per level of the tree.

    The guess at a node depends on the node's state only: on its own path.

    Args:
        denoiser: The cheap model, called as the target is: ``denoiser(x, level, **cond)``.
    """

    name = "model"
    asks_root = False
    sweeps = 0
    needs_memory = False
    keeps_noise = False
    keeps_state = False

    def __init__(self, denoiser: Denoiser) -> None:
        if not callable(denoiser):
            raise TypeError(f"denoiser must be callable as denoiser(x, level), got {denoiser!r}")
        self.denoiser = denoiser

    def recall(self, tree: Tree, stop: Ints, base: Ints, limit: Ints) -> Ints | None:
        """Remember nothing."""
        return None

    def prepare(self, steps: Steps, tree: Tree, device: torch.device) -> Drawer:
        """Return the level-by-level draft."""
        return ModelDraft(steps, self.denoiser, corrects=False)


class ModelDraft:
    """Level-by-level draft by a cheap model, with an optional correction; a `Drawer`."""

    def __init__(self, steps: Steps, denoiser: Denoiser, corrects: bool) -> None:
        self._steps = steps
        self._denoiser = denoiser
        self._corrects = corrects

    def __call__(self, frontier: Frontier) -> Draft:
        """Return the drafted states and the guesses (B, T, D); leaves need none and have 0."""
        tree, root = frontier.tree, frontier.root
        x = root.new_zeros(len(root), len(tree), root.shape[-1])
        guess = torch.zeros_like(x)
        x[:, 0] = root
        correction: Tensor | None = None
        for depth in range(tree.height):
            above = np.nonzero((tree.depth == depth) & (tree.child[:, 0] >= 0))[0]
            below = np.nonzero(tree.depth == depth + 1)[0]
            step = np.minimum(frontier.step + depth, self._steps.total - 1)
            place = np.repeat(step[:, None], len(above), axis=1)
            if depth == 0 and self._corrects and frontier.memory is not None:
                g, correction = self._first(frontier, place)
            else:
                g = frontier.call(self._denoiser, x[:, above], place)
            g = g if correction is None else g + correction
            # A cheap model that fails somewhere costs speed there, nothing else.
            guess[:, above] = torch.nan_to_num(g, nan=0.0, posinf=0.0, neginf=0.0)
            a, b, std = (
                torch.from_numpy(column[step]).to(root.device, root.dtype)[:, None, None]
                for column in (self._steps.a, self._steps.b, self._steps.std)
            )
            parent = tree.parent[below]
            mean = a * x[:, parent] + b * guess[:, parent]
            x[:, below] = mean + std * frontier.noise[:, below - 1].to(x.dtype)
        return Draft(x, guess, tree.height)

    def _first(self, frontier: Frontier, place: Ints) -> tuple[Tensor, Tensor]:
        """Return the guess at the root and the correction, in one cheap call on both places."""
        memory = frontier.memory
        assert memory is not None and memory.x is not None and memory.step is not None
        states = torch.cat((frontier.root.unsqueeze(1), memory.x), dim=1)
        f = frontier.call(self._denoiser, states, np.concatenate((place, memory.step), axis=1))
        ready = torch.tensor(frontier.ready, device=f.device)[:, None, None]
        correction = torch.where(ready, memory.f - f[:, 1:], torch.zeros_like(memory.f))
        return f[:, :1], correction
