"""Run a sampler to its end: `redraft.sample`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from redraft.chain.chain import Chain
from redraft.coupling.verifier import Verifier
from redraft.draft.drafter import Denoiser, Drafter
from redraft.execute import Executor, Local
from redraft.sampling.arguments import check_denoiser
from redraft.sampling.errors import TargetError
from redraft.sampling.info import Info
from redraft.sampling.progress import Progress, reporting
from redraft.sampling.result import Result, Summary
from redraft.sampling.sampler import Sampler
from redraft.tree.tree import Tree

__all__ = ["Run", "sample"]


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
        with torch.no_grad(), reporting(self.progress, total) as report:
            while not self.state.done:
                self._round()
                if self.progress:
                    report(self._committed())
        return self._result()

    def _round(self) -> None:
        rows = self.sampler.plan(self.state)
        try:
            f = self.executor(self.denoiser, rows)
        except Exception as error:
            raise TargetError(error, self.state, rows, self) from error
        state, info = self.sampler.commit(self.state, rows, f)
        self._record(info)
        self.state = state

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


def sample(
    denoiser: Denoiser,
    chain: Chain,
    num: int,
    shape: Sequence[int],
    *,
    seed: int | Sequence[int],
    drafter: str | Drafter = "recycled",
    verifier: str | Verifier = "greedy",
    tree: str | Tree = "chain:16",
    cond: Mapping[str, Tensor] | None = None,
    executor: Executor | None = None,
    trajectory: bool = False,
    log_prob: bool = False,
    rounds: bool = False,
    progress: Progress = None,
    x_init: Tensor | None = None,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> Result:
    r"""Sample a chain exactly, with fewer sequential calls of its model.

    The law of every path :math:`(x_0, \dots, x_N)`, and so of the samples, is the chain's own:

    .. math:: x_{n+1} \sim N(a_n x_n + b_n f(x_n, \mathrm{level}_n), \mathrm{std}_n^2 I).

    Args:
        denoiser: The target, ``denoiser(x, level, **cond) -> x0``: x (R, *shape), level (R,), each
            cond tensor (R, ...). Guidance, clipping and the like are part of it. It must treat its
            rows independently.
        chain: The sampler, e.g. ``redraft.chain.ancestral(sigmas)``.
        num: Number of samples; they advance independently.
        shape: Shape of one sample.
        seed: One integer, or one per sample.
        drafter: "recycled", "free", "frozen", or an object such as ``redraft.draft.Model(cheap)``.
        verifier: "greedy", "traversal" or "reflection".
        tree: "chain:M" or "kary:K,D"; M, the number of rows per sample and call, trades rows for
            calls.
        cond: Conditioning of each sample, each tensor (num, ...).
        executor: Runs the target on a round's rows; ``redraft.execute.Local(max_rows)`` chunks.
        trajectory: Return all states.
        log_prob: Return the log-density of every step under the target.
        rounds: Return what each round did.
        progress: True for a bar, or a callable told (committed steps, all steps).
        x_init: (num, *shape) initial states; drawn if None.
        dtype: What the model is given. Chain states are kept in float32 at least.
        device: Where the states live.

    Returns:
        Samples, calls and rows per sample, seeds, and what was requested.

    Raises:
        ValueError: For bad arguments, each named; see also `Sampler`.
        NonFiniteError: If the model returns NaN or infinity on a committed path.
        TargetError: If the model raises; ``error.run.finish()`` goes on from there.
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
        record=trajectory,
        log_prob=log_prob,
        delta=rounds,
    )
    return Run(sampler, denoiser, executor, progress, x_init, rounds).finish()
