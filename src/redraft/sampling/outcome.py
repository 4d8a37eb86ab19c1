r"""The state after the committed path: how its noise differs from a drafted one.

In one formula for recovered and bonus states,

.. math:: x' = a x + b f + \mathrm{std}\,(z + \kappa e), \qquad
          \kappa = \zeta' - \zeta - \delta \text{ (recovered)}, \; 0 \text{ (bonus)},

with z the noise of the kept rejected child, of which only the part along, :math:`\zeta`, is
replaced by :math:`\zeta'` from the excess of the pair, or for a bonus the noise that the node's
first child would have had. The kept child is the one whose :math:`\zeta` is nearest to the new one:
the parts across of all rejected children are exchangeable, because decisions look at none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.coupling import GaussianPair
from redraft.coupling.verifier import Verdict
from redraft.sampling import noise
from redraft.sampling.gather import pick
from redraft.sampling.moments import Moments
from redraft.sampling.state import Ints, Plan, State

if TYPE_CHECKING:
    from redraft.sampling.sampler import Sampler

__all__ = ["Outcome", "outcome"]

Floats = NDArray[np.float64]


class Outcome(NamedTuple):
    """What a round decides, per sample.

    Attributes:
        stop: (B,) last node of the committed path.
        kept: (B,) rejected child that the recovered state replaces; 0 if there is none (a bonus).
        noise: (B, D) noise z of the state after the path.
        kappa: (B,) change of its part along.
        zeta: (B,) part along of the kept child's noise; 0 for a bonus.
    """

    stop: Ints
    kept: Ints
    noise: Tensor
    kappa: Floats
    zeta: Floats


def outcome(
    sampler: Sampler, state: State, plan: Plan, verdict: Verdict, moments: Moments
) -> Outcome:
    """Draw the part along of recovered states, choose the kept child, fetch the noise."""
    stop, batch = verdict.stop, np.arange(len(verdict.stop))
    child = plan.tree.child[stop, 0]
    bonus = (plan.tree.depth[stop] == plan.depth_limit) | (child < 0)
    kept = np.where(bonus, 0, child)
    if bonus.all():
        none = np.zeros(len(stop))
        return Outcome(stop, kept, _fresh(sampler, state, plan, stop), none, none)
    if sampler.verifier.reflects and plan.tree.width <= 1:
        zeta = moments.zeta[batch, kept]
        kappa = -2.0 * zeta
    else:
        delta = moments.delta[batch, stop]
        along = _along(sampler, state, plan, verdict, delta)
        kept = np.where(bonus, 0, _nearest(plan, stop, along, moments))
        zeta = moments.zeta[batch, kept]
        kappa = np.where(bonus, 0.0, along - zeta - delta)
    old = pick(plan.noise, np.maximum(kept - 1, 0))
    if bonus.any():
        swap = torch.from_numpy(bonus).to(old.device).unsqueeze(-1)
        old = torch.where(swap, _fresh(sampler, state, plan, stop), old)
    return Outcome(stop, kept, old, kappa, zeta)


def _along(sampler: Sampler, state: State, plan: Plan, verdict: Verdict, delta: Floats) -> Floats:
    """Draw the part along of recovered states from the excess of the pair at the stop."""
    depth = plan.tree.depth[verdict.stop]
    serial = plan.drawn[np.arange(len(depth)), depth]
    keys = sampler.keys[noise.RESIDUAL][state.owner]
    uniform = torch.from_numpy(noise.uniform(keys, state.step + depth, serial))
    pair = GaussianPair(torch.from_numpy(delta))
    return pair.sample_excess(verdict.rho, verdict.lam, uniform).numpy()


def _nearest(plan: Plan, stop: Ints, along: Floats, moments: Moments) -> Ints:
    """Return the rejected child whose part along is nearest to the recovered one's."""
    child = plan.tree.child[stop]
    zeta = np.take_along_axis(moments.zeta, np.maximum(child, 0), axis=1)
    distance = np.where(child >= 0, np.abs(zeta - along[:, None]), np.inf)
    return np.take_along_axis(child, distance.argmin(axis=1)[:, None], axis=1)[:, 0]


def _fresh(sampler: Sampler, state: State, plan: Plan, stop: Ints) -> Tensor:
    """Return the noise (B, D) that the first child of each stop would have had."""
    depth = plan.tree.depth[stop]
    step = state.step + depth
    if plan.lookahead is not None:
        return plan.lookahead.normals(step, 1)[:, 0]
    if not sampler.steps.std[step].any():
        return torch.zeros_like(state.x)  # zero-noise steps: nothing to draw
    serial = plan.drawn[np.arange(len(stop)), depth]
    keys = sampler.keys[noise.DRAFT][state.owner]
    return noise.normal(keys, step, serial, sampler.dim, sampler.device).to(sampler.state_dtype)
