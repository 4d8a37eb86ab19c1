"""Plain sampling of the same chain with the same noise: the baseline, and the reference.

Every step is driven by the noise that the first draft of that step would have had (attempt 0), so
that speculation with a perfect drafter reproduces these paths.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from redraft.chain.chain import Chain
from redraft.chain.steps import Steps
from redraft.draft.drafter import Denoiser
from redraft.execute import Executor, Local
from redraft.sampling import noise
from redraft.sampling.arguments import check_denoiser, check_prediction
from redraft.sampling.errors import NonFiniteError
from redraft.sampling.lookahead import look_ahead
from redraft.sampling.progress import Progress, reporting
from redraft.sampling.result import Result, Summary
from redraft.sampling.sampler import Sampler
from redraft.sampling.state import Rows, State

__all__ = ["carry_on", "sequential"]


def sequential(
    denoiser: Denoiser,
    chain: Chain,
    num: int,
    shape: Sequence[int],
    *,
    seed: int | Sequence[int],
    cond: Mapping[str, Tensor] | None = None,
    executor: Executor | None = None,
    trajectory: bool = False,
    log_prob: bool = False,
    progress: Progress = None,
    x_init: Tensor | None = None,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> Result:
    """Sample a chain step by step, one target call per step; arguments as in `redraft.sample`."""
    check_denoiser(denoiser)
    parts = Sampler(
        chain,
        num,
        shape,
        seed,
        tree="chain:1",
        drafter="free",
        cond=cond,
        dtype=dtype,
        device=device,
    )
    call = _Call(parts, denoiser, executor or Local())
    steps, x = parts.steps, parts.init(x_init).x
    noisy_steps = steps.total - parts.has_terminal
    path = [x] if trajectory else None
    density = torch.zeros(num, noisy_steps, dtype=torch.float64) if log_prob else None
    with torch.no_grad(), reporting(progress, steps.total * num) as report:
        for n, (z, exact) in enumerate(_noises(parts, x)):
            x = _step(steps, call(x, n), x, z, n)
            if steps.std[n] > 0:
                if density is not None:
                    spread = math.log(steps.std[n]) + 0.5 * math.log(2.0 * math.pi)
                    density[:, n] = -0.5 * exact.square().sum(-1).cpu() - parts.dim * spread
            if path is not None and n < noisy_steps:
                path.append(x)
            report((n + 1) * num)
        if not bool(x.isfinite().all()):
            _blame(parts, call, parts.init(x_init).x, 0)
    summary = Summary()
    summary.num_rounds, summary.num_draft_rows = steps.total, steps.total * num
    return Result(
        samples=x.reshape(num, *parts.shape),
        calls=np.full(num, steps.total),
        rows=np.full(num, steps.total),
        seeds=parts.seeds,
        summary=summary,
        trajectory=None
        if path is None
        else torch.stack(path, dim=1).reshape(num, noisy_steps + 1, *parts.shape),
        log_prob=density,
    )


def carry_on(
    sampler: Sampler,
    state: State,
    denoiser: Denoiser,
    run: Executor,
    report: Callable[[int], None] | None = None,
) -> State:
    """Finish a run of one sample step by step, from where it stands.

    The noises of the steps to come are those that a chain of recycled drafts would have used: no
    decision has looked at them.

    Args:
        sampler: The parts.
        state: Where it stands; left as it is.
        denoiser: The target.
        run: Runs it.
        report: Told of the steps that are done.

    Raises:
        NonFiniteError: If the model returns NaN or infinity.
    """
    call, steps, first = _Call(sampler, denoiser, run), sampler.steps, int(state.step[0])
    x = state.x
    for n, (z, _) in enumerate(_noises(sampler, x, first), first):
        x = _step(steps, call(x, n), x, z, n)
        if report is not None:
            report(n + 1)
    if not bool(x.isfinite().all()):
        _blame(sampler, call, state.x, first)
    left = steps.total - first
    gone = np.empty(0, dtype=np.int64)
    return state._replace(
        owner=gone,
        step=gone,
        x=x[:0],
        memory=None,
        ready=gone.astype(bool),
        lookahead=None,
        samples=x,
        calls=state.calls + left,
        rows=state.rows + left,
    )


def _step(steps: Steps, f: Tensor, x: Tensor, z: Tensor, n: int) -> Tensor:
    """Return the next states."""
    x = x.mul(steps.a[n]).add_(f, alpha=steps.b[n])
    return x.add_(z, alpha=steps.std[n]) if steps.std[n] > 0 else x


class _Call:
    """The target at one step, for all samples at once."""

    def __init__(self, parts: Sampler, denoiser: Denoiser, run: Executor) -> None:
        self.parts, self.denoiser, self.run = parts, denoiser, run
        level = torch.from_numpy(parts.level).to(parts.device)
        self.levels = level.unsqueeze(1).expand(-1, parts.num).unbind()
        self.owner = np.arange(parts.num)

    def __call__(self, x: Tensor, n: int) -> Tensor:
        """Return predictions (num, D) at states (num, D)."""
        parts = self.parts
        states = x.to(parts.dtype, copy=True).view(parts.num, *parts.shape)
        step = np.full(parts.num, n)
        rows = Rows(states, self.levels[n], step, self.owner, parts.cond, None)
        f = check_prediction(self.run(self.denoiser, rows), states)
        return f.to(parts.state_dtype).reshape(parts.num, parts.dim)


def _noises(parts: Sampler, like: Tensor, first: int = 0) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield the noise (num, D) of every step as states have it and in float64, by blocks."""
    draft, decide = parts.keys[noise.DRAFT], parts.keys[noise.DECIDE]
    done, total = first, parts.steps.total if parts.num else first
    while done < total:
        at = np.full(parts.num, done)
        block = look_ahead(None, draft, decide, at, 1, total, like)
        rounded = block.normal.to(like.dtype)
        pairs = zip(rounded.unbind(1), block.normal.unbind(1), strict=True)
        yield from islice(pairs, total - done)
        done += block.normal.shape[1]


def _blame(parts: Sampler, call: _Call, x: Tensor, first: int) -> None:
    """Run again, this time looking at every prediction, and raise for the first that is not finite.

    Looking costs a wait for the device at every step, so the first run looks at its end only.
    """
    steps = parts.steps
    for n, (z, _) in enumerate(_noises(parts, x, first), first):
        f = call(x, n)
        bad = torch.nonzero(~torch.isfinite(f).all(dim=1))
        if len(bad):
            level = float(steps.level[n])
            raise NonFiniteError("the prediction of the target", int(bad[0]), n, level)
        x = x.mul(steps.a[n]).add_(f, alpha=steps.b[n]).add_(z, alpha=steps.std[n])
    raise ArithmeticError(
        "the states overflowed although every prediction is finite; check the chain's a and b"
    )
