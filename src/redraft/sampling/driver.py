"""Run a sampler to its end."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from redraft.draft.drafter import Denoiser
from redraft.execute import Executor, Local
from redraft.sampling.arguments import check_denoiser
from redraft.sampling.errors import TargetError
from redraft.sampling.info import Info
from redraft.sampling.progress import Progress, reporting
from redraft.sampling.result import Result, Summary
from redraft.sampling.sampler import Sampler

__all__ = ["Run"]


class Run:
    """A run in progress: the state machine, the target, and what has been recorded so far.

    Attributes:
        sampler: The parts.
        state: State after the last committed round.
    """

    def __init__(
        self,
        sampler: Sampler,
        denoiser: Denoiser,
        executor: Executor | None,
        progress: Progress,
        x_init: Tensor | None,
        keep_rounds: bool,
    ) -> None:
        check_denoiser(denoiser)
        self.sampler = sampler
        self.denoiser = denoiser
        self.executor = executor or Local()
        self.progress = progress
        self.summary = Summary(sampler.tree.height)
        self.rounds: list[Info] | None = [] if keep_rounds else None
        self.state = sampler.init(x_init)
        self.last: Info | None = None
        self._levels = len(sampler.steps.level)
        self._states: Tensor | None = None
        self._log_prob: np.ndarray | None = None
        if sampler.record.states:
            path = self.state.x.new_zeros(sampler.num, self._levels + 1, sampler.dim)
            path[:, 0] = self.state.x
            self._states = path
        if sampler.record.log_prob:
            self._log_prob = np.zeros((sampler.num, self._levels))

    def finish(self) -> Result:
        """Run to the end and return the result; may be called again after a `TargetError`."""
        total = self.sampler.num * self._levels
        with torch.no_grad(), reporting(self.progress, total) as self.report:
            while not self.state.done:
                self._round()
                if self.progress:
                    self.report(self._committed())
        return self._result()

    def _round(self) -> None:
        rows = self.sampler.plan(self.state)
        try:
            f = self.executor(self.denoiser, rows)
        except Exception as error:
            raise TargetError(error, self.state, rows, self) from error
        state, info = self.sampler.commit(self.state, rows, f)
        self._record(info)
        self.state, self.last = state, info

    def _committed(self) -> int:
        running = int(self.state.step.sum())
        return running + (self.sampler.num - len(self.state.owner)) * self._levels

    def _record(self, info: Info) -> None:
        self.summary.add(info)
        if self.rounds is not None:
            self.rounds.append(info)
        if info.states is None and info.log_prob is None:
            return
        entry = np.arange(int(info.num_committed.max()))
        row, column = np.nonzero(entry < info.num_committed[:, None])
        owner, step = info.owner[row], info.step[row] + column
        if self._states is not None and info.states is not None:
            self._states[owner, step + 1] = info.states[row, column]
        if self._log_prob is not None and info.log_prob is not None:
            self._log_prob[owner, step] = info.log_prob[row, column]

    def _result(self) -> Result:
        sampler = self.sampler
        steps = self._levels - sampler.has_terminal
        shape = (sampler.num, steps + 1, *sampler.shape)
        trajectory = log_prob = None
        if self._states is not None:
            trajectory = self._states[:, : steps + 1].reshape(shape)
        if self._log_prob is not None:
            log_prob = torch.from_numpy(self._log_prob[:, :steps].copy())
        return Result(
            samples=self.state.samples.reshape(sampler.num, *sampler.shape),
            calls=self.state.calls,
            rows=self.state.rows,
            seeds=sampler.seeds,
            summary=self.summary,
            trajectory=trajectory,
            log_prob=log_prob,
            rounds=self.rounds,
        )
