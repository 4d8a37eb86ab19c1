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
from redraft.draft.reference import drift

if TYPE_CHECKING:
    from redraft.draft.gain import GainDraft

__all__ = ["ChainGain"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class ChainGain:
    """Factors of drafts of a whole chain of T rows, from tables of NumPy.

    Args:
        draw: The drafter.
        size: T.
    """

    def __init__(self, draw: GainDraft, size: int) -> None:
        steps, total = draw.steps, draw.steps.total
        self._size, self._node = size, np.arange(size)
        last = np.repeat(steps.kernel[1:, -1:], size, axis=1)
        padded = np.concatenate((steps.kernel[1:], last), axis=1)
        self._kernel = sliding_window_view(padded, size, axis=1).transpose(1, 0, 2)  # b and std
        self._below = np.where(np.tri(size, size - 1, -1) > 0, 0.0, -np.inf)
        start = np.arange(total)[:, None]
        carry, pull = drift(steps, size + 1)
        self._carry, self._pull = carry[:, :size], pull[:, :size]
        one, none = np.ones((total, size)), np.zeros((total, size))
        gain, kept, phi, xi, c1, c3 = _columns(draw, start + self._node, 0, self._node, one, none)
        self._own = np.stack((gain, kept, phi, xi, c1 - c3 * self._pull, -c3 * self._carry), axis=1)
        ahead = self._node + 1
        there = carry[:, 1 : size + 1], pull[:, 1 : size + 1]
        self._beyond = np.stack(_columns(draw, start + ahead, 1, ahead, *there), axis=1)

    def factors(self, n: int, own: int) -> tuple[Floats, Floats]:
        """Return the factors of drafted states and guesses, each (T, 1 + 2 T + T - 1).

        Columns: the committed state, T predictions, T states of theirs, T - 1 noises.

        Args:
            n: Step of the root.
            own: Nodes that have a prediction of their own, less than T; those beyond have the last
                one's.
        """
        size, node, (b, std) = self._size, self._node, self._kernel[n]
        beyond = self._beyond[n + own - 1, :, : size - own].copy()
        c3 = beyond[5]
        beyond[4] -= c3 * self._pull[n, own:]
        beyond[5] = -c3 * self._carry[n, own:]
        gain, kept, phi, xi, beta, rho = np.concatenate((self._own[n, :, :own], beyond), axis=1)
        logs = np.zeros(size)
        np.add.accumulate(kept[:-1], out=logs[1:])
        share = np.exp(logs[:, None] - logs[1:] + self._below)
        pull = share * b[:-1]
        x = np.empty((size, 3 * size))
        x[:, 0] = np.exp(logs) + pull @ rho[:-1]
        np.multiply(pull, phi[:-1], out=x[:, 1:size])
        x[:, 1] += pull @ beta[:-1]
        np.multiply(pull, xi[:-1], out=x[:, 1 + size : 2 * size])
        x[:, size] = x[:, 2 * size] = 0.0  # nothing leads on from the leaf
        np.multiply(share, std[:-1], out=x[:, 1 + 2 * size :])
        g = gain[:, None] * x
        g[:, 0] += rho
        g[:, 1] += beta
        g[node, 1 + node] += phi
        g[node, 1 + size + node] += xi
        return x, g


def _columns(
    draw: GainDraft, place: Ints, flag: int, ahead: Ints, carry: Floats, pull: Floats
) -> tuple[Floats, ...]:
    """Return the gain, log a', phi, xi, c_1 and c_3 (N, T) of nodes at ``place``."""
    place = np.minimum(place, draw.steps.total - 1)
    c = draw.coefficients[draw.bins[place], flag, classes(ahead)]
    gain, kept, c = draw.give_way(c, place)
    c1, c2, c3 = c[..., 0], c[..., 1], c[..., 2]
    return gain, np.log(kept), 1.0 - c1 - c2 * pull, -c2 * carry, c1, c3
