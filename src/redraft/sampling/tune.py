"""Find the fastest exact way to run a chain: `redraft.tune`.

Three things are measured: what a call costs by its rows, on this device; what drafters can be
taught, on samples of their own; and how many calls they then take. Sizes in between are predicted
from how often drafts were accepted by step and depth (`redraft.tree.reach`). The ways of least
expected time then race each other and the sequential sampler, and the fastest is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from redraft.chain.chain import Chain
from redraft.chain.steps import Steps
from redraft.draft.calibration import Calibration, classes
from redraft.draft.drafter import Denoiser
from redraft.sampling import noise
from redraft.sampling.arguments import check_chain, check_shape
from redraft.sampling.cache import Kept
from redraft.sampling.calibrate import teach
from redraft.sampling.latency import measure_cost
from redraft.sampling.race import race
from redraft.sampling.strategy import Option, Strategy, chain_key
from redraft.tree.best import best as best_tree
from redraft.tree.cost import Cost
from redraft.tree.reach import expected_calls

__all__ = ["tune"]

_WAYS = (("recycled", "greedy"), ("free", "traversal"))
_SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
_RACE, _LAPS = 0x2ACE5, 3
_GAIN = 0.97
"""Share of the plain sampler's time that speculation must stay below to be chosen."""
_OWN = 2.5e-4
"""A guess at the seconds of a round beside its call; it only picks who takes part in the race."""


class _Limits(NamedTuple):
    seed: int
    max_rows: int
    num: int
    passes: int
    goal: str


class _Way(NamedTuple):
    drafter: str
    verifier: str
    tree: str
    taught: Calibration
    calls: float
    error: float


def tune(
    denoiser: Denoiser,
    chain: Chain,
    shape: Sequence[int],
    *,
    seed: int = 0,
    max_rows: int = 32,
    num: int = 64,
    passes: int = 3,
    goal: str = "time",
    name: str | None = None,
    cond: Mapping[str, Tensor] | None = None,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str = "cpu",
) -> Strategy:
    """Return the strategy for ``redraft.sample(..., plan=strategy)``.

    Args:
        denoiser: The target.
        chain: The sampler.
        shape: Shape of one sample.
        seed: An integer; the samples have nothing to do with those of `redraft.sample`.
        max_rows: Most rows of a call, per sample.
        num: Samples per pass of teaching; with ``cond``, as many as it has entries.
        passes: Passes of teaching.
        goal: "time": least expected seconds; "calls": least expected calls with at most
            ``max_rows`` rows, whatever a call costs.
        name: Of the model. If given, the strategy is kept in the user's cache folder
            (``$REDRAFT_CACHE``) and found there next time; use another name for other weights.
        cond: Conditioning of each sample, each tensor (num, ...).
        dtype: What the model is given.
        device: Where the states live.

    Raises:
        ValueError: If an argument is out of range.
    """
    if goal not in ("time", "calls"):
        raise ValueError(f"goal must be 'time' or 'calls', got {goal!r}")
    if max_rows < 1 or num < 2 or passes < 1:
        raise ValueError(
            f"max_rows >= 1, num >= 2 and passes >= 1 are needed, got {max_rows}, {num}, {passes}"
        )
    common: dict[str, Any] = {"cond": cond, "dtype": dtype, "device": device}
    limits = _Limits(seed, max_rows, num, passes, goal)
    if name is None:
        return _tune(denoiser, chain, shape, limits, common)
    given = sorted((key, tuple(value.shape[1:])) for key, value in (cond or {}).items())
    asked = (chain_key(check_chain(chain)), tuple(shape), limits, given, str(dtype))
    kept = Kept(name, asked, torch.device(device))
    found, ignored = kept.read()
    if found is not None:
        return found
    made = replace(_tune(denoiser, chain, shape, limits, common), origin=kept.origin)
    kept.write(made)
    return made if ignored is None else replace(made, notes=(*made.notes, ignored))


def _tune(
    denoiser: Denoiser,
    chain: Chain,
    shape: Sequence[int],
    limits: _Limits,
    common: dict[str, Any],
) -> Strategy:
    """Return the strategy; see `tune`."""
    seed, max_rows, num, passes, goal = limits
    cond, dtype, device = common["cond"], common["dtype"], common["device"]
    steps, size = Steps.of(check_chain(chain)), check_shape(shape)
    lone = {key: value[:1] for key, value in (cond or {}).items()}
    cost = measure_cost(denoiser, steps, size, max_rows, lone, dtype, torch.device(device))
    plain = Option(None, None, "chain:1", 1, float(steps.total), 0.0, steps.total * cost(1))
    if max_rows == 1 or int(steps.reach.max()) == 0:
        why = "No row is left to speculate on." if max_rows == 1 else "No step has noise."
        return Strategy(plain, (plain,), None, cost, chain_key(chain), (why,))

    def way(drafter: str, verifier: str, tree: str) -> _Way:
        taught, calls = teach(
            denoiser,
            chain,
            num,
            size,
            seed=seed,
            drafter=drafter,
            verifier=verifier,
            tree=tree,
            passes=passes,
            **common,
        )
        error = float(calls.std() / len(calls) ** 0.5)
        return _Way(drafter, verifier, tree, taught, float(calls.mean()), error)

    ways = [way(*rules, f"chain:{max_rows}") for rules in _WAYS]
    grown = _grown(ways[-1].taught, max_rows)
    if grown is not None:
        ways.append(way(*_WAYS[-1], grown))
    options = [plain]
    for one in ways:
        options += _options(one, steps, cost, max_rows, goal)
    seeds = [one.taught.seeds for one in ways]
    if goal == "time":
        raced = noise.spread(seed ^ _RACE, _LAPS)
        seeds.append(raced)
        times = race(
            denoiser,
            chain,
            shape,
            options,
            partial(_taught, ways=ways),
            raced,
            {**common, "cond": lone},
        )
        options = [times.get(option, option) for option in options]
        best = min(times.values(), key=lambda option: option.seconds or np.inf)
        if (best.seconds or 0.0) > _GAIN * (options[0].seconds or 0.0):
            best = options[0]
    else:
        best = min(options, key=lambda option: option.calls)
    taught = _taught(best, ways)
    return Strategy(
        best,
        tuple(options),
        taught,
        cost,
        chain_key(chain),
        _notes(best, plain, cost, max_rows),
        np.unique(np.concatenate(seeds)),
    )


def _taught(option: Option, ways: Sequence[_Way]) -> Calibration | None:
    """Return what an option's drafter was taught: on its own tree, or on the longest chain."""
    rules = (option.drafter, option.verifier)
    same = [one for one in ways if rules == (one.drafter, one.verifier)]
    own = next((one.taught for one in same if one.tree == option.tree), None)
    return own or (same[0].taught if same else None)


def _grown(taught: Calibration, rows: int) -> str | None:
    """Return the tree that reaches more than a chain at the acceptance seen; None if none does."""
    share = float(taught.accepted.sum() / max(taught.tried.sum(), 1.0))
    tree = best_tree(rows, min(max(round(share, 2), 0.01), 0.99))
    return tree.name if tree.width > 1 else None


def _options(way: _Way, steps: Steps, cost: Cost, max_rows: int, goal: str) -> list[Option]:
    """Return a way at every size; predictions are scaled to what was measured at the largest."""
    sizes = sorted({size for size in (*_SIZES, max_rows) if size <= max_rows})
    sizes = sizes[-1:] if goal == "calls" or not way.tree.startswith("chain") else sizes
    by_bin = way.taught.acceptance()
    place = way.taught.bin(np.arange(steps.total))
    table = by_bin[place][:, classes(np.arange(max_rows))]
    predicted = {}
    for size in sizes:
        limit = np.minimum(steps.reach[:-1], size - 1)
        limit[0] = 0  # the first round only asks the target at the root
        predicted[size] = expected_calls(table, limit)
    scale = way.calls / predicted[sizes[-1]]
    return [
        Option(
            way.drafter,
            way.verifier,
            f"chain:{size}" if way.tree.startswith("chain") else way.tree,
            size,
            scale * predicted[size],
            way.error * predicted[size] / predicted[sizes[-1]],
            scale * predicted[size] * (cost(size) + _OWN),
        )
        for size in sizes
    ]


def _notes(best: Option, plain: Option, cost: Cost, max_rows: int) -> tuple[str, ...]:
    """Return what a user should know."""
    ratio = cost(max_rows) / cost(1)
    if best.drafter is None:
        return (
            f"Speculation does not pay here: a call on {max_rows} rows takes {ratio:.1f} times one "
            "row. More steps, a device with idle capacity, or several devices would change that.",
        )
    if best.rows == max_rows and cost(max_rows) < 1.5 * cost(max_rows // 2 or 1):
        return (f"The most rows allowed, {max_rows}, are the best; more may be better still.",)
    return ()
