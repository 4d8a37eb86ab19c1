"""The JSON of a benchmark.

.. code-block:: text

    {"target", "steps", "rows", "num", "seed", "threads", "device", "dtype", "versions",
     "methods": [{"name", "drafter", "verifier", "tree", "freeze", "calls_mean", "calls_stderr",
                  "rows_mean", "wall_s_median", "speedup_calls", "speedup_wall", "own_share",
                  "acceptance_by_depth", "acceptance_by_step", "committed_per_round", ...}], ...}

Calls count every sequential target call, the first and the terminal one included. What does not
apply, or was not measured, is null. ``rows`` is the number of rows of a round, root included: one
number, or a list if several sizes were compared. ``taught_s``: seconds that a warm method was
taught for beforehand, in none of the other figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from redraft.bench.environment import versions
from redraft.bench.methods import SEQUENTIAL
from redraft.bench.runner import Outcome, Record

__all__ = ["document", "method_entry", "settings_entry"]


def document(
    outcome: Outcome, *, against: str | None, repeats: int, reference: Record | None = None
) -> dict[str, Any]:
    """Return everything that ``redraft bench`` knows, ready for JSON.

    Args:
        outcome: What was measured.
        against: Name of the method whose calls the others are divided by, at equal tree.
        repeats: As in `run_bench`.
        reference: What the calls of all are divided by instead, whatever the tree.
    """
    latency = outcome.latency if outcome.latency and outcome.latency.measured else None
    references = {
        record.method.tree: record for record in outcome.records if record.method.name == against
    }
    if reference is not None:
        against = reference.method.title
    methods = []
    for record in outcome.records:
        entry = method_entry(record, outcome)
        entry |= _ideal(entry, record, outcome)
        entry |= _ratio(record, reference or references.get(record.method.tree))
        methods.append(entry)
    loop, wall = latency and latency.loop(), _wall(outcome.baseline)
    return settings_entry(outcome) | {
        "repeats": repeats,
        "against": against,
        "interrupted": outcome.interrupted,
        "failed": outcome.failed,
        "latency_s": {str(rows): s for rows, s in latency.calls().items()} if latency else None,
        "bare_loop_s": loop,
        "sequential_wall_s": wall,
        "sequential_overhead": wall / loop - 1.0 if loop and wall else None,
        "methods": methods,
    }


def settings_entry(outcome: Outcome) -> dict[str, Any]:
    """Return what was run, and where."""
    job = outcome.job
    sizes = sorted({r.method.rows for r in outcome.records if r.method.name != SEQUENTIAL})
    return {
        "target": job.target.name,
        "chain": job.chain.name,
        "steps": job.chain.num_steps,
        "rows": sizes[0] if len(sizes) == 1 else sizes or 1,
        "num": job.num,
        "seed": job.seed,
        "threads": torch.get_num_threads(),
        "device": str(job.device),
        "dtype": str(job.dtype).removeprefix("torch."),
        "versions": versions(),
    }


def method_entry(record: Record, outcome: Outcome) -> dict[str, Any]:
    """Return what is known of one method, ready for JSON."""
    method, calls = record.method, record.calls
    steps = outcome.job.chain.calls_sequential
    wall, base = _wall(record), _wall(outcome.baseline)
    own = [run.own_share for run in record.runs]
    return {
        "name": method.name,
        "drafter": method.drafter,
        "verifier": method.verifier,
        "tree": method.tree,
        "freeze": method.freeze,
        "prefetch": method.prefetch,
        "warm": method.warm,
        "taught_s": outcome.job.teach(method).seconds if method.warm else None,
        "rows": method.rows,
        "calls_mean": float(calls.mean()),
        "calls_stderr": 0.0 if method.name == SEQUENTIAL else _stderr(calls),
        "rows_mean": float(record.rows.mean()),
        "wall_s_median": wall,
        "speedup_calls": steps / float(calls.mean()),
        "speedup_wall": base / wall if base and wall else None,
        "own_share": median(own) if own else None,
        "acceptance_by_depth": _acceptance(record),
        "tried_by_depth": [int(count) for count in _tries(record)[1]],
        "acceptance_by_step": _shares(record.by_step),
        "committed_per_round": steps / float(calls.mean()),
    }


def _ideal(entry: dict[str, Any], record: Record, outcome: Outcome) -> dict[str, Any]:
    """Calls of the timed runs times the latency of a call on the method's rows."""
    latency, base = outcome.latency, _wall(outcome.baseline)
    ideal = None
    if latency is not None and latency.measured and record.runs:
        seconds = latency.calls()
        per_call = np.mean([seconds[rows] for rows in record.method.call_rows()])
        ideal = median(int(run.result.calls[0]) for run in record.runs) * float(per_call)
    wall = entry["wall_s_median"]
    return {
        "ideal_s": ideal,
        "ideal_speedup_wall": base / ideal if base and ideal else None,
        "fraction_of_ideal": ideal / wall if ideal and wall else None,
    }


def _ratio(record: Record, reference: Record | None) -> dict[str, Any]:
    r"""Ratio R of mean calls to the reference's, with its standard error.

    Samples are paired by their noise keys: :math:`\mathrm{se}^2 = \mathrm{var}(c - R c') / (n
    \bar c'^2)`.
    """
    ratio = error = None
    if reference is not None and record.method.name != SEQUENTIAL:
        ours, theirs = record.calls.astype(float), reference.calls.astype(float)
        ratio = float(ours.mean() / theirs.mean())
        spread = _stderr(ours - ratio * theirs)
        error = None if spread is None else spread / float(theirs.mean())
    return {"calls_ratio": ratio, "calls_ratio_stderr": error}


def _acceptance(record: Record) -> list[float | None]:
    """Share of the tries at depth 1, 2, ... that were accepted; null where none was made."""
    return _shares(_tries(record))


def _tries(record: Record) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return how many drafts were (accepted, tried) at depth 1, 2, ..."""
    if record.method.name == SEQUENTIAL:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    tried = sum(np.asarray(result.summary.tried_per_depth) for result in record.counted)
    accepted = sum(np.asarray(result.summary.accepted_per_depth) for result in record.counted)
    return np.atleast_1d(accepted), np.atleast_1d(tried)


def _shares(counts: tuple[NDArray[Any], NDArray[Any]] | None) -> list[float | None]:
    """Return accepted / tried of each entry; None where nothing was tried."""
    if counts is None:
        return []
    return [float(yes / all_) if all_ else None for yes, all_ in zip(*counts, strict=True)]


def _stderr(values: Sequence[float] | NDArray[Any]) -> float | None:
    """Standard error of a mean; None for a single value, which does not tell."""
    count = len(values)
    return None if count < 2 else float(np.std(values, ddof=1) / math.sqrt(count))


def _wall(record: Record) -> float | None:
    """Median seconds of a sample."""
    return median(run.wall for run in record.runs) if record.runs else None
