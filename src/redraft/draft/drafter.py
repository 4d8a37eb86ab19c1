r"""What a drafter is given and what it returns.

A draft replaces the target's prediction f at a node by a *guess* g; the draft kernel is
:math:`N(a_n x + b_n g, \mathrm{std}_n^2 I)`. The noises :math:`z` that drive the draft are given to
the drafter because a node's state depends on the noises that led to it.

Contract (``docs/contract.md``, rule 1): the guess at a node may depend on things that are not live
and on the noises on the way from the root to the node, never on the node's outgoing noises nor on
anything computed from them, in this round or an earlier one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.chain.steps import Steps
from redraft.tree.tree import Tree

__all__ = ["Denoiser", "Draft", "Drafter", "Drawer", "Frontier", "Memory", "PlacedCall"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Denoiser = Callable[..., Tensor]
PlacedCall = Callable[[Denoiser, Tensor, Ints], Tensor]
"""Evaluates a model at states (B, k, D) that stand at steps (B, k)."""


class Memory(NamedTuple):
    """Predictions that were computed in earlier rounds and are reused as guesses.

    Attributes:
        f: (B, M, D) predictions; M = 1, or one per node of the tree.
        x: (B, M, D) states where they were computed, None if the drafter does not need them.
        step: (B, M) steps at which those states stood, None without ``x``.
    """

    f: Tensor
    x: Tensor | None
    step: Ints | None


class Frontier(NamedTuple):
    """Where a round begins: everything that a draft may depend on.

    Attributes:
        tree: Shape of this round's draft, T nodes.
        step: (B,) step of each committed state.
        root: (B, D) committed states.
        noise: (B, T - 1, D) float64 incoming noise of nodes 1..T-1; **live** for nodes not yet
            decided. On a chain (B, T, D): the last one would lead on from the leaf.
        memory: Earlier predictions; None in the first round.
        ready: (B,) whether ``memory`` holds something for the sample.
        call: Evaluates a cheap model at states of this round.
    """

    tree: Tree
    step: Ints
    root: Tensor
    noise: Tensor
    memory: Memory | None
    ready: NDArray[np.bool_]
    call: PlacedCall


class Draft(NamedTuple):
    """A drafted tree.

    Attributes:
        x: (B, T, D) states, node 0 is the root; float64, or in the states' dtype, to which they
            are rounded where they are used.
        guess: (B, T, D) or (B, 1, D) guesses g of the prediction at each node.
        calls: Calls of a cheap model that it took.
    """

    x: Tensor
    guess: Tensor
    calls: int = 0


Drawer = Callable[[Frontier], Draft]


class Drafter(Protocol):
    """A way to guess the target's predictions."""

    name: str
    asks_root: bool
    """Whether the target is evaluated at the root first, in a call of its own."""
    sweeps: int
    """Calls of a round before the one that verifies, after each of which it is drafted anew."""
    needs_memory: bool
    """Whether nothing can be drafted before a first prediction is known."""
    keeps_noise: bool
    """Whether the noises below a rejected draft are kept (recycled)."""
    keeps_state: bool
    """Whether ``Memory.x`` is wanted."""

    def recall(self, tree: Tree, stop: Ints, base: Ints, limit: Ints) -> Ints | None:
        """Return the nodes (B, M) of the last tree whose predictions are remembered.

        Args:
            tree: The full tree.
            stop: (B,) node where the committed path ended.
            base: (B,) evaluated node nearest to the new root: the kept rejected child, else stop.
            limit: (B,) depth of the last tree in each sample.
        """
        ...

    def prepare(self, steps: Steps, tree: Tree, device: torch.device) -> Drawer:
        """Return the function that drafts, with its tables laid out for this chain and tree."""
        ...
