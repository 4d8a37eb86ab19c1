r"""The papers' protocol on the published mixture: which steps and which calls are counted.

The papers count the noisy steps only: the 28 of ``flow_sde(30, churn)``, started at a standard
normal. One warm-up call at the first state gives the first round its prediction and counts; plain
sampling is then 28 calls, and the speed-up of a run is 28 over its calls. Drafts freeze a quantity
of the nearest evaluated node. In the papers' trees the last drafted level is not evaluated; here a
node without children draws its next state from the target, which commits as many. So their tree of
K children and L levels, whose |I| inner nodes are evaluated, is ``kary:K,L`` here.

Their names: RMC is reflection, GRS greedy, block verification traversal; prefetch "none" is the
drafter frozen, which here does not ask twice where only one step is left. Where all children are
rejected, the papers keep the first one's noise across, this library that of the nearest one: that
alone is worth 0.8 % on trees (1.842 instead of 1.828, published 1.822).

References:
    | Accelerating Diffusion Sampling via Speculative Draft Trees (2026), section 5.1
    | https://arxiv.org/abs/2609.17691
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from redraft import zoo
from redraft.chain import Chain, flow_sde
from redraft.coupling.verifier import Verifier
from redraft.draft import Drafter, Memory
from redraft.sampling import Sampler, State
from redraft.tree.tree import Tree

__all__ = ["NOISY", "measure", "noisy_part"]

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
    shape = (512,)
    calls = []
    for first in range(0, num, batch):
        size = min(batch, num - first)
        sampler = Sampler(
            chain, size, shape, seed + first, drafter=drafter, verifier=verifier, tree=tree
        )
        state, asks = sampler.init(), sampler.drafter.asks_root
        if not asks:
            state = _warm(sampler, target, state)
        while not state.done:
            rows = sampler.plan(state)
            state, _ = sampler.commit(state, rows, target(rows.x, rows.level))
        calls.append(state.calls + (not asks))
    return np.concatenate(calls)


def _warm(sampler: Sampler, target: zoo.Interpolant, state: State) -> State:
    """Give every first round the prediction at its root."""
    step = state.step[:, None]
    x, level, _ = sampler.place(state.x, state.owner, state.step)
    f: Tensor = target(x, level).reshape(state.x.shape).unsqueeze(1)
    keeps = sampler.drafter.keeps_state
    memory = Memory(f, state.x.unsqueeze(1) if keeps else None, step if keeps else None)
    return state._replace(memory=memory, ready=np.ones(len(step), dtype=bool))
