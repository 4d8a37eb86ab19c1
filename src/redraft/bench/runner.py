"""Run methods side by side, in one process and in turn.

Calls are counted on all samples, one batch per method, every method with the same noise keys. Time
is measured one sample at a time: each repeat runs every method on a few samples in turn and times
the bare target between them, so that what disturbs the machine disturbs all alike.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from redraft.bench.job import Job, Run
from redraft.bench.latency import Latency
from redraft.bench.methods import SEQUENTIAL, Method
from redraft.sampling import NonFiniteError, Result, TargetError
from redraft.sampling.info import Info

__all__ = ["Outcome", "Record", "Report", "run_bench", "run_each"]

TIMED_SAMPLES = 4
BINS = 20

Ints = NDArray[np.int64]

Report = Callable[[str, int, int], None]
"""Told (what is running, committed steps, all steps) of the current phase."""


@dataclass
class Record:
    """What is known of one method.

    Attributes:
        method: The method.
        counted: Results that calls, rows and acceptance are taken from.
        runs: Timed runs, one sample each.
        by_step: Drafts (accepted, tried) by the chain step that they lead to, in BINS bins; None if
            it was not counted.
    """

    method: Method
    counted: list[Result] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    by_step: tuple[Ints, Ints] | None = None

    @property
    def calls(self) -> NDArray[np.int64]:
        """Target calls of each sample."""
        return np.concatenate([result.calls for result in self.counted])

    @property
    def rows(self) -> NDArray[np.int64]:
        """Rows of each sample."""
        return np.concatenate([result.rows for result in self.counted])


@dataclass
class Outcome:
    """Everything that was measured.

    Attributes:
        job: What was sampled.
        records: One per method that was run, in the order asked for.
        baseline: The sequential sampler's, timed even if nobody asked for it.
        latency: Timings of the target alone; None if nothing was timed.
        interrupted: Whether the user stopped it early.
        failed: What went wrong with methods that could not be run, by title.
    """

    job: Job
    records: list[Record]
    baseline: Record
    latency: Latency | None = None
    interrupted: bool = False
    failed: dict[str, str] = field(default_factory=dict)


def run_bench(
    job: Job,
    methods: Sequence[Method],
    *,
    repeats: int,
    wall: bool,
    report: Report,
    strict: bool = True,
) -> Outcome:
    """Run methods on a job; Ctrl-C returns what is finished by then.

    Args:
        job: What is sampled.
        methods: What is compared.
        repeats: Times that every method is timed on each of the timed samples.
        wall: Whether time is measured at all.
        report: Told of the progress, outside of what is timed.
        strict: Whether a method that cannot be run ends it all, with its `NonFiniteError` or
            `TargetError`, or is only noted.
    """
    records = [Record(method) for method in methods]
    outcome = Outcome(job, records, _baseline(records))
    try:
        _count(outcome, report, strict)
        if wall:
            _time(outcome, repeats, report)
    except KeyboardInterrupt:
        outcome.interrupted = True
    outcome.records = [record for record in records if record.counted]
    return outcome


def _count(outcome: Outcome, report: Report, strict: bool) -> None:
    """Run every method on all samples."""
    for record in outcome.records:
        try:
            _count_one(record, outcome.job, report)
        except (NonFiniteError, TargetError) as error:
            if strict:
                raise
            outcome.failed[record.method.title] = str(error)


def _count_one(record: Record, job: Job, report: Report) -> None:
    """Run a method on all samples; the sequential one on one, as all take the same calls."""
    if record.method.goal is not None:
        report(f"tuning: {record.method.title}", 0, 1)
        record.method = job.settle(record.method)
    title = f"calls: {record.method.title}"
    plain = record.method.name == SEQUENTIAL
    if record.method.warm:
        report(f"teaching: {record.method.title}", 0, 1)
        job.teach(record.method)
    result = job.sample(
        record.method,
        range(1 if plain else job.num),
        progress=lambda done, total: report(title, done, total),
        rounds=not plain,
    )
    if result.rounds is not None:
        record.by_step = _by_step(result.rounds, job.chain.num_steps)
    record.counted.append(replace(result, rounds=None))


def _by_step(rounds: Sequence[Info], steps: int) -> tuple[Ints, Ints]:
    """Return the drafts (accepted, tried) by the step that they lead to, in equal bins."""
    bins = min(BINS, steps)
    accepted, tried = np.zeros(bins, dtype=np.int64), np.zeros(bins, dtype=np.int64)
    for info in rounds:
        level = np.arange(1, info.height + 1)
        where = np.minimum(info.step[:, None] + level - 1, steps - 1) * bins // steps
        tries = (info.depth[:, None] >= level - 1) & (info.limit[:, None] >= level)
        np.add.at(tried, where[tries], 1)
        np.add.at(accepted, where[tries & (info.depth[:, None] >= level)], 1)
    return accepted, tried


def _time(outcome: Outcome, repeats: int, report: Report) -> None:
    """Time every method, one sample at a time, and the target alone."""
    job, records = outcome.job, [record for record in outcome.records if record.counted]
    if outcome.baseline not in records:
        records.insert(0, outcome.baseline)
    samples = range(min(TIMED_SAMPLES, job.num))
    steps = job.chain.calls_sequential
    total, done = repeats * len(samples) * len(records) * steps, 0
    latency = Latency(job, [rows for record in records for rows in record.method.call_rows()])
    outcome.latency = latency
    for record in records:
        job.run_once(record.method, 0)  # warm-up
    gc.collect()
    for _ in range(repeats):
        for which in samples:
            latency.measure()
            for record in records:
                report(f"wall-clock: {record.method.title}", done, total)
                record.runs.append(job.run_once(record.method, which))
                done += steps


def run_each(job: Job, methods: Sequence[Method], *, report: Report) -> Outcome:
    """Draw all samples one after another, each by every method in turn, and time them.

    Ctrl-C returns the samples that every method has finished.

    Args:
        job: What is sampled.
        methods: The methods.
        report: Told of each method's committed steps and own seconds so far, between samples.
    """
    records = [Record(method) for method in methods]
    steps = job.chain.calls_sequential
    outcome = Outcome(job, records, _baseline(records))
    try:
        for record in records:
            record.method = job.settle(record.method)
            job.run_once(record.method, 0)  # warm-up
        for which in range(job.num):
            runs = [job.run_once(record.method, which) for record in records]
            for record, run in zip(records, runs, strict=True):
                record.runs.append(run)
                report(record.method.title, (which + 1) * steps, job.num * steps)
    except KeyboardInterrupt:
        outcome.interrupted = True
    finished = min(len(record.runs) for record in records)
    for record in records:
        record.runs = record.runs[:finished]
        record.counted = [run.result for run in record.runs]
    return outcome


def _baseline(records: list[Record]) -> Record:
    """The sequential sampler's record, or an empty one if it is not among them."""
    asked = [record for record in records if record.method.name == SEQUENTIAL]
    return asked[0] if asked else Record(Method(SEQUENTIAL))
