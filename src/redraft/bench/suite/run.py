"""Run the cells of a suite that are not there yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from time import perf_counter
from typing import Any

import torch

from redraft.bench.document import document
from redraft.bench.environment import device_name, environment, source_digest, versions
from redraft.bench.job import Job
from redraft.bench.methods import AUTO
from redraft.bench.protocol import noisy_part
from redraft.bench.runner import Report, run_bench
from redraft.bench.suite.cell import Cell
from redraft.bench.suite.store import Store
from redraft.bench.targets import make_target

__all__ = ["Outcome", "Settings", "Tell", "run_suite"]

Tell = Callable[[str, float, float], None]
"""Told (what is running, work done, all work) in units of `Cell.weight`, kept cells included."""


@dataclass(frozen=True)
class Settings:
    """What all cells of a suite share.

    Attributes:
        num: Samples that calls are counted on.
        seed: Seed of all of them.
        taught: Samples per pass that warm methods are taught on.
        repeats: Rounds of timing.
        threads: CPU threads.
        device: Where to run.
        dtype: What the model is given.
    """

    num: int
    seed: int = 0
    taught: int = 64
    repeats: int = 3
    threads: int = 1
    device: torch.device = torch.device("cpu")
    dtype: torch.dtype = torch.float32

    def key(self) -> dict[str, Any]:
        """Return all that a cell's numbers depend on, besides the cell."""
        return {
            **vars(self),
            "device": str(self.device),
            "dtype": str(self.dtype).removeprefix("torch."),
            "hardware": device_name(self.device),
            "versions": versions(),
            "source": source_digest(),
        }


@dataclass
class Outcome:
    """What became of a suite's cells, by title.

    Attributes:
        resumed: Kept from earlier.
        finished: Measured now.
        failed: Why methods could not be run, by cell and method.
        interrupted: Whether the user stopped it early.
    """

    resumed: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False


def run_suite(
    name: str,
    cells: Sequence[Cell],
    settings: Settings,
    store: Store,
    *,
    command: str,
    tell: Tell,
) -> Outcome:
    """Measure the cells that are not kept yet, and keep each as soon as it is finished.

    Args:
        name: Of the suite.
        cells: What is wanted.
        settings: What they share.
        store: Where they are kept.
        command: How the user asked for it.
        tell: Told of the progress, outside of what is timed.
    """
    key, outcome, began = settings.key(), Outcome(), _now()
    store.begin(
        {
            "suite": name,
            "command": command,
            "date": began,
            "settings": key,
            "environment": environment(),
            "cells": [cell.slug for cell in cells],
        }
    )
    weights = [cell.weight(settings.num, settings.taught) for cell in cells]
    total = sum(weights)
    kept = [store.get(cell, key) for cell in cells]
    done = sum(weight for weight, there in zip(weights, kept, strict=True) if there)
    outcome.resumed = [cell.title for cell, there in zip(cells, kept, strict=True) if there]
    for cell, weight, there in zip(cells, weights, kept, strict=True):
        if there:
            continue
        report = _parts(cell, done, weight, total, tell)
        if not _measure(cell, settings, store, report, outcome):
            break
        done += weight
    tell("done", done, total)
    return outcome


def make_job(cell: Cell, settings: Settings) -> Job:
    """Return what a cell samples."""
    target = make_target(cell.target, device=settings.device, dtype=settings.dtype)
    chain = target.make_chain(cell.steps)
    job = Job(target, chain, settings.num, settings.seed, settings.device, settings.dtype)
    job = replace(job, taught=settings.taught)
    return replace(job, chain=noisy_part(chain), warm_up=True) if cell.protocol else job


def _measure(
    cell: Cell, settings: Settings, store: Store, report: Report, outcome: Outcome
) -> bool:
    """Measure and keep one cell; return whether to go on."""
    begin = perf_counter()
    found = run_bench(
        make_job(cell, settings),
        cell.parsed(),
        repeats=settings.repeats,
        wall=cell.wall,
        report=report,
        strict=False,
    )
    if found.interrupted:
        outcome.interrupted = True
        return False
    for title, error in found.failed.items():
        outcome.failed[f"{cell.title}, {title}"] = error
    reference = cell.best_baseline(found.records)
    kept = {
        "date": _now(),
        "seconds": round(perf_counter() - begin, 1),
        "found": document(found, against=None, repeats=settings.repeats, reference=reference),
    }
    store.put(cell, settings.key(), kept)
    outcome.finished.append(cell.title)
    return True


def _parts(cell: Cell, before: float, weight: float, total: float, tell: Tell) -> Report:
    """Return a report for `run_bench` that adds its phases up to the cell's share of the work."""
    seen: dict[str, None] = {}
    names = [name for name, _ in cell.methods]
    count = len(names) + cell.wall + sum(":warm" in name for name in names)
    count += 2 * sum(name in AUTO for name in names)

    def report(title: str, done: int, all_: int) -> None:
        phase = title.partition(":")[0] if title.startswith("wall-clock") else title
        seen.setdefault(phase)
        share = min((len(seen) - 1 + done / max(all_, 1)) / count, 1.0)
        tell(f"{cell.title}: {title}", before + weight * share, total)

    return report


def _now() -> str:
    """Return date and time, UTC."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
