r"""The whole draft as one triangular product.

With guesses q that do not depend on the drafted states, the draft recursion
:math:`x_{j+1} = a'_j x_j + b'_j q_j + \mathrm{std}_j z_j` is linear in the root, the guesses and
the noises:

.. math::
    x_u = \Big(\prod_{i<j} a'_i\Big) x_{root} + \sum_{k<j} \Big(\prod_{k<i<j} a'_i\Big)
          (b'_k q_k + \mathrm{std}_k z_k), \qquad j = \text{depth of } u,

the sums running over the path from the root to u. The coefficients depend on the root's step and on
two depths only; they are laid out once per chain, and a round multiplies them with the noises.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from redraft.chain.steps import Steps
from redraft.draft.drafter import Draft, Frontier, Memory
from redraft.draft.freeze import Frozen, freeze_table
from redraft.tree.tree import Tree

__all__ = ["LinearDraft"]


class LinearDraft:
    """Drafts from remembered predictions, without a model; a `Drawer`."""

    def __init__(
        self, steps: Steps, tree: Tree, freeze: str, dtype: torch.dtype, device: torch.device
    ) -> None:
        """Lay out the coefficients.

        Args:
            steps: The chain.
            tree: The largest tree that will be drafted; others are cut from it.
            freeze: What the guesses hold fixed; see `redraft.draft.freeze`.
            dtype: Type of the states.
            device: Where the states are.
        """
        self._frozen = freeze_table(freeze, steps)
        self._direct = freeze == "x0"
        carry, push, pull = _windows(steps, self._frozen, tree.height)
        self._carry = torch.from_numpy(carry).to(device, dtype).unsqueeze(-1)
        self._push = torch.from_numpy(push).to(device, dtype)
        self._pull = torch.from_numpy(pull).to(device, dtype)
        self._pull_all = torch.from_numpy(pull.sum(axis=2)).to(device, dtype).unsqueeze(-1)
        self._steps = steps

    def __call__(self, frontier: Frontier) -> Draft:
        """Return the drafted states and the guesses (B, T, D) or (B, 1, D)."""
        tree, root, memory = frontier.tree, frontier.root.unsqueeze(1), frontier.memory
        if memory is None or len(tree) == 1:
            return Draft(root, torch.zeros_like(root))
        at = torch.from_numpy(frontier.step).to(root.device)
        quantity = self._quantity(memory)
        x = self._table(self._carry, at, tree) * root
        if quantity.shape[1] == 1:
            x = torch.addcmul(x, self._table(self._pull_all, at, tree), quantity)
        else:
            quantity = quantity[:, : len(tree)]
            x = torch.baddbmm(x, self._square(self._pull, at, tree), quantity)
        x = torch.baddbmm(x, self._square(self._push, at, tree)[:, :, 1:], frontier.noise)
        return Draft(x, quantity if self._direct else self._guess(frontier, x, quantity))

    def _quantity(self, memory: Memory) -> Tensor:
        if self._direct or memory.x is None:
            return memory.f
        of_x = _column(self._frozen.of_x[memory.step], memory.f)
        of_f = _column(self._frozen.of_f[memory.step], memory.f)
        return torch.addcmul(of_x * memory.x, of_f, memory.f)

    def _guess(self, frontier: Frontier, x: Tensor, quantity: Tensor) -> Tensor:
        place = np.minimum(frontier.step[:, None] + frontier.tree.depth, self._steps.total - 1)
        guess_x = _column(self._frozen.guess_x[place], x)
        guess_q = _column(self._frozen.guess_q[place], x)
        return torch.addcmul(guess_x * x, guess_q, quantity)

    def _table(self, table: Tensor, at: Tensor, tree: Tree) -> Tensor:
        """Return coefficients (B, T, 1) by the root's step and the node's depth."""
        rows = table[at]
        if tree.width <= 1:
            return rows[:, : len(tree)]
        return rows[:, torch.from_numpy(tree.depth).to(at.device)]

    def _square(self, table: Tensor, at: Tensor, tree: Tree) -> Tensor:
        """Return coefficients (B, T, T) by the root's step and two nodes, zero off the path."""
        rows = table[at]
        if tree.width <= 1:
            return rows[:, : len(tree), : len(tree)]
        depth = torch.from_numpy(tree.depth).to(at.device)
        on_path = torch.from_numpy(tree.ancestor).to(rows)
        return rows[:, depth][:, :, depth] * on_path


def _windows(
    steps: Steps, frozen: Frozen, height: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return carry (N, H+1), push and pull (N, H+1, H+1) in float64.

    ``push[n, j, k]`` is what the incoming noise of depth k adds at depth j >= k, ``pull[n, j, k]``
    what the guess at depth k adds at depth j > k. Steps past the end are padded with the identity;
    nodes there are never evaluated.
    """
    total, levels = steps.total, height + 1
    a = np.concatenate((frozen.a, np.ones(levels)))
    b = np.concatenate((frozen.b, np.zeros(levels)))
    std = np.concatenate((steps.std, np.zeros(levels)))
    carry = np.ones((total, levels))
    push, pull = np.zeros((2, total, levels, levels))
    for j in range(height):
        now = np.arange(total) + j
        carry[:, j + 1] = a[now] * carry[:, j]
        push[:, j + 1] = a[now, None] * push[:, j]
        pull[:, j + 1] = a[now, None] * pull[:, j]
        push[:, j + 1, j + 1] = std[now]
        pull[:, j + 1, j] = b[now]
    return carry, push, pull


def _column(values: np.ndarray, like: Tensor) -> Tensor:
    return torch.from_numpy(values).to(like.device, like.dtype).unsqueeze(-1)
