"""What the guesses of a calibrated draft start from: remembered predictions, carried on.

See `redraft.draft.gain` for the symbols.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.chain.steps import Steps
from redraft.draft.calibration import classes
from redraft.draft.drafter import Ints, Memory
from redraft.draft.gather import column
from redraft.tree.tree import Tree

__all__ = ["References", "Start", "drift", "references"]

Floats = NDArray[np.float64]


class Start(NamedTuple):
    """Where a draft begins: steps (B,), committed states (B, D) and what is remembered."""

    step: Ints
    root: Tensor
    memory: Memory


class References(NamedTuple):
    """What the guesses of a round start from.

    Attributes:
        f_o: (B, T or 1, D) the prediction that a node starts from.
        f_b: (B, 1, D) the prediction nearest to the committed state.
        x_o: (B, T, D) the state that ``f_o`` belongs to, carried on to the node.
        x_bar: (B, T, D) the committed state, carried on to the node without noise.
        place: (B, T) chain step of each node, at most the last one.
        beyond: (B, T) 1 where ``f_o`` is of a node further up, 0 where it is the node's own.
        kind: (B, T) class of its depth, or of how far up that node is.
    """

    f_o: Tensor
    f_b: Tensor
    x_o: Tensor
    x_bar: Tensor
    place: Ints
    beyond: Ints
    kind: Ints


def references(steps: Steps, tree: Tree, start: Start) -> References:
    """Return what the guesses of the nodes of a tree start from."""
    step, root, memory = start
    assert memory.x is not None and memory.step is not None
    size, total = len(tree), steps.total
    f_o, x_o, stood = memory.f[:, :size], memory.x[:, :size], memory.step[:, :size]
    place = step[:, None] + tree.depth
    ahead = place - stood
    kind = classes(np.where(ahead > 0, ahead, tree.depth))
    carry, pull = drift(steps, max(int(ahead.max(initial=0)), tree.height) + 1)
    far = (np.minimum(stood, total - 1), ahead)
    near = (step[:, None], np.broadcast_to(tree.depth, place.shape))
    like = root.to(torch.float64)
    f_b = memory.f[:, :1]
    x_o = column(carry[far], like) * x_o + column(pull[far], like) * f_o
    x_bar = column(carry[near], like) * root.unsqueeze(1) + column(pull[near], like) * f_b
    beyond = (ahead > 0).astype(np.int64)
    return References(f_o, f_b, x_o, x_bar, np.minimum(place, total - 1), beyond, kind)


@lru_cache(maxsize=32)
def drift(steps: Steps, most: int) -> tuple[Floats, Floats]:
    """Return A and B (N, most + 1): e steps without noise take x to A x + B f."""
    a, b = np.append(steps.a, np.ones(most)), np.append(steps.b, np.zeros(most))
    carry, pull = np.ones((steps.total, most + 1)), np.zeros((steps.total, most + 1))
    now = np.arange(steps.total)
    for e in range(most):
        carry[:, e + 1] = a[now + e] * carry[:, e]
        pull[:, e + 1] = a[now + e] * pull[:, e] + b[now + e]
    return carry, pull
