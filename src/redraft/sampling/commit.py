"""The second half of a round: decide, draw one more state, shift."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from redraft.coupling import GaussianPair, offered
from redraft.coupling.verifier import Verdict
from redraft.draft.gather import column, pick
from redraft.sampling.arguments import check_prediction
from redraft.sampling.errors import NonFiniteError
from redraft.sampling.info import Info
from redraft.sampling.moments import Moments, moments
from redraft.sampling.outcome import Outcome, outcome
from redraft.sampling.record import record
from redraft.sampling.shift import shift
from redraft.sampling.state import Bools, Plan, Rows, State

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
        verdict = _verdict(sampler, plan, seen)
    finite = np.isfinite(seen.delta)
    if not finite.all():
        _check_finite(sampler, state, plan, f, verdict, finite)
    result = outcome(sampler, state, plan, verdict, seen)
    x = _next(sampler, state, plan, f, seen, result)
    info = record(sampler, state, plan, seen, result, x)
    return shift(sampler, state, plan, f, finite, result, x), info


def _by_node(sampler: Sampler, state: State, plan: Plan, f: Tensor) -> Tensor:
    """Return predictions by node (B, T, D); nodes that were not evaluated hold zeros."""
    shape = (len(state.owner), len(plan.tree), sampler.dim)
    f = f.detach().to(sampler.device, sampler.state_dtype)
    if plan.full:
        return f.reshape(shape)
    at = torch.from_numpy(np.stack(np.nonzero(plan.evaluated))).to(f.device)
    full = f.new_zeros(shape)
    full[at[0], at[1]] = f.reshape(len(f), sampler.dim)
    if sampler.drafter.asks_root and state.memory is not None:
        known = torch.from_numpy(state.ready).to(f.device)
        full[known, 0] = state.memory.f[known, 0]
    return full


def _verdict(sampler: Sampler, plan: Plan, seen: Moments) -> Verdict:
    pair = GaussianPair(seen.delta)
    log_ratio = pair.log_ratio(offered(plan.tree, seen.zeta))
    return sampler.verifier.walk(plan.tree, pair, log_ratio, plan.coin, plan.depth_limit)


def _next(
    sampler: Sampler, state: State, plan: Plan, f: Tensor, seen: Moments, result: Outcome
) -> Tensor:
    """Return the states (B, D) after the committed paths; see `redraft.sampling.outcome`."""
    stop, steps, batch = result.stop, sampler.steps, np.arange(len(result.stop))
    place = plan.place[batch, stop]
    std = steps.std[place]
    bend = std * result.kappa * seen.sign[batch, stop]
    a, b, spread, bend = column(np.array((steps.a[place], steps.b[place], std, bend)), state.x)
    x = torch.addcmul(a * pick(plan.draft.x, stop), b, pick(f, stop))
    x = torch.addcmul(x, spread, result.noise)
    return torch.addcmul(x, bend, pick(seen.gap, stop))


def _check_finite(
    sampler: Sampler, state: State, plan: Plan, f: Tensor, verdict: Verdict, finite: Bools
) -> None:
    """Raise if a node that had a part in the decision has no finite prediction."""
    bad = ~finite & verdict.visited & plan.exists
    if not bad.any():
        return
    sample, node = (int(places[0]) for places in np.nonzero(bad))
    step = int(state.step[sample] + plan.tree.depth[node])
    asked = bool(torch.isfinite(f[sample, node]).all())
    source = "the guess of the drafter" if asked else "the prediction of the target"
    raise NonFiniteError(source, int(state.owner[sample]), step, float(sampler.steps.level[step]))
