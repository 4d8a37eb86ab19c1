"""What a round reports: counts always; committed states and their log-densities on request."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.draft.calibration import Evidence
from redraft.draft.gain import GainDraft
from redraft.draft.gather import pick
from redraft.draft.reference import Start
from redraft.sampling.info import Info
from redraft.sampling.lone import every
from redraft.sampling.moments import Moments
from redraft.sampling.outcome import Outcome
from redraft.sampling.state import Ints, Plan, State

if TYPE_CHECKING:
    from redraft.sampling.sampler import Sampler

__all__ = ["Recorder", "record"]


class Recorder(NamedTuple):
    """What to record of a round beyond counts.

    Attributes:
        states: Whether committed states are recorded.
        log_prob: Whether their log-densities under the target are.
        delta: Whether the distances at visited nodes are.
        evidence: Whether what calibrates a drafter is, if it has a calibration.
    """

    states: bool = False
    log_prob: bool = False
    delta: bool = False
    evidence: bool = False


def record(
    sampler: Sampler, state: State, plan: Plan, f: Tensor, seen: Moments, result: Outcome, x: Tensor
) -> Info:
    """Return what the round did.

    Args:
        sampler: The parts.
        state: State before the round.
        plan: The round.
        f: (B, T, D) predictions.
        seen: The pairs.
        result: What was decided.
        x: (B, D) states after the committed paths.
    """
    depth = plan.tree.depth[result.stop]
    wanted = sampler.record
    done = plan.verify
    everyone = plan.full or every(done)
    return Info(
        owner=state.owner,
        step=state.step,
        depth=depth if everyone else np.where(done, depth, -1),
        limit=plan.limit if everyone else np.where(done, plan.limit, -1),
        recovered=result.kept > 0,
        height=sampler.tree.height,
        num_drafts=plan.exists.size - len(done) if plan.full else _drafts(plan),
        num_draft_rows=plan.evaluated.size if plan.full else int(plan.evaluated.sum()),
        num_draft_calls=plan.draft.calls,
        path_delta=_path_delta(sampler, plan, seen, result) if wanted.delta else None,
        states=_path_states(sampler, plan, result, x) if wanted.states else None,
        log_prob=_path_log_prob(sampler, plan, seen, result) if wanted.log_prob else None,
        evidence=_evidence(sampler, state, plan, f, seen, result) if wanted.evidence else None,
    )


def _evidence(
    sampler: Sampler, state: State, plan: Plan, f: Tensor, seen: Moments, result: Outcome
) -> Evidence | None:
    """Return what the visited nodes teach (contract rule 3: no others)."""
    if not isinstance(sampler.draw, GainDraft) or state.memory is None or len(plan.tree) == 1:
        return None
    visited = sampler.verifier.visited(plan.tree, result.stop, plan.depth_limit) & plan.exists
    nodes = visited & f.isfinite().all(dim=-1).cpu().numpy()
    start = Start(state.step, state.x, state.memory)
    place, gram = sampler.draw.inner_products(plan.tree, start, plan.draft.x, f, nodes)
    weight = sampler.steps.pull[place[0]] ** 2 / np.sqrt(seen.delta[nodes] ** 2 + 0.2)
    depth = plan.tree.depth[result.stop]
    seeds = sampler.seeds[state.owner]
    ends = (state.step, depth, plan.depth_limit)
    return Evidence(*place, gram * weight[:, None, None], *ends, seeds)


def _drafts(plan: Plan) -> int:
    return int((plan.exists.sum(axis=1) - 1)[plan.verify].sum())


def _path_delta(
    sampler: Sampler, plan: Plan, seen: Moments, result: Outcome
) -> NDArray[np.float64]:
    """Return the distances (B, H + 1) of the visited pairs that decided on a child."""
    path = np.full((len(result.stop), sampler.tree.height + 1), np.nan)
    sample, node = np.nonzero(plan.tree.ancestor[result.stop])
    depth = plan.tree.depth[node]
    decides = depth < plan.depth_limit[sample]
    path[sample[decides], depth[decides]] = seen.delta[sample[decides], node[decides]]
    return path


def _path_nodes(plan: Plan, stop: Ints) -> Ints:
    """Return the nodes (B, H) of the paths at depth 1..H, 0 past their ends."""
    tree = plan.tree
    nodes = np.zeros((len(stop), tree.height), dtype=np.int64)
    sample, node = np.nonzero(tree.ancestor[stop])
    below = node > 0
    nodes[sample[below], tree.depth[node[below]] - 1] = node[below]
    return nodes


def _path_states(sampler: Sampler, plan: Plan, result: Outcome, x: Tensor) -> Tensor:
    """Return committed states (B, H + 1, D): accepted drafts, then the state after the path."""
    nodes = torch.from_numpy(_path_nodes(plan, result.stop)).to(x.device)
    sample = torch.arange(len(nodes), device=x.device)
    drafted = plan.draft.x[sample[:, None], nodes].to(x.dtype)
    states = torch.cat((drafted, x.unsqueeze(1)), dim=1)
    states[sample, torch.from_numpy(plan.tree.depth[result.stop]).to(x.device)] = x
    return states


def _path_log_prob(
    sampler: Sampler, plan: Plan, seen: Moments, result: Outcome
) -> NDArray[np.float64]:
    r"""Return log Q of the committed states (B, H + 1).

    An accepted y = m_P + std z lies at z - delta e from the target's mean, so its squared distance
    is :math:`\|z\|^2 - 2 \delta \zeta + \delta^2`; the last state's is :math:`\|z\|^2 + 2 \kappa
    \zeta + \kappa^2`.
    """
    tree, steps = plan.tree, sampler.steps
    square, zeta = np.zeros(plan.exists.shape), np.zeros(plan.exists.shape)
    square[:, 1:] = _square(plan.noise[:, : len(tree) - 1])
    zeta[:, 1:] = seen.zeta[:, : len(tree) - 1]
    delta = seen.delta
    batch = np.arange(len(result.stop))
    above = np.maximum(tree.parent, 0)
    drafted = square - 2.0 * delta[:, above] * zeta + delta[:, above] ** 2
    nodes = _path_nodes(plan, result.stop)
    distance = np.concatenate((np.take_along_axis(drafted, nodes, axis=1), drafted[:, :1]), axis=1)
    kappa = result.kappa
    noise = plan.noise
    if result.fresh is not None:
        noise = torch.cat((noise, result.fresh.unsqueeze(1)), dim=1)
    last = _square(pick(noise, result.slot)) + 2.0 * kappa * result.zeta + kappa**2
    distance[batch, tree.depth[result.stop]] = last
    first = plan.place[:, :1]
    place = np.minimum(first + np.arange(distance.shape[1]), steps.total - 1)
    std = steps.std[place]
    noisy = std > 0
    spread = np.log(np.where(noisy, std, 1.0)) + 0.5 * math.log(2.0 * math.pi)
    return np.where(noisy, -0.5 * distance - sampler.dim * spread, 0.0)


def _square(noise: Tensor) -> NDArray[np.float64]:
    return noise.to(torch.float64).square().sum(-1).cpu().numpy()
