"""A run that chooses its own rows: ``tree="auto"`` without a strategy.

Chains of several sizes share one state: recycled noises on a chain are the first ones of their
steps, whatever the size, so all that a size adds is how many predictions are remembered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import numpy as np
import torch
from torch import Tensor

from redraft.draft.drafter import Denoiser
from redraft.execute import Executor, Local
from redraft.sampling.driver import Run
from redraft.sampling.errors import TargetError
from redraft.sampling.info import Info
from redraft.sampling.progress import Progress
from redraft.sampling.result import Result
from redraft.sampling.sampler import Sampler
from redraft.sampling.sequential import carry_on
from redraft.sampling.state import Rows, State
from redraft.sampling.strategy import Option, Strategy
from redraft.tree.cost import fit_cost
from redraft.tree.probing import Probing

__all__ = ["AdaptiveRun", "resized"]


class AdaptiveRun(Run):
    """A run of recycled drafts on chains whose size follows what the device does.

    Args:
        make: Makes the sampler of a tree specification.
        max_rows: Most rows of a round per sample.
        key: Of the chain; see `Strategy`.
    """

    def __init__(
        self,
        make: Callable[[str], Sampler],
        max_rows: int,
        key: str,
        denoiser: Denoiser,
        executor: Executor | None,
        progress: Progress,
        x_init: Tensor | None,
        keep_rounds: bool,
    ) -> None:
        self._make, self._key = make, key
        self._samplers = {max_rows: make(f"chain:{max_rows}")}
        self._probing = Probing(max_rows)
        self._clock = _Clock(executor or Local())
        super().__init__(
            self._samplers[max_rows], denoiser, self._clock, progress, x_init, keep_rounds
        )
        self._plain = self.sampler.num == 1 and not any(self.sampler.record) and not keep_rounds

    def _round(self) -> None:
        rows = self._probing.next()
        if self._probing.stopped and self._plain:
            self._carry_on()
            return
        self._switch(rows)
        if self._probing.stopped:
            super()._round()
            return
        batch, begin = len(self.state.owner), perf_counter()
        super()._round()
        assert self.last is not None
        self._look(rows, batch, self.last, perf_counter() - begin)

    def _carry_on(self) -> None:
        """Finish step by step; a model that raises leaves the run where speculation stopped."""
        failed: list[Rows] = []

        def guarded(denoiser: Denoiser, rows: Rows) -> Tensor:
            failed[:] = [rows]
            f = self.executor(denoiser, rows)
            failed.clear()
            return f

        report = self.report if self.progress else None
        before = self.state
        try:
            self.state = carry_on(self.sampler, before, self.denoiser, guarded, report)
        except Exception as error:
            if failed:
                raise TargetError(error, before, failed[0], self) from error
            raise
        done = int(self.state.calls[0] - before.calls[0])
        self.summary.num_rounds += done
        self.summary.num_draft_rows += done

    def _look(self, rows: int, batch: int, info: Info, seconds: float) -> None:
        """Take in a round; only those of full drafts tell the time of a call."""
        whole = info.limit == rows - 1
        ends = Counter(int(depth) for depth in info.depth[whole])
        full = bool(whole.all()) and info.num_draft_rows == rows * batch
        call = self._clock.seconds
        self._probing.saw(rows, call if full else None, seconds - call, dict(ends))

    def _switch(self, rows: int) -> None:
        """Go on with a chain of another size."""
        if rows not in self._samplers:
            self._samplers[rows] = self._make(f"chain:{rows}")
        if self._samplers[rows] is not self.sampler:
            self.sampler = self._samplers[rows]
            self.state = resized(self.state, self.sampler)

    def _result(self) -> Result:
        return replace(super()._result(), plan=self._strategy())

    def _strategy(self) -> Strategy:
        """Return what was chosen, and why."""
        probing, total = self._probing, self._levels
        seconds = probing.seconds
        options = [
            Option(
                None, None, "chain:1", 1, float(total), 0.0, total * seconds.get(1, np.nan), False
            )
        ]
        for rows in sorted(set(seconds) - {1}):
            calls = total / probing.commits(rows)
            options.append(
                Option(
                    "recycled",
                    "greedy",
                    f"chain:{rows}",
                    rows,
                    calls,
                    np.nan,
                    calls * seconds[rows],
                    False,
                )
            )
        chosen = (
            options[0]
            if probing.stopped
            else max(
                options,
                key=lambda option: probing.rate(option.rows) if option.rows in seconds else 0.0,
            )
        )
        notes = ()
        if probing.stopped and len(seconds) > 1:
            four = min(set(seconds) - {1})
            notes = (
                f"Speculation stopped: a round of {four} rows took "
                f"{seconds[four] / seconds[1]:.1f} times one row.",
            )
        cost = fit_cost(list(seconds), list(seconds.values())) if seconds else None
        return Strategy(chosen, tuple(options), None, cost, self._key, notes, self.sampler.seeds)


class _Clock:
    """An executor that times the last call of another."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.seconds = 0.0

    def __call__(self, denoiser: Denoiser, rows: Rows) -> Tensor:
        """Return the predictions (R, *shape)."""
        begin = perf_counter()
        f = self._executor(denoiser, rows)
        if isinstance(f, Tensor) and f.device.type != "cpu":
            torch.accelerator.synchronize(f.device)
        self.seconds = perf_counter() - begin
        return f


def resized(state: State, sampler: Sampler) -> State:
    """Return the same state for a chain of another size."""
    batch, size = len(state.owner), len(sampler.tree)
    memory = state.memory
    if memory is not None:
        missing = size - memory.f.shape[1]
        f = memory.f[:, :size]
        if missing > 0:
            f = torch.cat((f, f[:, -1:].expand(-1, missing, -1)), dim=1)
        memory = memory._replace(f=f)
    return state._replace(
        attempt=np.full((batch, size), -1),
        drawn=np.zeros((batch, size), dtype=np.int64),
        memory=memory,
    )
