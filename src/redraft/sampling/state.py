"""What a run is made of: its state between rounds, and the rows of a round."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from redraft.draft.drafter import Draft, Memory
from redraft.sampling.lookahead import Lookahead
from redraft.tree.tree import Tree

__all__ = ["Plan", "Rows", "State", "every_node", "everyone"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@lru_cache(maxsize=256)
def everyone(batch: int) -> Bools:
    """Return (batch,) True, read-only."""
    flags = np.ones(batch, dtype=bool)
    flags.flags.writeable = False
    return flags


@lru_cache(maxsize=256)
def every_node(batch: int, nodes: int) -> Bools:
    """Return (batch, nodes) True, read-only."""
    flags = np.ones((batch, nodes), dtype=bool)
    flags.flags.writeable = False
    return flags


class State(NamedTuple):
    """Between two rounds. B samples are still running; D is the number of entries of one state.

    Integers live on the host, states on the device. Nothing in it is ever written to: a failed
    call can be repeated, an old state can be resumed.

    Attributes:
        owner: (B,) which sample of the run each row of this state is.
        step: (B,) step at which each committed state stands.
        x: (B, D) committed states, in the run's state dtype (never below float32).
        attempt: (B, T) serial number of the kept noise that leads to each node of the next tree,
            -1 where a fresh one will be drawn. Kept noises are **live**: no decision has looked
            at them (``docs/contract.md``).
        drawn: (B, H + 1) noises drawn so far for the step below depth 0..H.
        memory: Earlier predictions that serve as guesses; None before the first.
        ready: (B,) whether ``memory`` holds something for the sample.
        lookahead: Noises computed ahead of use.
        samples: (num, D) finished samples; rows of running ones are not yet meaningful.
        calls: (num,) target calls each sample has taken part in.
        rows: (num,) rows evaluated for each sample.
        swept: (B,) sweeps made since the last commit; None if the drafter makes none.
    """

    owner: Ints
    step: Ints
    x: Tensor
    attempt: Ints
    drawn: Ints
    memory: Memory | None
    ready: Bools
    lookahead: Lookahead | None
    samples: Tensor
    calls: Ints
    rows: Ints
    swept: Ints | None = None

    @property
    def done(self) -> bool:
        """Whether every sample is finished."""
        return len(self.owner) == 0


class Plan(NamedTuple):
    """What `commit` needs to know of the round that `plan` has laid out.

    Attributes:
        tree: Shape of the draft, cut to the deepest level that any sample needs.
        step: (B,) step of the roots.
        limit: (B,) depth of each sample's tree.
        depth_limit: (B,) the same, 0 where the round does not verify.
        place: (B, T) step of each node, at most the last one.
        exists: (B, T) nodes that exist.
        evaluated: (B, T) nodes that are rows of this round.
        full: Whether all of them are.
        verify: (B,) whether the round verifies, or only asks for predictions.
        attempt: (B, T) serial number of the noise that leads to each node.
        drawn: (B, H + 1) as in `State`, with this round's noises counted.
        noise: (B, T - 1, D) the float64 noises that lead to nodes 1..T-1; on a chain (B, T, D), the
            last one being the bonus of the leaf.
        coin: (B, T) float64 uniform of each node's decision.
        draft: Drafted states and guesses.
        lookahead: As in `State`.
    """

    tree: Tree
    step: Ints
    limit: Ints
    depth_limit: Ints
    place: Ints
    exists: Bools
    evaluated: Bools
    full: bool
    verify: Bools
    attempt: Ints
    drawn: Ints
    noise: Tensor
    coin: NDArray[np.float64]
    draft: Draft
    lookahead: Lookahead | None


@dataclass(frozen=True, eq=False)
class Rows:
    """The states at which the target is wanted; R of them, of any samples and steps.

    Attributes:
        x: (R, *shape) states in the model's dtype.
        level: (R,) what the model is told; float32, or float64 for float64 states.
        step: (R,) chain step, on the host.
        owner: (R,) which sample each row belongs to, on the host.
        cond: Conditioning of each row, each tensor (R, ...).
        plan: For `commit`; None in plain sampling.
    """

    x: Tensor
    level: Tensor
    step: Ints
    owner: Ints
    cond: dict[str, Tensor]
    plan: Plan | None

    def __len__(self) -> int:
        return len(self.x)
