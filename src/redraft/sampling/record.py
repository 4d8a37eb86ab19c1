"""What a round reports: counts always; committed states and their log-densities on request."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.sampling.state import Info, Ints, Plan, State

if TYPE_CHECKING:
    from redraft.sampling.commit import Moments, Outcome
    from redraft.sampling.sampler import Sampler

__all__ = ["Recorder"]


class Recorder(NamedTuple):
    """What to record of a round beyond counts.

    Attributes:
        states: Whether committed states are recorded.
        log_prob: Whether their log-densities under the target are.
    """

    states: bool = False
    log_prob: bool = False

    def info(
        self,
        sampler: Sampler,
        state: State,
        plan: Plan,
        moments: Moments,
        outcome: Outcome,
        x: Tensor,
    ) -> Info:
        """Return what the round did; ``x`` (B, D) are the states after the committed paths."""
        depth = plan.tree.depth[outcome.stop]
        done = plan.verify
        limit = np.where(done, plan.limit, -1)
        levels = np.arange(1, sampler.tree.height + 1)
        tried = ((depth[:, None] >= levels - 1) & (limit[:, None] >= levels)).sum(axis=0)
        accepted = ((depth[:, None] >= levels) & done[:, None]).sum(axis=0)
        recovered = int((outcome.kept > 0).sum())
        states, log_prob = None, None
        if self.states:
            states = _path_states(sampler, plan, outcome, x)
        if self.log_prob:
            log_prob = _path_log_prob(sampler, state, plan, moments, outcome)
        return Info(
            owner=state.owner,
            step=state.step,
            num_committed=np.where(done, depth + 1, 0),
            num_drafts=int((plan.exists.sum(axis=1) - 1)[done].sum()),
            num_draft_rows=int(plan.evaluated.sum()),
            num_draft_calls=plan.draft.calls,
            num_accepted=int(depth[done].sum()),
            num_recovered=recovered,
            num_bonus=int(done.sum()) - recovered,
            tried_per_depth=tried,
            accepted_per_depth=accepted,
            delta_per_depth=_delta_per_depth(plan, moments, outcome.stop, levels),
            states=states,
            log_prob=log_prob,
        )


def _delta_per_depth(plan: Plan, moments: Moments, stop: Ints, levels: Ints) -> NDArray[np.float64]:
    """Return the mean distance of the pairs that decided on each depth."""
    sample, node = np.nonzero(plan.tree.ancestor[stop])
    depth = plan.tree.depth[node]
    decides = depth < plan.limit[sample]
    sample, node, depth = sample[decides], node[decides], depth[decides]
    count = np.bincount(depth, minlength=len(levels))
    total = np.bincount(depth, moments.delta.numpy()[sample, node], minlength=len(levels))
    return np.divide(total, count, out=np.full(len(levels), np.nan), where=count > 0)


def _path_nodes(plan: Plan, stop: Ints) -> Ints:
    """Return the nodes (B, H) of the paths at depth 1..H, 0 past their ends."""
    tree = plan.tree
    nodes = np.zeros((len(stop), tree.height), dtype=np.int64)
    sample, node = np.nonzero(tree.ancestor[stop])
    below = node > 0
    nodes[sample[below], tree.depth[node[below]] - 1] = node[below]
    return nodes


def _path_states(sampler: Sampler, plan: Plan, outcome: Outcome, x: Tensor) -> Tensor:
    """Return committed states (B, H + 1, D): accepted drafts, then the state after the path."""
    nodes = torch.from_numpy(_path_nodes(plan, outcome.stop)).to(x.device)
    sample = torch.arange(len(nodes), device=x.device)
    states = torch.cat((plan.draft.x[sample[:, None], nodes], x.unsqueeze(1)), dim=1)
    states[sample, torch.from_numpy(plan.tree.depth[outcome.stop]).to(x.device)] = x
    return states


def _path_log_prob(
    sampler: Sampler, state: State, plan: Plan, moments: Moments, outcome: Outcome
) -> NDArray[np.float64]:
    r"""Return log Q of the committed states (B, H + 1).

    An accepted y = m_P + std z lies at z - delta e from the target's mean, so its squared distance
    is :math:`\|z\|^2 - 2 \delta \zeta + \delta^2`; the last state's is :math:`\|z\|^2 + 2 \kappa
    \zeta + \kappa^2`.
    """
    tree, steps = plan.tree, sampler.steps
    square = np.zeros(plan.exists.shape)
    square[:, 1:] = _square(plan.noise)
    zeta, delta = moments.zeta.numpy(), moments.delta.numpy()
    batch = np.arange(len(outcome.stop))
    above = np.maximum(tree.parent, 0)
    drafted = square - 2.0 * delta[:, above] * zeta + delta[:, above] ** 2
    nodes = _path_nodes(plan, outcome.stop)
    distance = np.concatenate((np.take_along_axis(drafted, nodes, axis=1), drafted[:, :1]), axis=1)
    kappa = outcome.kappa.numpy()
    last = _square(outcome.noise) + 2.0 * kappa * zeta[batch, outcome.kept] + kappa**2
    distance[batch, tree.depth[outcome.stop]] = last
    place = np.minimum(state.step[:, None] + np.arange(distance.shape[1]), steps.total - 1)
    std = steps.std[place]
    noisy = std > 0
    spread = np.log(np.where(noisy, std, 1.0)) + 0.5 * math.log(2.0 * math.pi)
    return np.where(noisy, -0.5 * distance - sampler.dim * spread, 0.0)


def _square(noise: Tensor) -> NDArray[np.float64]:
    return noise.to(torch.float64).square().sum(-1).cpu().numpy()
