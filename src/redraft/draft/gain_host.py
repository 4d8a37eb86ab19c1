r"""The draft of `redraft.draft.gain` for one sample on a chain, as two small products.

With the symbols of that module, a draft is linear in the committed state, the remembered
predictions and states, and the noises. Written out,

.. math::
    r_j = \rho_j x_{root} + \phi_j f_{o,j} + \beta_j f_b + \xi_j x_{o,j}, \qquad
    \phi = 1 - c_1 - c_2 B_e,\; \xi = -c_2 A_e,\; \beta = c_1 - c_3 B_j,\; \rho = -c_3 A_j,

where A and B carry a state on without noise, by e steps from the last one remembered or by j steps
from the root. So the factors follow from the step of the root and from how many nodes have
predictions of their own, by a few operations on T x T numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from redraft.draft.calibration import classes

if TYPE_CHECKING:
    from redraft.draft.gain import GainDraft

__all__ = ["ChainGain"]

Floats = NDArray[np.float64]


class ChainGain:
    """Factors of drafts of a whole chain of T rows, from tables of NumPy.

    Args:
        draw: The drafter's tables.
        size: T.
    """

    def __init__(self, draw: GainDraft, size: int) -> None:
        steps, total = draw.steps, draw.steps.total
        self._size, self._least = size, draw.least
        node = np.arange(size)
        last = np.repeat(steps.kernel[:, -1:], size, axis=1)
        padded = np.concatenate((steps.kernel, last), axis=1)
        self._kernel = sliding_window_view(padded, size, axis=1).transpose(1, 0, 2)
        self._drift = np.stack(draw.drift(size + 1))
        self._coefficients, self._bins = draw.coefficients, draw.bins
        self._place = np.minimum(np.arange(total)[:, None] + node, total - 1)
        # by how many nodes have a prediction of their own, 0..T
        self._beyond = np.maximum(node - np.arange(size + 1)[:, None] + 1, 0)
        self._kind = classes(np.where(self._beyond > 0, self._beyond, node))
        self._flag = (self._beyond > 0).astype(np.int64)
        self._below = np.tril(np.ones((size, size - 1)), -1)
        self._node = node

    def factors(self, n: int, own: int) -> tuple[Floats, Floats]:
        """Return the factors of drafted states and guesses, each (T, 1 + 2 T + T - 1).

        Columns: the committed state, T predictions, T states of theirs, T - 1 noises.

        Args:
            n: Step of the root.
            own: Nodes that have a prediction of their own; those beyond have the last one's.
        """
        size, beyond, node = self._size, self._beyond[own], self._node
        a, b, std = self._kernel[n]
        c1, c2, c3 = self._coefficients[
            self._bins[self._place[n]], self._flag[own], self._kind[own]
        ].T
        carry_e, pull_e = self._drift[:, max(n + own - 1, 0), beyond]
        carry_j, pull_j = self._drift[:, n, :size]
        gain = c2 + c3
        carry = a + b * gain
        if carry.min() < self._least:
            low = carry < self._least
            give = np.divide(self._least - a, b, out=np.zeros_like(a), where=b != 0)
            c1, c2, c3 = np.where(low, 0.0, c1), np.where(low, 0.0, c2), np.where(low, give, c3)
            gain, carry = c2 + c3, np.where(low, self._least, carry)
        phi, xi = 1.0 - c1 - c2 * pull_e, -c2 * carry_e
        beta, rho = c1 - c3 * pull_j, -c3 * carry_j
        product = np.ones(size)
        np.cumprod(carry[:-1], out=product[1:])
        share = self._below * (product[:, None] / product[1:])
        pull = share * b[:-1]
        x = np.empty((size, 3 * size))
        x[:, 0] = product + pull @ rho[:-1]
        np.multiply(pull, phi[:-1], out=x[:, 1:size])
        x[:, size] = 0.0
        x[:, 1] += pull @ beta[:-1]
        np.multiply(pull, xi[:-1], out=x[:, 1 + size : 2 * size])
        x[:, 2 * size] = 0.0
        np.multiply(share, std[:-1], out=x[:, 1 + 2 * size :])
        g = gain[:, None] * x
        g[:, 0] += rho
        g[:, 1] += beta
        g[node, 1 + node] += phi
        g[node, 1 + size + node] += xi
        return x, g
