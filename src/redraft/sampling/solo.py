r"""A sample on its own, on a chain, in this process's memory: the same round in fewer calls.

How long one sample takes is what people wait for, and with a fast model a good part of it would be
the fifty small calls of a round that is written for any number of samples, any tree and any device.
Here is the one case that matters most, written out: one sample, recycled noises on a chain, greedy
with recovery by reflection. For every node, in the symbols of `redraft.sampling.moments`,

.. math::
    \delta = \frac{|b|}{\mathrm{std}} \|f - g\|, \quad
    \zeta = \frac{\langle f - g, z \rangle}{\|f - g\|}, \quad
    \text{accept if } u < \min(1, e^{\delta (\zeta - \delta / 2)}),

and the state after the path is :math:`a x + b f + \mathrm{std}\,(z - 2 \zeta e)`, or without the
last term after the leaf.

Nothing here is a rule of its own: the general round gives the same bits (a test compares them), it
begins and ends every run, and it takes over whenever something is out of the ordinary.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.coupling import Greedy, Reflection
from redraft.draft.drafter import Draft, Memory
from redraft.draft.gain import GainDraft
from redraft.draft.linear import LinearDraft
from redraft.draft.product import SMALL
from redraft.sampling.arguments import check_prediction
from redraft.sampling.info import Info
from redraft.sampling.lone import finite
from redraft.sampling.moments import TINY
from redraft.sampling.state import Plan, Rows, State, every_node, everyone

if TYPE_CHECKING:
    from redraft.sampling.sampler import Sampler

__all__ = ["Solo", "solo"]

Floats = NDArray[Any]
_Drafted = tuple[Floats, Tensor]


def solo(sampler: Sampler) -> Solo | None:
    """Return the short way for a run of one sample; None if it has none."""
    draw, size = sampler.draw, len(sampler.tree)
    columns = 2 * size + 1 if isinstance(draw, LinearDraft) else 3 * size
    fits = (
        sampler.num == 1
        and sampler.device.type == "cpu"
        and sampler.dtype == sampler.state_dtype
        and sampler.looks_ahead
        and sampler.tree.width == 1
        and type(sampler.verifier) in (Greedy, Reflection)
        and size * columns * sampler.dim <= SMALL
        and not any(sampler.record)
    )
    if fits and isinstance(draw, GainDraft):
        return SoloGain(sampler, draw)
    if fits and isinstance(draw, LinearDraft) and draw.freeze == "x0" and draw.keeps_table:
        return SoloPlain(sampler, draw)
    return None


class Solo(ABC):
    """Rounds of a run of one sample, over a whole chain; tables as NumPy sees them."""

    def __init__(self, sampler: Sampler) -> None:
        self.sampler, self.tree, self.size = sampler, sampler.tree, len(sampler.tree)
        self.windows, self.kernel = sampler.windows, sampler.steps.kernel.T
        self.last = sampler.steps.total - self.size
        self.nodes, self.one = every_node(1, self.size), everyone(1)
        self.none = ~self.one

    def plan(self, state: State) -> Rows | None:
        """Return the rows of the next round; None where the general way is needed."""
        sampler, size, n = self.sampler, self.size, int(state.step[0])
        block, memory = state.lookahead, state.memory
        if block is None or memory is None or sampler.reach[n] < size - 1:
            return None
        first = n - int(block.first[0])
        if first + size >= block.coin.shape[1]:
            return None
        z = block.normal.numpy()[:, first : first + size]
        drafted = self._draft(n, state.x, memory, z)
        if drafted is None:
            return None
        x, guess = drafted
        place, limit = self.windows.place.view[n : n + 1], sampler.reach[n : n + 1]
        laid_out = Plan(
            self.tree,
            state.step,
            limit,
            limit,
            place,
            self.nodes,
            self.nodes,
            True,
            self.one,
            state.attempt,
            state.drawn,
            torch.from_numpy(z),
            block.coin[:, first : first + size],
            Draft(torch.from_numpy(x), guess),
            block,
        )
        states = torch.from_numpy(x.astype(sampler.level.dtype).reshape(size, *sampler.shape))
        level = torch.from_numpy(sampler.level[n : n + size].copy())  # a model may write to it
        owner = state.owner.repeat(size)
        cond = sampler.condition(owner) if sampler.cond else {}
        return Rows(states, level, place[0], owner, cond, laid_out)

    @abstractmethod
    def _draft(self, n: int, root: Tensor, memory: Memory, z: Floats) -> _Drafted | None:
        """Return drafted states (1, T, D) and guesses (1, T, D); None if the general way must."""

    @abstractmethod
    def _remember(self, n: int, node: int, found: Floats, drafted: Floats) -> Memory:
        """Return what is remembered of predictions and drafted states from ``node`` on."""

    def commit(self, state: State, rows: Rows, f: Tensor) -> tuple[State, Info] | None:
        """Return the next state and what happened; None where the general way is needed."""
        p, size, n = rows.plan, self.size, int(state.step[0])
        if p is None or p.tree is not self.tree:
            return None
        f = check_prediction(f, rows.x)
        if f.dtype != self.sampler.state_dtype or f.requires_grad or f.device.type != "cpu":
            return None
        found, z = f.numpy().reshape(1, size, -1), p.noise.numpy()
        gap = (found - p.draft.guess.numpy()).astype(np.float64)
        norm = np.sqrt(np.vecdot(gap, gap))
        if not finite(norm):
            return None
        sign = self.windows.sign.view[n : n + 1] / np.maximum(norm, TINY)
        zeta, delta = np.vecdot(gap, z) * sign, norm * self.windows.pull.view[n : n + 1]
        chance = np.exp(np.minimum(delta * (zeta - 0.5 * delta), 0.0))
        rejected = (p.coin[0, 1:] >= chance[0, :-1]).nonzero()[0]
        stop = int(rejected[0]) if len(rejected) else size - 1
        recovered = stop < size - 1
        if n + stop + 1 > self.last + size - 1:
            return None
        kappa = -2.0 * zeta.item(stop) if recovered else 0.0
        a, b, std = self.kernel[n + stop]  # float64, so that the sums are
        drafted = p.draft.x.numpy()
        x = a * drafted[0, stop]
        x += b * found[0, stop]
        x += (std * kappa * sign.item(stop)) * gap[0, stop]
        x += std * z[0, stop]
        moved = State(
            state.owner,
            state.step + (stop + 1),
            torch.from_numpy(x.astype(found.dtype)[None]),
            state.attempt,
            state.drawn,
            self._remember(n, stop + recovered, found, drafted),
            self.one,
            p.lookahead,
            state.samples,
            state.calls + 1,
            state.rows + size,
        )
        depth, fixed = state.step + (stop - n), self.one if recovered else self.none
        height = size - 1
        return moved, Info(state.owner, state.step, depth, p.limit, fixed, height, height, size, 0)


class SoloPlain(Solo):
    """With the remembered predictions as they are; see `redraft.draft.linear`."""

    def __init__(self, sampler: Sampler, draw: LinearDraft) -> None:
        super().__init__(sampler)
        self.factors = draw.host_table()

    def _draft(self, n: int, root: Tensor, memory: Memory, z: Floats) -> _Drafted | None:
        parts = np.concatenate((root.numpy()[:, None], memory.f.numpy(), z), axis=1)
        return np.matmul(self.factors[n : n + 1], parts), memory.f

    def _remember(self, n: int, node: int, found: Floats, drafted: Floats) -> Memory:
        return Memory(torch.from_numpy(_below(found, node)), None, None)


class SoloGain(Solo):
    """With calibrated corrections; see `redraft.draft.gain`."""

    def __init__(self, sampler: Sampler, draw: GainDraft) -> None:
        super().__init__(sampler)
        self.chain = draw.chain(self.size)
        self.steps = np.arange(sampler.steps.total + 1)

    def _draft(self, n: int, root: Tensor, memory: Memory, z: Floats) -> _Drafted | None:
        assert memory.x is not None and memory.step is not None
        own = int(memory.step[0, -1]) - n + 1
        if not (memory.step[0] == np.minimum(self.steps[n : n + self.size], n + own - 1)).all():
            return None  # a prediction that was not finite has left a hole
        of_x, of_g = self.chain.factors(n, own)
        parts = np.concatenate(
            (root.numpy(), memory.f.numpy()[0], memory.x.numpy()[0], z[0, : self.size - 1])
        )
        return (of_x @ parts)[None], torch.from_numpy((of_g @ parts)[None])

    def _remember(self, n: int, node: int, found: Floats, drafted: Floats) -> Memory:
        f, x = torch.from_numpy(_below(found, node)), torch.from_numpy(_below(drafted, node))
        last = n + self.size - 1
        return Memory(f, x, _below(self.steps[None, n : last + 1], node))


def _below(values: NDArray[Any], node: int) -> NDArray[Any]:
    """Return the entries from ``node`` on, (1, T, D), the last one repeated."""
    below = np.empty_like(values)
    kept = values.shape[1] - node
    below[:, :kept] = values[:, node:]
    below[:, kept:] = values[:, -1:]
    return below
