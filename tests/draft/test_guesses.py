"""What each drafter guesses at a node, read off a run: which earlier prediction, of which node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from redraft import chain, draft
from redraft.sampling import Info, Rows, Sampler, State
from tests.sampling.problems import bimodal
from tests.sampling.small import elementwise
from tests.sampling.stepping import step

NUM, ROWS = 12, 4
PROBLEM = bimodal()._replace(chain=chain.ancestral(chain.karras(30, 3.0, 0.1, rho=3.0)))


class Round(NamedTuple):
    """A round of a chain of drafts: its predictions (B, T, D), and what it decided."""

    rows: Rows
    f: Tensor
    info: Info
    after: State


def rounds(drafter: Any, seed: int = 2) -> list[Round]:
    """Run to where the first sample is near the end, so that the batch and the tree stay whole."""
    sampler = Sampler(PROBLEM.chain, NUM, (2,), seed, drafter=drafter, tree=f"chain:{ROWS}")
    state, played = sampler.init(), []
    while int(state.step.max()) < PROBLEM.chain.num_steps - ROWS:
        after, info, rows = step(sampler, state, PROBLEM.target)
        f = PROBLEM.target(rows.x, rows.level).reshape(NUM, -1, 2)
        played.append(Round(rows, f, info, after))
        state = after
    assert len(played) >= 3
    return played


def guesses(played: Round) -> Tensor:
    assert played.rows.plan is not None
    return played.rows.plan.draft.guess


def bases(last: Round) -> np.ndarray:
    """Return the node that the new root replaces, or where the path stopped before a bonus."""
    return last.info.depth + last.info.recovered


@pytest.mark.parametrize("prefetch", ["nearest", "parent"])
def test_free_takes_one_prediction_of_the_round_before(prefetch: str) -> None:
    played = rounds(draft.Free(prefetch=prefetch))
    for last, now in zip(played, played[1:], strict=False):
        node = bases(last) if prefetch == "nearest" else last.info.depth
        assert torch.equal(guesses(now)[:, 0], last.f[np.arange(NUM), node])


def test_recycled_takes_each_nodes_own_earlier_prediction() -> None:
    played = rounds("recycled")
    for last, now in zip(played, played[1:], strict=False):
        for node in range(ROWS):
            old = np.minimum(bases(last) + node, last.f.shape[1] - 1)
            assert torch.equal(guesses(now)[:, node], last.f[np.arange(NUM), old])


def test_recycled_keeps_the_noises_below_a_rejected_draft() -> None:
    played = rounds("recycled")
    for last, now in zip(played, played[1:], strict=False):
        assert last.rows.plan is not None and now.rows.plan is not None
        before, after = last.rows.plan.noise, now.rows.plan.noise
        for row in np.nonzero(last.info.recovered)[0]:
            moved = int(last.info.depth[row]) + 1
            kept = before.shape[1] - moved
            assert torch.equal(after[row, :kept], before[row, moved:])


@pytest.mark.parametrize("drafter", ["free", draft.Model(PROBLEM.cheap)])
def test_others_draw_every_noise_afresh(drafter: Any) -> None:
    played = rounds(drafter)
    for last, now in zip(played, played[1:], strict=False):
        assert last.rows.plan is not None and now.rows.plan is not None
        old = last.rows.plan.noise.reshape(-1, 2)
        new = now.rows.plan.noise[:, : ROWS - 1].reshape(-1, 2)
        drafted = old.reshape(NUM, -1, 2)[:, : last.f.shape[1] - 1].reshape(-1, 2)
        assert not (new[:, None] == drafted).all(dim=-1).any()


def test_model_asks_the_cheap_model_at_every_inner_node() -> None:
    for now in rounds(draft.Model(PROBLEM.cheap)):
        cheap = PROBLEM.cheap(now.rows.x, now.rows.level).reshape(NUM, -1, 2)
        torch.testing.assert_close(guesses(now)[:, :-1], cheap[:, :-1])
        assert now.info.num_draft_calls == ROWS - 1


def test_corrected_adds_the_error_at_the_nearest_evaluated_node() -> None:
    played = rounds(draft.Corrected(PROBLEM.cheap))
    for last, now in zip(played, played[1:], strict=False):
        at = np.arange(NUM), bases(last)
        error = last.f - PROBLEM.cheap(last.rows.x, last.rows.level).reshape(last.f.shape)
        cheap = PROBLEM.cheap(now.rows.x, now.rows.level).reshape(NUM, -1, 2)
        expected = (cheap + error[at][:, None])[:, :-1]
        torch.testing.assert_close(guesses(now)[:, :-1], expected, rtol=1e-4, atol=1e-5)


def test_frozen_asks_the_target_at_the_root_first() -> None:
    sampler = Sampler(PROBLEM.chain, NUM, (2,), 2, drafter="frozen", tree=f"chain:{ROWS}")
    asked, info, rows = step(sampler, sampler.init(), PROBLEM.target)
    assert len(rows) == NUM and (info.num_committed == 0).all() and (asked.step == 0).all()
    after, info, rows = step(sampler, asked, PROBLEM.target)
    assert rows.plan is not None and len(rows) == NUM * (ROWS - 1)
    root = PROBLEM.target(asked.x, PROBLEM.chain.level[:1].expand(NUM))
    assert torch.equal(rows.plan.draft.guess[:, 0], root)
    assert (info.depth >= 1).all() and (after.step >= 2).all()


@pytest.mark.parametrize("wants", [draft.Model, draft.Corrected])
def test_a_cheap_model_sees_levels_and_shapes_as_the_target_does(
    wants: Callable[..., Any],
) -> None:
    seen: set[tuple[torch.Size, torch.dtype]] = set()

    def cheap(x: Tensor, level: Tensor) -> Tensor:
        assert level.shape == x.shape[:1]
        assert set(level.tolist()) <= set(PROBLEM.chain.call_levels.float().tolist())
        seen.add((x.shape[1:], x.dtype))
        return elementwise(x, level)

    sampler = Sampler(PROBLEM.chain, 3, (2, 1), 0, drafter=wants(cheap), tree="kary:2,3")
    state = sampler.init()
    while not state.done:
        state, _, _ = step(sampler, state, elementwise)
    assert seen == {(torch.Size([2, 1]), torch.float32)}
