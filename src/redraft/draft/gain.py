r"""Guesses with an innovation gain: corrected by what the noise on the path tells.

The prediction is driven by the chain's own noise, and the noise on the way to a node is known when
it is drafted. A node's guess starts from a remembered prediction :math:`f_o` and may lean on three
differences,

.. math::
    g = f_o + c_1 (f_b - f_o) + c_2 (x - x_o) + c_3 (x - \bar x),

- :math:`f_o, x_o`: the prediction computed at the *same* node last time and the state it was
  computed at; beyond the last such node, the last one's prediction and its state carried on without
  noise;
- :math:`f_b`: the prediction nearest to the committed state;
- :math:`\bar x`: the path from the committed state without noise, driven by :math:`f_b`. So
  :math:`x - \bar x` is the innovation accumulated since then, and :math:`c_3` its gain.

:math:`c = 0` is the recycled draft, :math:`c_1 = 1` the fresh one; the coefficients of a place come
from a `Calibration`.

Why it is exact. :math:`f_o` and :math:`x_o` depend on the noises on the node's own path,
:math:`f_b` on committed ones, the state x on its own path, and c on visited nodes of other samples:
rules 1 and 3 of ``docs/contract.md``. Any c is exact; a poor one costs speed.

The draft stays linear. With :math:`\bar c = c_2 + c_3`, :math:`a' = a + b \bar c` and
:math:`r = f_o + c_1 (f_b - f_o) - c_2 x_o - c_3 \bar x`,

.. math::
    x_u = \Pi_u x_{root} + \sum_{v} \frac{\Pi_u}{\Pi_v} (b\,r + \mathrm{std}\,z)_v,
    \qquad \Pi_u = \prod_{\text{nodes above } u} a',

the sum running over the nodes v on the path to u, with r of the node above v and the noise z that
leads to v: one triangular product, on chains and on trees.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.chain.steps import Steps
from redraft.draft.calibration import Calibration, classes
from redraft.draft.drafter import Draft, Frontier, Ints, Memory
from redraft.draft.product import combine
from redraft.tree.tree import Tree

if TYPE_CHECKING:
    from redraft.draft.drafter import Bools

__all__ = ["GainDraft", "Start"]

Floats = NDArray[np.float64]

_LEAST = 1e-6
"""Least factor a' of a state; the gain gives way where it would be smaller."""


class Start(NamedTuple):
    """Where a draft begins: steps (B,), committed states (B, D) and what is remembered."""

    step: Ints
    root: Tensor
    memory: Memory


class References(NamedTuple):
    """What the guesses of a round start from; vectors (B, T, D), numbers (B, T)."""

    f_o: Tensor
    f_b: Tensor
    x_o: Tensor
    x_bar: Tensor
    place: Ints
    beyond: Ints
    kind: Ints


class GainDraft:
    """Drafts from remembered predictions with calibrated corrections; a `Drawer`.

    Attributes:
        steps: The chain.
        bins: (N,) bin of each step.
        coefficients: (bins, 2, CLASSES, 3) c by place; see `Calibration.coefficients`.
        least: Least factor a' of a state; the gain gives way where it would be smaller.
    """

    least = _LEAST

    def __init__(self, steps: Steps, calibration: Calibration, device: torch.device) -> None:
        """Lay out the coefficients.

        Args:
            steps: The chain.
            calibration: Where the corrections come from; read once.
            device: Where the states are.

        Raises:
            ValueError: If the calibration is of another chain, or a noisy step forgets the state
                and takes no part of the prediction.
        """
        if calibration.total != steps.total:
            raise ValueError(
                f"the calibration is of a chain of {calibration.total} calls, "
                f"this one has {steps.total}; calibrate again"
            )
        if ((np.abs(steps.a) < _LEAST) & (steps.b == 0) & (steps.std > 0)).any():
            raise ValueError("a calibrated drafter needs a != 0 or b != 0 on noisy steps")
        self.steps, self._device = steps, device
        self.bins = calibration.bin(np.arange(steps.total))
        self.coefficients = calibration.coefficients()

    def __call__(self, frontier: Frontier) -> Draft:
        """Return the drafted states, float64, and the guesses (B, T, D)."""
        root, memory, tree = frontier.root.unsqueeze(1), frontier.memory, frontier.tree
        if memory is None or len(tree) == 1:
            return Draft(root, torch.zeros_like(root))
        ref = self._references(tree, Start(frontier.step, frontier.root, memory))
        a, b, std = self.steps.kernel[:, ref.place]
        c = self.coefficients[self.bins[ref.place], ref.beyond, ref.kind]
        gain = c[..., 1] + c[..., 2]
        carry = a + b * gain
        low = carry < _LEAST
        if low.any():
            give = np.divide(_LEAST - a, b, out=np.zeros_like(a), where=b != 0)
            c = np.where(low[..., None], np.stack((0.0 * give, 0.0 * give, give), axis=-1), c)
            gain, carry = c[..., 1] + c[..., 2], np.where(low, _LEAST, carry)
        r = ref.f_o + self._on(c[..., 0]) * (ref.f_b - ref.f_o)
        r = r - self._on(c[..., 1]) * ref.x_o - self._on(c[..., 2]) * ref.x_bar
        parent, above = tree.parent[1:], ref.place[:, tree.parent[1:]]
        noise = frontier.noise[:, : len(parent)]
        push = self._on(self.steps.std[above]) * noise + self._on(b[:, parent]) * r[:, parent]
        product, share = _products(tree, carry)
        x = combine(self._host(np.concatenate((product[..., None], share), axis=2)), root, push)
        return Draft(x, r + self._on(gain) * x)

    def inner_products(
        self, tree: Tree, start: Start, x: Tensor, f: Tensor, seen: Bools
    ) -> tuple[tuple[Ints, Ints, Ints], Floats]:
        """Return the places (each (R,)) and inner products (R, 4, 4) of nodes; see `Evidence`.

        Args:
            tree: Shape of the draft.
            start: Where the draft began.
            x: (B, T, D) drafted states.
            f: (B, T, D) predictions there.
            seen: (B, T) the nodes, all of them visited.
        """
        ref = self._references(tree, start)
        at = tuple(torch.from_numpy(index).to(x.device) for index in np.nonzero(seen))
        f_o = ref.f_o.expand(x.shape)
        parts = (f - f_o, ref.f_b - f_o, x - ref.x_o, x - ref.x_bar)
        vectors = torch.stack([part[at].to(torch.float64) for part in parts], dim=1)
        gram = torch.bmm(vectors, vectors.transpose(1, 2)).cpu().numpy()
        return (ref.place[seen], ref.beyond[seen], ref.kind[seen]), gram

    def drift(self, most: int) -> tuple[Floats, Floats]:
        """Return A and B (N, most + 1): e steps without noise take x to A x + B f."""
        return _drift(self.steps, most)

    def _references(self, tree: Tree, start: Start) -> References:
        """Return what the guesses of the nodes start from."""
        step, root, memory = start
        assert memory.x is not None and memory.step is not None
        size, total = len(tree), self.steps.total
        f_o, x_o, stood = memory.f[:, :size], memory.x[:, :size], memory.step[:, :size]
        place = step[:, None] + tree.depth
        ahead = place - stood
        kind = classes(np.where(ahead > 0, ahead, tree.depth))
        carry, pull = _drift(self.steps, int(ahead.max(initial=0)) + 1)
        far = (np.minimum(stood, total - 1), ahead)
        x_o = self._on(carry[far]) * x_o + self._on(pull[far]) * f_o
        near = (step[:, None], np.broadcast_to(tree.depth, place.shape))
        f_b = memory.f[:, :1]
        if int(tree.height) >= carry.shape[1]:
            carry, pull = _drift(self.steps, int(tree.height) + 1)
        x_bar = self._on(carry[near]) * root.unsqueeze(1) + self._on(pull[near]) * f_b
        place = np.minimum(place, total - 1)
        beyond = (ahead > 0).astype(np.int64)
        return References(f_o, f_b, x_o, x_bar, place, beyond, kind)

    def _on(self, numbers: Floats) -> Tensor:
        """Return host numbers (B, T) as factors of vectors."""
        return self._host(numbers).unsqueeze(-1)

    def _host(self, numbers: Any) -> Tensor:
        return torch.from_numpy(numbers).to(self._device)


def _products(tree: Tree, carry: Floats) -> tuple[Floats, Floats]:
    """Return the products of the factors above each node (B, T) and their ratios (B, T, T - 1)."""
    size = len(tree)
    if tree.width <= 1:
        product = np.ones_like(carry)
        np.cumprod(carry[:, : size - 1], axis=1, out=product[:, 1:])
    else:
        above = np.log(carry[:, tree.parent[1:]])
        product = np.exp(above @ tree.ancestor[:, 1:].T)
    return product, product[:, :, None] / product[:, None, 1:] * tree.ancestor[:, 1:]


@lru_cache(maxsize=32)
def _drift(steps: Steps, most: int) -> tuple[Floats, Floats]:
    """Return A and B (N, most + 1): e steps without noise take x to A x + B f."""
    a, b = np.append(steps.a, np.ones(most)), np.append(steps.b, np.zeros(most))
    carry, pull = np.ones((steps.total, most + 1)), np.zeros((steps.total, most + 1))
    now = np.arange(steps.total)
    for e in range(most):
        carry[:, e + 1] = a[now + e] * carry[:, e]
        pull[:, e + 1] = a[now + e] * pull[:, e] + b[now + e]
    return carry, pull
