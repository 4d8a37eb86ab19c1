"""What is sampled, and how one method runs it once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

import redraft
from redraft.bench.methods import Method
from redraft.bench.protocol import sample_warmed_up
from redraft.bench.stopwatch import Stopwatch, synchronize
from redraft.bench.targets import Target
from redraft.chain import Chain
from redraft.draft import Calibration
from redraft.sampling import Result
from redraft.sampling.noise import spread
from redraft.sampling.progress import Progress

__all__ = ["Job", "Lesson", "Run"]

PASSES = 3


class Lesson(NamedTuple):
    """What a warm method has been taught.

    Attributes:
        calibration: For its drafter.
        seconds: How long it took, in calls of the target that are counted nowhere else.
    """

    calibration: Calibration
    seconds: float


class Run(NamedTuple):
    """One sample, drawn alone.

    Attributes:
        result: The sample and what it cost.
        wall: Seconds of the whole run.
        call_rows: Rows of each target call.
        call_seconds: Seconds of each target call.
    """

    result: Result
    wall: float
    call_rows: list[int]
    call_seconds: list[float]

    @property
    def own_share(self) -> float:
        """Share of the time that was not the target's."""
        return 1.0 - sum(self.call_seconds) / self.wall


@dataclass(frozen=True)
class Job:
    """A chain of a target, to be run by several methods with the same noise keys.

    Attributes:
        target: The model.
        chain: The sampler whose law is kept.
        num: Number of samples.
        seed: Seed that the samples' seeds are spread from.
        device: Where the states live.
        dtype: What the model is given.
        label: (num,) class of each sample; None: unconditional.
        taught: Samples per pass that warm drafters are taught on, others than those here.
        warm_up: Whether a warm-up call precedes the first round, as in `redraft.bench.protocol`.
    """

    target: Target
    chain: Chain
    num: int
    seed: int
    device: torch.device = torch.device("cpu")
    dtype: torch.dtype = torch.float32
    label: Tensor | None = None
    taught: int = 64
    warm_up: bool = False

    @cached_property
    def seeds(self) -> NDArray[np.int64]:
        """(num,) seed of each sample."""
        return spread(self.seed, self.num)

    def check(self, method: Method) -> None:
        """Raise ValueError if a method's parts do not go together or do not suit the chain."""
        if method.drafter is None:
            return
        assert method.verifier is not None and method.tree is not None
        redraft.Sampler(
            self.chain,
            1,
            self.target.shape,
            0,
            drafter=method.make_drafter(self.target),  # untaught: teaching takes long
            verifier=method.verifier,
            tree=method.tree,
            dtype=self.dtype,
            device=self.device,
        )

    def sample(
        self,
        method: Method,
        which: Sequence[int],
        executor: Stopwatch | None = None,
        progress: Progress = None,
        rounds: bool = False,
    ) -> Result:
        """Draw the samples with these numbers, in one batch; ``rounds`` keeps what each did."""
        where = list(which)
        cond = None if self.label is None else {"label": self.label[where]}
        shared: dict[str, Any] = {
            "num": len(where),
            "shape": self.target.shape,
            "seed": [int(seed) for seed in self.seeds[where]],
            "cond": cond,
            "executor": executor,
            "progress": progress,
            "dtype": self.dtype,
            "device": self.device,
        }
        denoiser = self.target.denoiser
        if method.drafter is None:
            return redraft.sequential(denoiser, self.chain, **shared)
        draw = sample_warmed_up if self.warm_up else redraft.sample
        return draw(denoiser, self.chain, rounds=rounds, **self._parts(method), **shared)

    def _parts(self, method: Method) -> dict[str, Any]:
        """Return how a method is asked for in `redraft.sample`."""
        calibration = self.teach(method).calibration if method.warm else None
        return {
            "drafter": method.make_drafter(self.target, calibration),
            "verifier": method.verifier,
            "tree": method.tree,
        }

    def settle(self, method: Method) -> Method:
        """Return a method with what `redraft.tune` chooses, if that is left to it."""
        if method.goal is None:
            return method
        key = (method.name, method.goal, f"chain:{method.rows}")
        if key not in self._settled:
            begin = perf_counter()
            made = redraft.tune(
                self.target.denoiser,
                self.chain,
                self.target.shape,
                seed=self.seed,
                max_rows=method.rows,
                num=self.taught,
                passes=PASSES,
                goal=method.goal,
                cond=self._others(),
                dtype=self.dtype,
                device=self.device,
            )
            chosen = made.chosen
            prefetch = "nearest" if chosen.drafter == "free" else None
            parts = (chosen.drafter, chosen.verifier, chosen.tree, "x0", prefetch)
            settled = Method(method.name, *parts, warm=chosen.warm)
            if made.calibration is None:
                settled = Method(method.name)
            else:
                lesson = Lesson(made.calibration, perf_counter() - begin)
                self._lessons[(method.name, chosen.verifier or "", chosen.tree)] = lesson
            self._settled[key] = settled
        return self._settled[key]

    @cached_property
    def _settled(self) -> dict[tuple[str, str, str], Method]:
        return {}

    def teach(self, method: Method) -> Lesson:
        """Return what a warm method knows; taught when first asked, once per method and tree."""
        assert method.drafter and method.verifier and method.tree
        own = (method.name, method.verifier, method.tree)
        if own in self._lessons:  # a method that `redraft.tune` has settled
            return self._lessons[own]
        key = (method.drafter, method.verifier, method.tree)
        if key not in self._lessons:
            begin = perf_counter()
            calibration = redraft.calibrate(
                self.target.denoiser,
                self.chain,
                self.taught,
                self.target.shape,
                seed=self.seed,
                drafter=method.drafter,
                verifier=method.verifier,
                tree=method.tree,
                passes=PASSES,
                cond=self._others(),
                dtype=self.dtype,
                device=self.device,
            )
            self._lessons[key] = Lesson(calibration, perf_counter() - begin)
        return self._lessons[key]

    @cached_property
    def _lessons(self) -> dict[tuple[str, str, str], Lesson]:
        return {}

    def _others(self) -> dict[str, Tensor] | None:
        """Return the conditioning of the samples to be taught on: the same classes, in turn."""
        if self.label is None:
            return None
        return {"label": self.label[torch.arange(self.taught, device=self.label.device) % self.num]}

    def run_once(self, method: Method, which: int) -> Run:
        """Draw one sample alone and time it, from its first noise to its last value."""
        stopwatch = Stopwatch(self.device)
        synchronize(self.device)
        begin = perf_counter()
        result = self.sample(method, [which], stopwatch)
        synchronize(self.device)
        wall = perf_counter() - begin
        return Run(result, wall, stopwatch.rows, stopwatch.seconds())
