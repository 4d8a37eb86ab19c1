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

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.chain.steps import Steps
from redraft.draft.calibration import Calibration
from redraft.draft.drafter import Draft, Frontier, Ints
from redraft.draft.gain_host import ChainGain
from redraft.draft.gather import column
from redraft.draft.product import combine
from redraft.draft.reference import Start, references
from redraft.tree.tree import Tree

if TYPE_CHECKING:
    from redraft.draft.drafter import Bools

__all__ = ["GainDraft"]

Floats = NDArray[np.float64]

_LEAST = 1e-6
"""Least factor a' of a state; the gain gives way where it would be smaller."""


class GainDraft:
    """Drafts from remembered predictions with calibrated corrections; a `Drawer`.

    Attributes:
        steps: The chain.
        bins: (N,) bin of each step.
        coefficients: (bins, 2, CLASSES, 3) c by place; see `Calibration.coefficients`.
    """

    def __init__(self, steps: Steps, calibration: Calibration) -> None:
        """Lay out the coefficients.

        Args:
            steps: The chain.
            calibration: Where the corrections come from; read once.

        Raises:
            ValueError: If the calibration is of another chain, or a noisy step forgets or mirrors
                the state and takes no part of the prediction, so that no gain can keep a' > 0.
        """
        if calibration.total != steps.total:
            raise ValueError(
                f"the calibration is of a chain of {calibration.total} calls, "
                f"this one has {steps.total}; calibrate again"
            )
        if ((steps.a < _LEAST) & (steps.b == 0) & (steps.std > 0)).any():
            raise ValueError("a calibrated drafter needs a > 0 or b != 0 on noisy steps")
        self.steps = steps
        self.bins = calibration.bin(np.arange(steps.total))
        self.coefficients = calibration.coefficients()
        self._chains: dict[int, ChainGain] = {}

    @classmethod
    def of(cls, steps: Steps, calibration: Calibration) -> GainDraft:
        """Return the draft of a calibration; the same one for all runs of a chain."""
        found = calibration.derived.get(steps)
        if found is None:
            found = calibration.derived[steps] = cls(steps, calibration)
        return found

    def chain(self, size: int) -> ChainGain:
        """Return the factors of whole chains of ``size`` rows; laid out once."""
        if size not in self._chains:
            self._chains[size] = ChainGain(self, size)
        return self._chains[size]

    def __call__(self, frontier: Frontier) -> Draft:
        """Return the drafted states, float64, and the guesses (B, T, D)."""
        root, memory, tree = frontier.root.unsqueeze(1), frontier.memory, frontier.tree
        if memory is None or len(tree) == 1:
            return Draft(root, torch.zeros_like(root))
        ref = references(self.steps, tree, Start(frontier.step, frontier.root, memory))
        c = self.coefficients[self.bins[ref.place], ref.beyond, ref.kind]
        gain, carry, c = self.give_way(c, ref.place)
        b, std, root64 = self.steps.b[ref.place], self.steps.std[ref.place], root.to(torch.float64)
        r = ref.f_o + column(c[..., 0], root64) * (ref.f_b - ref.f_o)
        r = r - column(c[..., 1], root64) * ref.x_o - column(c[..., 2], root64) * ref.x_bar
        parent = tree.parent[1:]
        push = column(std[:, parent], root64) * frontier.noise[:, : len(parent)]
        push = push + column(b[:, parent], root64) * r[:, parent]
        factors = torch.from_numpy(np.concatenate(_products(tree, carry), axis=2))
        x = combine(factors.to(root.device), root, push)
        return Draft(x, r + column(gain, root64) * x)

    def give_way(self, c: Floats, place: Ints) -> tuple[Floats, Floats, Floats]:
        """Return the gain and a' (...) of coefficients (..., 3) at steps (...), and them, changed
        where a state would be forgotten."""
        a, b, _ = self.steps.kernel[:, place]
        gain = c[..., 1] + c[..., 2]
        carry = a + b * gain
        low = carry < _LEAST
        if low.any():
            give = np.divide(_LEAST - a, b, out=np.zeros_like(a), where=b != 0)
            c = np.where(low[..., None], np.stack((0.0 * give, 0.0 * give, give), axis=-1), c)
            gain, carry = c[..., 1] + c[..., 2], np.where(low, _LEAST, carry)
        return gain, carry, c

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
        ref = references(self.steps, tree, start)
        at = tuple(torch.from_numpy(index).to(x.device) for index in np.nonzero(seen))
        f_o = ref.f_o.expand(x.shape)
        parts = (f - f_o, ref.f_b - f_o, x - ref.x_o, x - ref.x_bar)
        vectors = torch.stack([part[at].to(torch.float64) for part in parts], dim=1)
        gram = torch.bmm(vectors, vectors.transpose(1, 2)).cpu().numpy()
        return (ref.place[seen], ref.beyond[seen], ref.kind[seen]), gram


def _products(tree: Tree, carry: Floats) -> tuple[Floats, Floats]:
    """Return the products of the factors above each node (B, T, 1) and their ratios (B, T, T-1)."""
    logs = np.log(carry[:, tree.parent[1:]]) @ tree.ancestor[:, 1:].T.astype(np.float64)
    ratio = np.where(tree.ancestor[:, 1:], logs[:, :, None] - logs[:, None, 1:], -np.inf)
    return np.exp(logs)[..., None], np.exp(ratio)
