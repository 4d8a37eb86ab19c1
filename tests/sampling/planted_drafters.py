"""Drafters with a bug: guesses that know something of noises no decision has looked at (chains)."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.chain.steps import Steps
from redraft.draft import Calibration, Frontier, Recycled, Swept
from redraft.draft.drafter import Draft, Drawer
from redraft.draft.gain import GainDraft
from redraft.tree.tree import Tree

Ints = NDArray[np.int64]


class RecallsTheNextNode(Recycled):
    """Off by one: a node's guess is the old prediction of its child."""

    def recall(self, tree: Tree, stop: Ints, base: Ints, limit: Ints) -> Ints:
        return np.minimum(base[:, None] + np.arange(len(tree)) + 1, limit[:, None])


class RecallsPaddedRows(Recycled):
    """Past the end, rows are stored under the last noisy step, whose outcome they have seen."""

    def recall(self, tree: Tree, stop: Ints, base: Ints, limit: Ints) -> Ints:
        nodes = np.minimum(base[:, None] + np.arange(len(tree)), limit[:, None])
        last = (nodes == limit[:, None] - 1) & (limit[:, None] < tree.height)
        return np.where(last, limit[:, None], nodes)


class SweepsTheNextNode(Swept):
    """Off by one in a sweep: a node's guess is what was predicted at its child."""

    def prepare(self, steps: Steps, tree: Tree, device: torch.device) -> Drawer:
        draw = super().prepare(steps, tree, device)

        def shifted(frontier: Frontier) -> Draft:
            memory = frontier.memory
            if memory is None:
                return draw(frontier)
            below = torch.cat((memory.f[:, 1:], memory.f[:, -1:]), dim=1)
            return draw(frontier._replace(memory=memory._replace(f=below)))

        return shifted


class Bent(Recycled):
    """Recycled guesses plus a term; subclasses say which.

    Attributes:
        gain: Size of the term; 1 moves a draft's mean by one standard deviation.
    """

    gain = 1.0

    def term(self, frontier: Frontier) -> Tensor:
        """Return what is added to the guesses (B, T, D), in standard deviations."""
        raise NotImplementedError

    def prepare(self, steps: Steps, tree: Tree, device: torch.device) -> Drawer:
        draw = super().prepare(steps, tree, device)
        unit = torch.from_numpy(np.where(steps.std > 0, steps.std / steps.b, 0.0))

        def bent(frontier: Frontier) -> Draft:
            memory, depth = frontier.memory, frontier.tree.depth
            if memory is None:
                return draw(frontier)
            place = np.minimum(frontier.step[:, None] + depth, steps.total - 1)
            scale = self.gain * unit[torch.from_numpy(place)].unsqueeze(-1).to(memory.f)
            f = memory.f[:, : len(depth)] + scale * self.term(frontier).to(scale)
            return draw(frontier._replace(memory=memory._replace(f=f)))

        return bent


class PeeksAtOutgoingNoise(Bent):
    """The guess leans towards the noise that is about to be added."""

    gain = 0.3

    def term(self, frontier: Frontier) -> Tensor:
        return frontier.noise[:, : len(frontier.tree)]


class GainPeeksAtLiveNoise(Recycled):
    """An innovation gain whose sign is fitted on the noise that is about to be added (chains)."""

    def __init__(self) -> None:
        super().__init__()
        self.keeps_state = True

    def prepare(self, steps: Steps, tree: Tree, device: torch.device) -> Drawer:
        return PeekingGain(steps, Calibration(steps.total))


class PeekingGain(GainDraft):
    """The draft of `GainPeeksAtLiveNoise`."""

    sign: NDArray[np.float64]

    def __call__(self, frontier: Frontier) -> Draft:
        z = frontier.noise[:, : len(frontier.tree)]
        agree = (z[:, :-1] * z[:, 1:]).sum(-1).sign().numpy()
        self.sign = np.concatenate((np.zeros((len(agree), 1)), agree), axis=1)
        return super().__call__(frontier)

    def give_way(self, c: Any, place: Ints) -> Any:
        c = c.copy()
        c[..., 2] = 0.3 * self.sign
        return super().give_way(c, place)


class FitsOnLiveNoise(Bent):
    """A correction per step, fitted on the live noises of *another* sample (its partner).

    No sample sees its own noise. But the partner's innovations contain the correction that was
    fitted on this sample's live noise one round before, so that it comes back after two rounds.
    """

    gain = 0.6

    def __init__(self, num: int, steps: int, dim: int) -> None:
        super().__init__()
        self.innovation = torch.zeros(num, steps, dim, dtype=torch.float64)

    def term(self, frontier: Frontier) -> Tensor:
        owner = cast(partial, frontier.call).args[0]
        place = frontier.step[:, None] + frontier.tree.depth
        fitted = self.innovation[(owner ^ 1)[:, None], place]
        self.innovation[owner[:, None], place] = self.live(frontier) + self.gain * fitted
        return fitted

    def live(self, frontier: Frontier) -> Tensor:
        """Return what a sample contributes to the fit of its partner."""
        return frontier.noise[:, : len(frontier.tree)]


class FitsOnRoots(FitsOnLiveNoise):
    """Not a bug: the same correction, fitted on committed states, which are not live."""

    def live(self, frontier: Frontier) -> Tensor:
        return frontier.root.unsqueeze(1).clamp(-1.0, 1.0).double()
