r"""The second half of a round: decide, draw one more state, shift.

Everything a decision needs of a node are two numbers, :math:`\|f - g\|^2` and :math:`\langle f -
g, z \rangle` with z a child's noise: the state cancels, because draft and target mean differ by
:math:`b (f - g)`. They are brought to the host once per round; all decisions are made there in
float64, the same on every device.

The state after the committed path is, in one formula for bonus and recovered states,

.. math:: x' = a x + b f + \mathrm{std}\,(z + \kappa e), \qquad
          \kappa = \zeta' - \zeta - \delta \text{ (recovered)}, \; 0 \text{ (bonus)},

with z the noise of the kept rejected child, of which only the part along, :math:`\zeta`, is
replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from redraft.coupling import GaussianPair, offered
from redraft.coupling.verifier import Verdict
from redraft.sampling import noise
from redraft.sampling.arguments import check_prediction
from redraft.sampling.errors import NonFiniteError
from redraft.sampling.record import Recorder
from redraft.sampling.shift import shift
from redraft.sampling.state import Bools, Info, Ints, Plan, Rows, State

if TYPE_CHECKING:
    from redraft.sampling.sampler import Sampler

__all__ = ["Recorder", "commit"]


class Outcome(NamedTuple):
    """What a round decides, per sample.

    Attributes:
        stop: (B,) last node of the committed path.
        kept: (B,) rejected child that the recovered state replaces; 0 if there is none (a bonus).
        noise: (B, D) noise of the state after the path: the kept child's, or a fresh one.
        kappa: (B,) float64 change of its part along, less delta.
        sign: (B,) float64 sign of b over the norm of f - g: kappa e = kappa sign (f - g).
    """

    stop: Ints
    kept: Ints
    noise: Tensor
    kappa: Tensor
    sign: Tensor


class Moments(NamedTuple):
    """The pair at every node, in numbers.

    Attributes:
        delta: (B, T) float64 distance of the means in standard deviations.
        zeta: (B, T) float64 part along of each node's incoming noise; 0 for the root.
        sign: (B, T) float64 sign of b over the norm of f - g.
    """

    delta: Tensor
    zeta: Tensor
    sign: Tensor


def commit(sampler: Sampler, state: State, rows: Rows, f: Tensor) -> tuple[State, Info]:
    """Return the next state and what happened; see `Sampler.commit`."""
    plan = rows.plan
    if plan is None:
        raise ValueError("rows has no plan: pass the rows that `plan` returned")
    f = _scatter(sampler, state, plan, check_prediction(f, rows.x))
    moments = _moments(sampler, state, plan, f)
    log_ratio = GaussianPair(moments.delta).log_ratio(offered(plan.tree, moments.zeta))
    coin = torch.from_numpy(plan.coin[:, : len(plan.tree)])
    limit = np.where(plan.verify, plan.limit, 0)
    verdict = sampler.verifier.walk(plan.tree, GaussianPair(moments.delta), log_ratio, coin, limit)
    finite = np.isfinite(moments.delta.numpy())
    if not finite.all():
        _check_finite(sampler, state, plan, f, verdict, finite)
    outcome = _outcome(sampler, state, plan, verdict, moments)
    at = torch.arange(len(outcome.stop), device=sampler.device), _index(outcome.stop, sampler)
    place = np.minimum(state.step + plan.tree.depth[outcome.stop], sampler.steps.total - 1)
    std = torch.from_numpy(sampler.steps.std[place])
    scale = [
        column.to(sampler.device, sampler.state_dtype).unsqueeze(-1)
        for column in (
            torch.from_numpy(sampler.steps.a[place]),
            torch.from_numpy(sampler.steps.b[place]),
            std,
            std * outcome.kappa * outcome.sign,
        )
    ]
    f_stop = f[at]
    x = torch.addcmul(scale[0] * plan.draft.x[at], scale[1], f_stop)
    x = torch.addcmul(x, scale[2], outcome.noise)
    if bool(outcome.kept.any()):
        x = torch.addcmul(x, scale[3], f_stop - _guess(plan, at))
    info = sampler.record.info(sampler, state, plan, moments, outcome, x)
    return shift(sampler, state, plan, f, finite, outcome.stop, outcome.kept, x), info


def _scatter(sampler: Sampler, state: State, plan: Plan, f: Tensor) -> Tensor:
    """Return predictions by node (B, T, D); nodes that were not evaluated hold zeros."""
    f = f.detach().reshape(len(f), sampler.dim).to(sampler.device, sampler.state_dtype)
    shape = (len(state.owner), len(plan.tree), sampler.dim)
    if plan.evaluated.all():
        return f.reshape(shape)
    full = f.new_zeros(shape)
    at = torch.from_numpy(np.stack(np.nonzero(plan.evaluated))).to(f.device)
    full[at[0], at[1]] = f
    if sampler.drafter.asks_root and state.memory is not None:
        known = torch.from_numpy(state.ready).to(f.device)
        full[known, 0] = state.memory.f[known, 0]
    return full


def _moments(sampler: Sampler, state: State, plan: Plan, f: Tensor) -> Moments:
    """Reduce the vectors of every node to its distance and its children's parts along."""
    gap = f - plan.draft.guess
    square = (gap * gap).sum(-1, dtype=torch.float64)
    tree = plan.tree
    above = gap[:, :-1] if tree.width <= 1 else gap[:, torch.from_numpy(tree.parent[1:])]
    inner = (above * plan.noise).sum(-1, dtype=torch.float64)
    square, inner = square.cpu(), inner.cpu()
    place = np.minimum(state.step[:, None] + tree.depth, sampler.steps.total - 1)
    pull = torch.from_numpy(sampler.steps.pull[place])
    norm = square.sqrt()
    sign = torch.sign(pull) / norm.clamp_min(1e-300)
    zeta = torch.zeros_like(norm)
    zeta[:, 1:] = inner * sign[:, torch.from_numpy(np.maximum(tree.parent[1:], 0))]
    return Moments(norm * pull.abs(), zeta, sign)


def _outcome(
    sampler: Sampler, state: State, plan: Plan, verdict: Verdict, moments: Moments
) -> Outcome:
    """Draw the part along of recovered states; choose the kept child; fetch the noise."""
    tree, stop = plan.tree, verdict.stop
    batch = np.arange(len(stop))
    bonus = tree.depth[stop] == np.where(plan.verify, plan.limit, 0)
    bonus |= tree.child[stop, 0] < 0
    kept = np.where(bonus, 0, tree.child[stop, 0])
    kappa = torch.zeros(len(stop), dtype=torch.float64)
    place = torch.from_numpy(batch), torch.from_numpy(stop)
    if not bonus.all():
        zeta = moments.zeta[place[0], torch.from_numpy(kept)]
        if sampler.verifier.reflects and tree.width <= 1:
            kappa = -2.0 * zeta
        else:
            delta = moments.delta[place]
            fresh = _along(sampler, state, plan, verdict, delta)
            kept = np.where(bonus, 0, _nearest(plan, stop, fresh, moments))
            kappa = fresh - moments.zeta[place[0], torch.from_numpy(kept)] - delta
        kappa = torch.where(torch.from_numpy(bonus), 0.0, kappa)
    return Outcome(
        stop, kept, _next_noise(sampler, state, plan, stop, kept), kappa, moments.sign[place]
    )


def _along(sampler: Sampler, state: State, plan: Plan, verdict: Verdict, delta: Tensor) -> Tensor:
    """Draw the part along of the recovered states from the excess of the pair at the stop."""
    depth = plan.tree.depth[verdict.stop]
    serial = plan.drawn[np.arange(len(depth)), np.minimum(depth, plan.drawn.shape[1] - 1)]
    keys = sampler.keys[noise.RESIDUAL][state.owner]
    uniform = torch.from_numpy(noise.uniform(keys, state.step + depth, serial))
    return GaussianPair(delta).sample_excess(verdict.rho, verdict.lam, uniform)


def _nearest(plan: Plan, stop: Ints, fresh: Tensor, moments: Moments) -> Ints:
    """Return the rejected child whose part along is nearest to the recovered one's."""
    child = plan.tree.child[stop]
    zeta = moments.zeta.numpy()[np.arange(len(stop))[:, None], np.maximum(child, 0)]
    distance = np.where(child >= 0, np.abs(zeta - fresh.numpy()[:, None]), np.inf)
    return np.take_along_axis(child, distance.argmin(axis=1)[:, None], axis=1)[:, 0]


def _next_noise(sampler: Sampler, state: State, plan: Plan, stop: Ints, kept: Ints) -> Tensor:
    """Return the kept children's noises; for a bonus, the one its first child would have had."""
    recovered = kept > 0
    batch = torch.arange(len(stop), device=sampler.device)
    if recovered.all():
        return plan.noise[batch, _index(kept - 1, sampler)]
    depth = plan.tree.depth[stop]
    step = state.step + depth
    if plan.lookahead is not None:
        fresh = plan.lookahead.normals(step, 1)[:, 0]
    else:
        serial = plan.drawn[np.arange(len(stop)), depth]
        keys = sampler.keys[noise.DRAFT][state.owner]
        fresh = noise.normal(keys, step, serial, sampler.dim, sampler.device)
        fresh = fresh.to(sampler.state_dtype)
    if not recovered.any():
        return fresh
    old = plan.noise[batch, _index(np.maximum(kept - 1, 0), sampler)]
    return torch.where(torch.from_numpy(recovered).to(old.device).unsqueeze(-1), old, fresh)


def _guess(plan: Plan, at: tuple[Tensor, Tensor]) -> Tensor:
    guess = plan.draft.guess
    return guess[at] if guess.shape[1] > 1 else guess[:, 0]


def _index(values: Ints, sampler: Sampler) -> Tensor:
    return torch.from_numpy(values).to(sampler.device)


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
