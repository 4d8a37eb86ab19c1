r"""The papers' protocol on the published mixture: which steps and which calls are counted.

The papers count the noisy steps only: the 28 of ``flow_sde(30, churn)``, started at a standard
normal. One warm-up call at the first state gives the first round its prediction and counts; plain
sampling is then 28 calls, and the speed-up of a run is 28 over its calls. Drafts freeze a quantity
of the nearest evaluated node. In the papers' trees the last drafted level is not evaluated; here a
node without children draws its next state from the target, which commits as many. So their tree of
K children and L levels, whose |I| inner nodes are evaluated, is ``kary:K,L`` here.

Their names: RMC is reflection, GRS greedy, block verification traversal; prefetch "none" is the
drafter frozen, which here does not ask twice where only one step is left. Where all children are
rejected, the papers keep the first one's noise across, this library that of the nearest one. That
alone is worth 1 to 3 % on trees: kary:2,3 at churn 0.06 has 1.842, with the first one's 1.828,
published 1.822; kary:2,5 with eps frozen at churn 1 has 1.365, 1.340 and 1.33.

References:
    | Accelerating Diffusion Sampling via Speculative Draft Trees (2026), section 5.1
    | https://arxiv.org/abs/2609.17691
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from redraft import zoo
from redraft.chain import Chain, flow_sde
from redraft.coupling.verifier import Verifier
from redraft.draft import Drafter, Memory
from redraft.draft.drafter import Denoiser
from redraft.sampling import Result, Sampler
from redraft.sampling.driver import Run
from redraft.sampling.state import Rows
from redraft.tree.tree import Tree

__all__ = ["NOISY", "measure", "noisy_part", "sample_warmed_up"]

STEPS, NOISY = 30, 28


def noisy_part(chain: Chain) -> Chain:
    """Return a chain's noisy steps alone, started at a standard normal, without a terminal call."""
    noisy = chain.std > 0
    assert chain.alpha is not None and chain.sigma is not None
    return replace(
        chain,
        level=chain.level[noisy],
        a=chain.a[noisy],
        b=chain.b[noisy],
        std=chain.std[noisy],
        init_std=1.0,
        terminal=None,
        alpha=chain.alpha[: len(noisy)][noisy],
        sigma=chain.sigma[: len(noisy)][noisy],
    )


def measure(
    drafter: Drafter,
    verifier: str | Verifier,
    tree: str | Tree,
    churn: float,
    num: int,
    seed: int,
    batch: int = 256,
) -> NDArray[np.int64]:
    """Return the target calls (num,) of runs under the papers' protocol, warm-up included.

    Args:
        drafter: As in `redraft.sample`; without a warm-up call if it asks the target at the root.
        verifier: As in `redraft.sample`.
        tree: As in `redraft.sample`.
        churn: Amount of noise of the chain.
        num: Number of runs.
        seed: Seed; runs are told apart by it.
        batch: Runs at a time.
    """
    target, chain = zoo.published_mixture(), noisy_part(flow_sde(STEPS, churn))
    calls = []
    for first in range(0, num, batch):
        result = sample_warmed_up(
            target,
            chain,
            min(batch, num - first),
            (512,),
            seed=seed + first,
            drafter=drafter,
            verifier=verifier,
            tree=tree,
        )
        calls.append(result.calls)
    return np.concatenate(calls)


def sample_warmed_up(
    denoiser: Denoiser,
    chain: Chain,
    num: int,
    shape: Sequence[int],
    *,
    seed: int | Sequence[int],
    drafter: str | Drafter,
    verifier: str | Verifier,
    tree: str | Tree,
    cond: Mapping[str, torch.Tensor] | None = None,
    executor: Any = None,
    progress: Any = None,
    rounds: bool = False,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> Result:
    """Sample as `redraft.sample` does, with a warm-up call at the first state; see this module.

    The warm-up call gives the first round its prediction, commits nothing and is counted, in calls
    and rows. A drafter that asks the target at the root has none.
    """
    sampler = Sampler(
        chain,
        num,
        shape,
        seed,
        drafter=drafter,
        verifier=verifier,
        tree=tree,
        cond=cond,
        dtype=dtype,
        device=device,
        delta=rounds,
    )
    run = Run(sampler, denoiser, executor, progress, None, rounds)
    if sampler.drafter.asks_root:
        return run.finish()
    with torch.no_grad():
        _warm_up(run)
    result = run.finish()
    return replace(result, calls=result.calls + 1, rows=result.rows + 1)


def _warm_up(run: Run) -> None:
    """Give every first round the prediction at its root."""
    sampler, state = run.sampler, run.state
    x, level, cond = sampler.place(state.x, state.owner, state.step)
    f = run.executor(run.denoiser, Rows(x, level, state.step, state.owner, cond, None))
    step, keeps = state.step[:, None], sampler.drafter.keeps_state
    memory = Memory(
        f.reshape(state.x.shape).unsqueeze(1),
        state.x.unsqueeze(1) if keeps else None,
        step if keeps else None,
    )
    run.state = state._replace(memory=memory, ready=np.ones(len(step), dtype=bool))
