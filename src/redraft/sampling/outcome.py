r"""The state after the committed path: how its noise differs from a drafted one.

In one formula for recovered and bonus states,

.. math:: x' = a x + b f + \mathrm{std}\,(z + \kappa e), \qquad
          \kappa = \zeta' - \zeta - \delta \text{ (recovered)}, \; 0 \text{ (bonus)},

with z the noise of the kept rejected child, of which only the part along, :math:`\zeta`, is
replaced by :math:`\zeta'` from the law of `Verifier.recover`, or for a bonus the noise that the
node's first child would have had. The kept child is the one whose :math:`\zeta` is nearest to the
new one: the parts across of all rejected children are exchangeable, because decisions look at none
of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from redraft.coupling import GaussianPair
from redraft.coupling.verifier import Verdict
from redraft.sampling import noise as keyed
from redraft.sampling.lone import at
from redraft.sampling.moments import Moments
from redraft.sampling.state import Ints, Plan, State

if TYPE_CHECKING:
    from redraft.sampling.sampler import Sampler

__all__ = ["Outcome", "follow", "outcome"]

Floats = NDArray[np.float64]


class Outcome(NamedTuple):
    """What a round decides, per sample.

    Attributes:
        stop: (B,) last node of the committed path.
        kept: (B,) rejected child that the recovered state replaces; 0 if there is none (a bonus).
        slot: (B,) where among the noises of the round that of the state after the path is, S for
            the fresh one.
        fresh: (B, D) float64 noise for a bonus; None if there is none, or it is among those of the
            round.
        kappa: (B,) change of the part along.
        zeta: (B,) part along of the kept child's noise; of no meaning for a bonus.
    """

    stop: Ints
    kept: Ints
    slot: Ints
    fresh: Tensor | None
    kappa: Floats
    zeta: Floats


def outcome(sampler: Sampler, state: State, plan: Plan, verdict: Verdict, seen: Moments) -> Outcome:
    """Draw the part along of recovered states, choose the kept child, find the noise."""
    tree, stop = plan.tree, verdict.stop
    if tree.width <= 1:
        recovered = stop < plan.depth_limit
        zeta = at(seen.zeta, stop)
        change = -2.0 * zeta
        if not sampler.verifier.reflects:
            delta = at(seen.delta, stop)
            change = _along(sampler, state, plan, verdict, delta) - zeta - delta
        return Outcome(
            stop, (stop + 1) * recovered, stop, None, np.where(recovered, change, 0.0), zeta
        )
    bonus = (tree.depth[stop] == plan.depth_limit) | (tree.child[stop, 0] < 0)
    delta = at(seen.delta, stop)
    along = _along(sampler, state, plan, verdict, delta)
    kept = np.where(bonus, 0, _nearest(plan, stop, along, seen))
    zeta = at(seen.zeta, np.maximum(kept - 1, 0))
    kappa = np.where(bonus, 0.0, along - zeta - delta)
    slot = np.where(bonus, plan.noise.shape[1], kept - 1)
    fresh = _fresh(sampler, state, plan, stop) if bonus.any() else None
    return Outcome(stop, kept, slot, fresh, kappa, zeta)


def follow(sampler: Sampler, plan: Plan, seen: Moments, result: Outcome) -> Tensor:
    """Return the states (B, D) after the committed paths: the formula of this module.

    Args:
        sampler: The parts.
        plan: The round.
        seen: The pairs; all finite.
        result: What was decided.
    """
    stop, steps = result.stop, sampler.steps
    a, b, std = steps.kernel[:, at(plan.place, stop)]
    push = std * result.kappa * at(seen.sign, stop)
    return seen.vectors.step(stop, result.slot, (b, a, push, std), result.fresh)


def _along(sampler: Sampler, state: State, plan: Plan, verdict: Verdict, delta: Floats) -> Floats:
    """Draw the part along of the recovered states from what is missing of the target's law."""
    tree, stop = plan.tree, verdict.stop
    depth = tree.depth[stop]
    count = np.where(depth < plan.depth_limit, (tree.child[stop] >= 0).sum(axis=-1), 0)
    serial = at(plan.drawn, depth)
    keys = sampler.keys[keyed.RESIDUAL][state.owner]
    uniform = keyed.uniform(keys, state.step + depth, serial)
    return sampler.verifier.recover(GaussianPair(delta), verdict, count, uniform)


def _nearest(plan: Plan, stop: Ints, along: Floats, seen: Moments) -> Ints:
    """Return the rejected child whose part along is nearest to the recovered one's."""
    child = plan.tree.child[stop]
    zeta = np.take_along_axis(seen.zeta, np.maximum(child - 1, 0), axis=1)
    distance = np.where(child >= 0, np.abs(zeta - along[:, None]), np.inf)
    return np.take_along_axis(child, distance.argmin(axis=1)[:, None], axis=1)[:, 0]


def _fresh(sampler: Sampler, state: State, plan: Plan, stop: Ints) -> Tensor:
    """Return the noise (B, D) that the first child of each stop would have had."""
    depth = plan.tree.depth[stop]
    serial = at(plan.drawn, depth)
    keys = sampler.keys[keyed.DRAFT][state.owner]
    return keyed.normal(keys, state.step + depth, serial, sampler.dim, sampler.device)
