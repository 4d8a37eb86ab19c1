r"""The whole draft as one triangular product.

With guesses q that do not depend on the drafted states, the draft recursion
:math:`x_{j+1} = a'_j x_j + b'_j q_j + \mathrm{std}_j z_j` is linear in the root, the guesses and
the noises:

.. math::
    x_u = \Big(\prod_{i<j} a'_i\Big) x_{root} + \sum_{k<j} \Big(\prod_{k<i<j} a'_i\Big)
          (b'_k q_k + \mathrm{std}_k z_k), \qquad j = \text{depth of } u,

the sums running over the path from the root to u. The coefficients depend on the root's step and on
two depths only; they are laid out once per chain and shared by all runs of it, and a round
multiplies them with the noises.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.chain.steps import Steps
from redraft.draft.drafter import Draft, Frontier, Ints, Memory
from redraft.draft.freeze import Frozen, freeze_table
from redraft.draft.gather import column
from redraft.draft.product import combine
from redraft.tree.tree import Tree

__all__ = ["LinearDraft"]

_LARGEST_TABLE = 2**22
"""Steps x depths^2 up to which the factors of all steps are kept (about 64 MB)."""


class LinearDraft:
    """Drafts from remembered predictions, without a model; a `Drawer`."""

    def __init__(self, steps: Steps, tree: Tree, freeze: str, device: torch.device) -> None:
        """Lay out the coefficients.

        Args:
            steps: The chain.
            tree: The largest tree that will be drafted; others are cut from it.
            freeze: What the guesses hold fixed; see `redraft.draft.freeze`.
            device: Where the states are.
        """
        self._steps, self._height = steps, tree.height
        self.freeze, self._direct = freeze, freeze == "x0"
        self._frozen = freeze_table(freeze, steps)
        self._device = device
        self.keeps_table = steps.total * (tree.height + 1) ** 2 <= _LARGEST_TABLE

    def __call__(self, frontier: Frontier) -> Draft:
        """Return the drafted states, float64, and the guesses (B, T, D) or (B, 1, D)."""
        tree, root, memory = frontier.tree, frontier.root.unsqueeze(1), frontier.memory
        if memory is None or len(tree) == 1:
            return Draft(root, torch.zeros_like(root))
        quantity = self._quantity(memory)
        each = quantity.shape[1] > 1
        if each and quantity.shape[1] > len(tree):
            quantity = quantity[:, : len(tree)]
        factors = self._by_depth(frontier.step, each)
        if tree.width > 1 or len(tree) <= self._height:
            factors = self._by_node(factors, tree, each, frontier.noise.shape[1])
        x = combine(factors, root, quantity, frontier.noise)
        return Draft(x, quantity if self._direct else self._guess(frontier, x, quantity))

    def host_table(self) -> NDArray[np.float64]:
        """Return the factors of whole chains, one guess per node, from every step (N, ...)."""
        assert self.keeps_table
        return _table(self._steps, self.freeze, self._height, True, self._device)[0].numpy()

    def _by_depth(self, step: Ints, each: bool) -> Tensor:
        """Return the factors (B, H + 1, ...) of drafts that start at ``step`` (B,)."""
        if not self.keeps_table:
            return _factors(self._steps, self._frozen, self._height, each, step).to(self._device)
        table, views = _table(self._steps, self.freeze, self._height, each, self._device)
        if len(step) == 1:
            return views[int(step[0])]
        return table.index_select(0, torch.from_numpy(step).to(self._device))

    def _quantity(self, memory: Memory) -> Tensor:
        if self._direct or memory.x is None or memory.step is None:
            return memory.f
        of_x = column(self._frozen.of_x[memory.step], memory.f)
        of_f = column(self._frozen.of_f[memory.step], memory.f)
        return torch.addcmul(of_x * memory.x, of_f, memory.f)

    def _guess(self, frontier: Frontier, x: Tensor, quantity: Tensor) -> Tensor:
        place = np.minimum(frontier.step[:, None] + frontier.tree.depth, self._steps.total - 1)
        guess_x = column(self._frozen.guess_x[place], x)
        guess_q = column(self._frozen.guess_q[place], x)
        return torch.addcmul(guess_x * x, guess_q, quantity)

    def _by_node(self, factors: Tensor, tree: Tree, each: bool, noises: int) -> Tensor:
        """Turn factors by depth (B, H + 1, ...) into factors by node, zero off the path."""
        levels, size = self._height + 1, len(tree)
        pulls = levels if each else 1
        if tree.width <= 1:
            columns = [range(1 + (size if each else 1)), range(1 + pulls, 1 + pulls + noises)]
            keep = torch.tensor([k for part in columns for k in part], device=factors.device)
            return factors[:, :size].index_select(2, keep)
        depth = torch.from_numpy(tree.depth).to(factors.device)
        on_path = torch.from_numpy(tree.ancestor).to(factors)
        by_node = factors.index_select(1, depth)
        pull = by_node[:, :, 1 : 1 + pulls]
        if each:
            pull = pull.index_select(2, depth) * on_path
        push = by_node[:, :, 1 + pulls :].index_select(2, depth[1:] - 1) * on_path[:, 1:]
        return torch.cat((by_node[:, :, :1], pull, push), dim=2)


@lru_cache(maxsize=8)
def _table(
    steps: Steps, freeze: str, height: int, each: bool, device: torch.device
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Return the factors of drafts from every step (N, H + 1, ...), and a view for each step."""
    starts = np.arange(steps.total)
    factors = _factors(steps, freeze_table(freeze, steps), height, each, starts)
    table = factors.to(device)
    return table, table.split(1)


def _factors(steps: Steps, frozen: Frozen, height: int, each: bool, starts: Ints) -> Tensor:
    """Return carry, pull and push side by side, (B, H + 1, 1 + (H + 1 or 1) + H + 1), float64.

    ``push[n, j, k]`` is what the noise of step n + k adds at depth j > k, ``pull[n, j, k]`` what
    the guess at depth k adds there (summed over k unless ``each`` node has its own). Steps past the
    end are padded with the identity; nodes there are never evaluated.
    """
    batch, levels = len(starts), height + 1
    a = np.concatenate((frozen.a, np.ones(levels)))
    b = np.concatenate((frozen.b, np.zeros(levels)))
    std = np.concatenate((steps.std, np.zeros(levels)))
    carry = np.ones((batch, levels, 1))
    push, pull = np.zeros((2, batch, levels, levels))
    for j in range(height):
        now = starts + j
        for factor in (carry, push, pull):
            factor[:, j + 1] = a[now, None] * factor[:, j]
        push[:, j + 1, j] = std[now]
        pull[:, j + 1, j] = b[now]
    pull = pull if each else pull.sum(axis=2, keepdims=True)
    return torch.from_numpy(np.concatenate((carry, pull, push), axis=2))
