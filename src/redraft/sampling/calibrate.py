"""Teach a drafter on samples of its own: `redraft.calibrate`.

The samples are drawn with seeds of their own, unrelated to those that the same integer gives
elsewhere: what noises have taught must not be used where they are drawn again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from redraft.chain.chain import Chain
from redraft.chain.steps import Steps
from redraft.draft.calibration import Calibration
from redraft.draft.drafter import Denoiser, Drafter
from redraft.draft.free import Free
from redraft.draft.recycled import Recycled
from redraft.registry import choose
from redraft.sampling import noise
from redraft.sampling.arguments import check_chain
from redraft.sampling.sampler import Sampler

__all__ = ["calibrate", "teach"]

_APART = 0x5EED0FCA11B8

_MAKERS: dict[str, Callable[[Calibration], Drafter]] = {
    "recycled": Recycled,
    "free": lambda calibration: Free(calibration=calibration),
}


def calibrate(
    denoiser: Denoiser,
    chain: Chain,
    num: int,
    shape: Sequence[int],
    *,
    seed: int,
    drafter: str = "recycled",
    verifier: str = "greedy",
    tree: str = "chain:16",
    cond: Mapping[str, Tensor] | None = None,
    passes: int = 3,
    start: Calibration | None = None,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> Calibration:
    """Run samples and return what they teach.

    Corrected drafts reach other states than uncorrected ones, so it takes a few passes, each with
    other samples and what the last one taught.

    Args:
        denoiser: The target; see `redraft.sample`.
        chain: The sampler.
        num: Samples per pass.
        shape: Shape of one sample.
        seed: An integer; the samples have nothing to do with those of `redraft.sample`.
        drafter: "recycled" or "free".
        verifier: As it will be used.
        tree: As it will be used.
        cond: Conditioning of each sample.
        passes: How often.
        start: What is known already; None: nothing.
        dtype: What the model is given.
        device: Where the states live.

    Returns:
        What the last pass taught, for ``draft.Recycled(calibration)`` or
        ``draft.Free(calibration=...)``.
    """
    taught, _ = teach(
        denoiser,
        chain,
        num,
        shape,
        seed=seed,
        drafter=drafter,
        verifier=verifier,
        tree=tree,
        cond=cond,
        passes=passes,
        start=start,
        dtype=dtype,
        device=device,
    )
    return taught


def teach(
    denoiser: Denoiser,
    chain: Chain,
    num: int,
    shape: Sequence[int],
    *,
    seed: int,
    drafter: str,
    verifier: str,
    tree: str,
    cond: Mapping[str, Tensor] | None,
    passes: int,
    start: Calibration | None = None,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> tuple[Calibration, NDArray[np.int64]]:
    """Return what samples teach, and the calls (num,) of the last pass."""
    make = choose("drafter", drafter, _MAKERS)
    every = noise.spread(seed ^ _APART, num * passes).reshape(passes, num)
    known = start or Calibration(Steps.of(check_chain(chain)).total)
    calls = np.zeros(num, np.int64)
    for seeds in every:
        sampler = Sampler(
            chain,
            num,
            shape,
            seeds.tolist(),
            drafter=make(known),
            verifier=verifier,
            tree=tree,
            cond=cond,
            dtype=dtype,
            device=device,
            evidence=True,
        )
        learnt, state = Calibration(known.total, seeds), sampler.init()
        with torch.no_grad():
            while not state.done:
                rows = sampler.plan(state)
                state, info = sampler.commit(state, rows, denoiser(rows.x, rows.level, **rows.cond))
                if info.evidence is not None:
                    learnt.add(info.evidence)
        calls = state.calls
        learnt.merge(known, share=0.5)
        known = learnt
    return known, calls
