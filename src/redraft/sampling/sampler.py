r"""The round as a state machine without a model inside.

.. code-block:: python

    sampler = Sampler(chain, num, shape, seed, drafter="recycled", tree="chain:16")
    state = sampler.init()
    while not state.done:
        rows = sampler.plan(state)
        f = target(rows.x, rows.level, **rows.cond)
        state, info = sampler.commit(state, rows, f)

`plan` and `commit` are pure given the state: anyone may run the call between them, on any machine,
together with rows of other runs, and may repeat it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from redraft.chain.chain import Chain
from redraft.chain.steps import Steps
from redraft.coupling.verifier import Verifier
from redraft.draft.drafter import Denoiser, Drafter, Ints
from redraft.sampling import noise, parts
from redraft.sampling.arguments import check_chain, check_cond, check_count, check_shape, start
from redraft.sampling.commit import commit
from redraft.sampling.info import Info
from redraft.sampling.plan import plan
from redraft.sampling.record import Recorder
from redraft.sampling.solo import solo
from redraft.sampling.state import Rows, State
from redraft.sampling.windows import windows
from redraft.tree import grow
from redraft.tree.tree import Tree

__all__ = ["Sampler"]


class Sampler:
    """A chain, a drafter, a tree and a verifier, ready to run `num` samples of one shape.

    Args:
        chain: The sampler whose law is kept.
        num: Number of samples.
        shape: Shape of one sample.
        seed: One integer, or one per sample.
        drafter: Name or object; see `redraft.draft`.
        verifier: Name or object; see `redraft.coupling`.
        tree: Specification or object; see `redraft.tree.grow`.
        cond: Conditioning of each sample, each tensor (num, ...).
        dtype: What the model is given; chain states are kept in float32 at least.
        device: Where states live.
        record: Whether `Info` holds the committed states.
        log_prob: Whether `Info` holds their log-densities.
        delta: Whether `Info` holds the draft distances at visited nodes.
        evidence: Whether `Info` holds what calibrates the drafter.

    Raises:
        ValueError: If a name is unknown, or parts do not go together.
    """

    def __init__(
        self,
        chain: Chain,
        num: int,
        shape: Sequence[int],
        seed: int | Sequence[int],
        *,
        drafter: str | Drafter = "recycled",
        verifier: str | Verifier = "greedy",
        tree: str | Tree = "chain:16",
        cond: Mapping[str, Tensor] | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
        record: bool = False,
        log_prob: bool = False,
        delta: bool = False,
        evidence: bool = False,
    ) -> None:
        self.num = check_count(num)
        self.shape = check_shape(shape)
        self.dim = math.prod(self.shape)
        self.device = parts.check_device(device)
        self.dtype, self.state_dtype = parts.check_dtype(dtype)
        self.seeds = noise.spread(seed, num)
        self.steps = Steps.of(check_chain(chain))
        self.tree = grow(tree)
        self.windows = windows(self.steps, self.tree.height)
        self.reach = np.minimum(self.steps.reach, self.tree.height)
        self.verifier = parts.verifier(verifier)
        self.drafter = parts.drafter(drafter)
        parts.check_together(self.drafter, self.verifier, self.tree)
        parts.check_unseen(self.drafter, self.seeds)
        self.cond = check_cond(cond, num, self.device)
        self.record = Recorder(record, log_prob, delta, evidence)
        self.init_std = chain.init_std
        single = self.state_dtype == torch.float32
        self.level = self.steps.level.astype(np.float32 if single else np.float64)  # never half
        self.has_terminal = chain.terminal is not None
        self.keys = {
            stream: noise.stream_keys(self.seeds, stream)
            for stream in (noise.INIT, noise.DRAFT, noise.DECIDE, noise.RESIDUAL)
        }
        self.draw = self.drafter.prepare(self.steps, self.tree, self.device)
        self.looks_ahead = self.drafter.keeps_noise and self.tree.width <= 1
        self._solo = solo(self)

    def init(self, x_init: Tensor | None = None) -> State:
        """Return the state before the first round.

        Args:
            x_init: (num, *shape) states x_0; drawn from N(0, init_std^2 I) if None.
        """
        x = start(self, x_init)
        owner = np.arange(self.num)
        zero = np.zeros(self.num, dtype=np.int64)
        return State(
            owner=owner,
            step=zero,
            x=x,
            attempt=np.full((self.num, len(self.tree)), -1),
            drawn=np.zeros((self.num, self.tree.height + 1), dtype=np.int64),
            memory=None,
            ready=np.full(self.num, not self.drafter.needs_memory),
            lookahead=None,
            samples=torch.zeros_like(x),
            calls=zero,
            rows=zero,
        )

    def plan(self, state: State) -> Rows:
        """Grow a draft tree below every committed state; return the rows where f is wanted."""
        rows = self._solo.plan(state) if self._solo else None
        return plan(self, state) if rows is None else rows

    def commit(self, state: State, rows: Rows, f: Tensor) -> tuple[State, Info]:
        """Verify the drafts against the target's predictions f (R, *shape); commit >= 1 state.

        Raises:
            ValueError: If f has another shape than ``rows.x``.
            TypeError: If f is not a floating-point tensor.
            NonFiniteError: If f is NaN or infinite at a row on the committed path.
        """
        done = self._solo.commit(state, rows, f) if self._solo else None
        return commit(self, state, rows, f) if done is None else done

    def place(self, x: Tensor, owner: Ints, step: Ints) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Return states (R rows of D) as the model wants them: x, level and cond of every row."""
        level = torch.from_numpy(self.level[step])
        if self.device.type == "cpu" and self.dtype == torch.float32:
            x = torch.from_numpy(x.numpy().astype(np.float32))
        else:
            level = level.to(self.device)
            x = x.to(self.dtype, copy=True)  # a model may write to its input
        return x.reshape(len(owner), *self.shape), level, self.condition(owner)

    def condition(self, owner: Ints) -> dict[str, Tensor]:
        """Return the conditioning of every row (R, ...)."""
        if not self.cond:
            return {}
        index = torch.from_numpy(owner).to(self.device)
        return {key: value[index] for key, value in self.cond.items()}

    def call_cheap(self, owner: Ints, denoiser: Denoiser, x: Tensor, step: Ints) -> Tensor:
        """Evaluate a cheap model at states (B, k, D) that stand at steps (B, k)."""
        batch, count, dim = x.shape
        rows, level, cond = self.place(x, np.repeat(owner, count), step.reshape(-1))
        f = denoiser(rows, level, **cond)
        if not isinstance(f, Tensor) or f.shape != rows.shape:
            got = tuple(f.shape) if isinstance(f, Tensor) else type(f).__name__
            raise ValueError(
                f"the drafter's model returned {got} for rows of shape {tuple(rows.shape)}; "
                "it must return a prediction of the same shape"
            )
        return f.to(self.state_dtype).reshape(batch, count, dim)
