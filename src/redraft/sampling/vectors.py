r"""The vectors of a round: what decisions need of them, and what is made of them.

Three things are wanted of predictions f, gaps :math:`f - g`, drafted states x and noises z:

- *sums*: :math:`\|f - g\|^2` at every node and :math:`\langle f - g, z \rangle` for the noise of
  each of its children; the state cancels, because draft and target mean differ by
  :math:`b (f - g)`. One transfer brings them to the host.
- *step*: :math:`c_f f_u + c_x x_u + c_g (f - g)_u + c_z z_v` at one node u and one noise v of each
  sample, the state after a committed path.
- *pick*: the predictions at some nodes, the next round's guesses.

All sums run in float64: sums of squares need it, and what a process may have switched on for its
model (autocast, TF32, bfloat16 products) leaves float64 alone. `HostVectors` works with NumPy,
whose calls cost least for small states, `DeviceVectors` with as few kernels as possible.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.draft.gather import pick
from redraft.draft.product import combine
from redraft.sampling.lone import at
from redraft.sampling.state import Bools, Ints, Plan
from redraft.tree.tree import Tree

__all__ = ["DeviceVectors", "HostVectors", "Vectors", "gather_vectors"]

Floats = NDArray[np.float64]


class Vectors(Protocol):
    """The vectors of a round, by node: B samples, T nodes, S noises, D entries."""

    def sums(self, tree: Tree) -> tuple[Floats, Floats]:
        """Return |f - g|^2 (B, T) and, for every noise, its product with f - g above it (B, S)."""
        ...

    def step(
        self, node: Ints, slot: Ints, factors: tuple[Floats, ...], fresh: Tensor | None
    ) -> Tensor:
        """Return the combination (B, D) of f, x, f - g at ``node`` (B,) and the noise at ``slot``.

        Args:
            node: (B,) node of each sample.
            slot: (B,) noise of each sample; S for its fresh one.
            factors: Four factors (B,), of f, x, f - g and the noise.
            fresh: (B, D) float64 noises that are not among those of the round; None if there are
                none.
        """
        ...

    def pick(self, nodes: Ints) -> Tensor:
        """Return the predictions (B, M, D) at nodes (B, M)."""
        ...

    def mask(self, good: Bools) -> None:
        """Blank the nodes that are not ``good`` (B, T)."""
        ...


def gather_vectors(plan: Plan, f: Tensor) -> Vectors:
    """Return the vectors of a round with predictions f (B, T, D), in the states' dtype."""
    return HostVectors(plan, f) if f.device.type == "cpu" else DeviceVectors(plan, f)


class HostVectors:
    """Vectors in this process's memory."""

    def __init__(self, plan: Plan, f: Tensor) -> None:
        self.f = f.numpy()
        self.x = plan.draft.x.numpy()
        self.z = plan.noise.numpy()
        self.gap = (self.f - plan.draft.guess.numpy()).astype(np.float64)

    def sums(self, tree: Tree) -> tuple[Floats, Floats]:
        """Return the sums; see `Vectors`."""
        gap = self.gap
        above = gap if tree.width <= 1 else gap[:, tree.parent[1:]]
        return np.vecdot(gap, gap), np.vecdot(above, self.z)

    def step(
        self, node: Ints, slot: Ints, factors: tuple[Floats, ...], fresh: Tensor | None
    ) -> Tensor:
        """Return the combination; see `Vectors`."""
        z = self.z
        if fresh is not None:
            z = np.concatenate((z, fresh.unsqueeze(1).numpy()), axis=1)
        of_f, of_x, of_gap, of_z = factors
        total = of_x[:, None] * at(self.x, node)
        total += of_f[:, None] * at(self.f, node)
        total += of_gap[:, None] * at(self.gap, node)
        total += of_z[:, None] * at(z, slot)
        return torch.from_numpy(total.astype(self.f.dtype))

    def pick(self, nodes: Ints) -> Tensor:
        """Return the predictions; see `Vectors`."""
        if len(nodes) == 1:
            return torch.from_numpy(self.f[:, nodes[0]])
        return torch.from_numpy(self.f[np.arange(len(nodes))[:, None], nodes])

    def mask(self, good: Bools) -> None:
        """Blank nodes; see `Vectors`."""
        self.f = np.where(good[..., None], self.f, self.f.dtype.type(0))
        self.gap = np.where(good[..., None], self.gap, 0.0)
        self.x = np.nan_to_num(self.x, nan=0.0, posinf=0.0, neginf=0.0)


class DeviceVectors:
    """Vectors on an accelerator, side by side in one float64 tensor: f, x, f - g, z."""

    def __init__(self, plan: Plan, f: Tensor) -> None:
        self.size, self.dtype = len(plan.tree), f.dtype
        self.columns = torch.cat((f, plan.draft.x, f - plan.draft.guess, plan.noise), dim=1)

    def sums(self, tree: Tree) -> tuple[Floats, Floats]:
        """Return the sums; see `Vectors`."""
        size = self.size
        gap = self.columns.narrow(1, 2 * size, size)
        if tree.width <= 1:
            two = self.columns.narrow(1, 2 * size, 2 * size).unflatten(1, (2, size))
            sums = (two * gap.unsqueeze(1)).sum(-1).cpu().numpy()
            return sums[:, 0], sums[:, 1]
        above = gap[:, torch.from_numpy(tree.parent[1:])]
        noise = self.columns.narrow(1, 3 * size, size - 1)
        sums = torch.cat(((gap * gap).sum(-1), (above * noise).sum(-1)), dim=1).cpu().numpy()
        return sums[:, :size], sums[:, size:]

    def step(
        self, node: Ints, slot: Ints, factors: tuple[Floats, ...], fresh: Tensor | None
    ) -> Tensor:
        """Return the combination; see `Vectors`."""
        columns = self.columns
        if fresh is not None:
            columns = torch.cat((columns, fresh.unsqueeze(1)), dim=1)
        batch, left = np.arange(len(node)), np.zeros((len(node), 1, columns.shape[1]))
        places: tuple[Any, ...] = (node, node + self.size, node + 2 * self.size)
        for place, factor in zip((*places, slot + 3 * self.size), factors, strict=True):
            left[batch, 0, place] = factor
        total = combine(torch.from_numpy(left).to(columns.device), columns)
        return total.select(1, 0).to(self.dtype)

    def pick(self, nodes: Ints) -> Tensor:
        """Return the predictions; see `Vectors`."""
        return pick(self.columns, nodes).to(self.dtype)

    def mask(self, good: Bools) -> None:
        """Blank nodes; see `Vectors`."""
        size = self.size
        keep = torch.ones(self.columns.shape[:2], dtype=torch.bool, device=self.columns.device)
        keep[:, :size] = keep[:, 2 * size : 3 * size] = torch.from_numpy(good).to(keep.device)
        zero = self.columns.new_zeros(())
        self.columns = torch.where(keep.unsqueeze(-1), self.columns, zero).nan_to_num(0.0, 0.0, 0.0)
