"""`redraft.sample`: one call from a model and a chain to samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from redraft.chain.chain import Chain
from redraft.coupling.verifier import Verifier
from redraft.draft.drafter import Denoiser, Drafter
from redraft.execute import Executor
from redraft.sampling.adaptive import AdaptiveRun
from redraft.sampling.arguments import auto_rows, check_count
from redraft.sampling.driver import Run
from redraft.sampling.noise import spread
from redraft.sampling.progress import Progress
from redraft.sampling.result import Result
from redraft.sampling.sampler import Sampler
from redraft.sampling.sequential import sequential
from redraft.sampling.strategy import Strategy, chain_key
from redraft.tree.tree import Tree

__all__ = ["sample"]


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
    plan: Strategy | None = None,
    deterministic: bool = False,
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
        verifier: "greedy", "traversal", "reflection", or for bushy trees "ranked", "optimal".
        tree: "chain:M", "kary:K,D" or "best:M,A" (see `redraft.tree.grow`); M, the number of rows
            per sample and call, trades rows for calls. "auto" or "auto:M": chooses the rows (up to
            M, 32 by default) from round to round by what they cost here, and stops speculating if
            it does not pay.
        cond: Conditioning of each sample, each tensor (num, ...).
        plan: What `redraft.tune` has chosen, or the plan of an earlier result of other seeds, in
            the place of drafter, verifier and tree.
        deterministic: Forbid choices that depend on the clock: with tree="auto", a plan is needed.
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
    common: dict[str, Any] = {"cond": cond, "dtype": dtype, "device": device}
    if plan is not None:
        plan.check(chain, spread(seed, check_count(num)))
        if not plan.speculates and not rounds:
            result = sequential(
                denoiser,
                chain,
                num,
                shape,
                seed=seed,
                executor=executor,
                trajectory=trajectory,
                log_prob=log_prob,
                progress=progress,
                x_init=x_init,
                **common,
            )
            return replace(result, plan=plan)
        drafter, verifier, tree = plan.parts()
    rules: dict[str, Any] = {"drafter": drafter, "verifier": verifier, **common}
    record: dict[str, Any] = {"record": trajectory, "log_prob": log_prob, "delta": rounds}

    def make(spec: str | Tree) -> Sampler:
        return Sampler(chain, num, shape, seed, tree=spec, **rules, **record)

    most = auto_rows(tree, drafter, verifier, deterministic)
    if most is not None:
        adaptive = AdaptiveRun(
            make, most, chain_key(chain), denoiser, executor, progress, x_init, rounds
        )
        return adaptive.finish()
    result = Run(make(tree), denoiser, executor, progress, x_init, rounds).finish()
    return result if plan is None else replace(result, plan=plan)
