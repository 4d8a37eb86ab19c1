"""The second half of a round: decide, draw one more state, shift."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from redraft.coupling import GaussianPair, offered
from redraft.coupling.verifier import Verdict
from redraft.sampling.arguments import check_prediction
from redraft.sampling.errors import NonFiniteError
from redraft.sampling.info import Info
from redraft.sampling.lone import finite
from redraft.sampling.moments import Moments, moments
from redraft.sampling.outcome import follow, outcome
from redraft.sampling.record import record
from redraft.sampling.remember import recall, remember
from redraft.sampling.shift import shift
from redraft.sampling.state import Bools, Plan, Rows, State
from redraft.sampling.sweep import fill

if TYPE_CHECKING:
    from redraft.sampling.sampler import Sampler

__all__ = ["commit"]


def commit(sampler: Sampler, state: State, rows: Rows, f: Tensor) -> tuple[State, Info]:
    """Return the next state and what happened; see `Sampler.commit`."""
    plan = rows.plan
    if plan is None:
        raise ValueError("rows has no plan: pass the rows that `plan` returned")
    f = _by_node(sampler, state, plan, check_prediction(f, rows.x))
    with np.errstate(invalid="ignore", over="ignore"):
        seen = moments(sampler, plan, f)
        pair = GaussianPair(seen.delta)
        log_ratio = pair.log_ratio(offered(plan.tree, seen.zeta))
        verdict = sampler.verifier.walk(plan.tree, pair, log_ratio, plan.coin, plan.depth_limit)
        good = None if finite(seen.delta) else np.isfinite(seen.delta)
    if good is not None:
        _check_finite(sampler, state, plan, f, verdict, good)
        seen = _mask(good, seen)
    result = outcome(sampler, state, plan, verdict, seen)
    nodes = recall(sampler, plan, good, result)
    x = follow(sampler, plan, seen, result)
    info = record(sampler, state, plan, f, seen, result, x)
    memory, ready = remember(sampler, state, plan, f, seen, nodes)
    return shift(sampler, state, plan, result, x, memory, ready), info


def _by_node(sampler: Sampler, state: State, plan: Plan, f: Tensor) -> Tensor:
    """Return predictions by node (B, T, D); nodes that were not evaluated hold zeros."""
    shape = (len(state.owner), len(plan.tree), sampler.dim)
    if f.requires_grad:
        f = f.detach()
    if f.dtype != sampler.state_dtype or f.device != sampler.device:
        f = f.to(sampler.device, sampler.state_dtype)
    if plan.full:
        return f.reshape(shape)
    at = torch.from_numpy(np.stack(np.nonzero(plan.evaluated))).to(f.device)
    full = f.new_zeros(shape)
    full[at[0], at[1]] = f.reshape(len(f), sampler.dim)
    if plan.evaluated is not plan.exists and state.memory is not None:
        fill(full, plan, state.memory)
    return full


def _check_finite(
    sampler: Sampler, state: State, plan: Plan, f: Tensor, verdict: Verdict, good: Bools
) -> None:
    """Raise if a node that had a part in the decision has no finite prediction."""
    visited = sampler.verifier.visited(plan.tree, verdict.stop, plan.depth_limit)
    bad = ~good & visited & plan.exists
    if not bad.any():
        return
    sample, node = (int(places[0]) for places in np.nonzero(bad))
    step = int(state.step[sample] + plan.tree.depth[node])
    asked = bool(torch.isfinite(f[sample, node]).all())
    source = "the guess of the drafter" if asked else "the prediction of the target"
    raise NonFiniteError(source, int(state.owner[sample]), step, float(sampler.steps.level[step]))


def _mask(good: Bools, seen: Moments) -> Moments:
    """Blank the nodes that the walk never visited and whose predictions are not finite."""
    seen.vectors.mask(good)
    return Moments(seen.vectors, seen.delta, np.nan_to_num(seen.zeta), np.nan_to_num(seen.sign))
