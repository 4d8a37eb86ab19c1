"""Time the likeliest ways to run a chain against each other and the plain sampler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redraft.chain.chain import Chain
from redraft.draft.calibration import Calibration
from redraft.draft.drafter import Denoiser
from redraft.sampling.driver import Run
from redraft.sampling.sampler import Sampler
from redraft.sampling.sequential import sequential
from redraft.sampling.strategy import Option, Strategy, chain_key

__all__ = ["race"]

_RACERS = 3


def race(
    denoiser: Denoiser,
    chain: Chain,
    shape: Sequence[int],
    options: Sequence[Option],
    taught: Callable[[Option], Calibration | None],
    seeds: NDArray[np.int64],
    common: dict[str, Any],
) -> dict[Option, Option]:
    """Return the plain option and the likeliest others, with the times that they took.

    They draw single samples in turn, so that what slows the machine down slows all of them.

    Args:
        denoiser: The target.
        chain: The sampler.
        shape: Shape of one sample.
        options: All options with their expected times, the plain one first.
        taught: What the drafter of an option was taught.
        seeds: (laps,) one sample each.
        common: Conditioning of one sample, dtype and device, as `redraft.sample` takes them.
    """
    likely = sorted(options[1:], key=lambda option: option.seconds or np.inf)[:_RACERS]
    times: dict[Option, list[float]] = {option: [] for option in (options[0], *likely)}
    for lap, seed in enumerate([seeds[0], *seeds]):  # the first lap warms up
        for option in times:
            plan = Strategy(option, (option,), taught(option), None, chain_key(chain))
            begin = perf_counter()
            if option.drafter is None:
                sequential(denoiser, chain, 1, shape, seed=[int(seed)], **common)
            else:
                drafter, verifier, tree = plan.parts()
                parts: dict[str, Any] = {"drafter": drafter, "verifier": verifier, "tree": tree}
                sampler = Sampler(chain, 1, shape, [int(seed)], **parts, **common)
                Run(sampler, denoiser, None, None, None, False).finish()
            if lap:
                times[option].append(perf_counter() - begin)
    return {option: replace(option, seconds=median(seen)) for option, seen in times.items()}
