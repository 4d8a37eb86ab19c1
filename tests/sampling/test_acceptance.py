"""How often drafts are accepted, where theory says it: constant predictions fix every delta."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import redraft
from redraft import chain, draft
from redraft.audit import assert_event_rate
from redraft.sampling import Result

pytestmark = pytest.mark.statistical
NUM = 20_000
TABLE = {  # children -> acceptance of one node by the greedy walk, at these distances
    0.25: {1: 0.901, 2: 0.938, 3: 0.955, 4: 0.964},
    0.5: {1: 0.803, 2: 0.868, 3: 0.900, 4: 0.918},
    1.0: {1: 0.617, 2: 0.714, 3: 0.765, 4: 0.798},
    2.0: {1: 0.317, 2: 0.404, 3: 0.458, 4: 0.497},
}
COMMITTED = {  # distance, length -> mean number of accepted drafts: token by token, by block
    (0.5, 3): (1.964, 2.086),
    (0.5, 4): (2.377, 2.617),
    (1.0, 3): (1.234, 1.364),
    (1.0, 4): (1.379, 1.601),
    (2.0, 4): (0.461, 0.532),
}


def run(delta: float, verifier: str, tree: str, seed: int, steps: int = 6) -> Result:
    """Sample a chain where every pair has the distance ``delta``: std = 1, b = 1, g - f = delta."""
    one = torch.ones(steps, dtype=torch.float64)
    table = chain.Chain(
        level=one.cumsum(0), a=0.5 * one, b=one, std=one, init_std=1.0, terminal=None, name="plain"
    )
    shift = delta / np.sqrt(3.0)
    return redraft.sample(
        lambda x, level: torch.zeros_like(x),
        table,
        NUM,
        (3,),
        seed=seed,
        drafter=draft.Model(lambda x, level: torch.full_like(x, shift)),
        verifier=verifier,
        tree=tree,
        rounds=True,
    )


@pytest.mark.parametrize("verifier", ["greedy", "reflection", "traversal"])
def test_one_draft_is_accepted_with_two_phi_of_minus_half_delta(
    verifier: str, fresh_seed: int
) -> None:
    hits, probs = [], []
    for delta in (1e-9, 0.1, 0.5, 1.0, 3.0, 8.0):
        result = run(delta, verifier, "chain:2", fresh_seed)
        first = (result.rounds or [])[0]
        hits.append(int(first.accepted_per_depth[0]))
        probs.append(2.0 * float(torch.special.ndtr(torch.tensor(-delta / 2).double())))
    assert_event_rate(hits, NUM, probs, detect=0.05)


@pytest.mark.parametrize("delta", TABLE)
def test_one_node_with_several_children_accepts_as_greedy_rejection_sampling(
    delta: float, fresh_seed: int
) -> None:
    hits, probs = [], []
    for children, accepted in TABLE[delta].items():
        result = run(delta, "greedy", f"kary:{children},2", fresh_seed)
        hits.append(int((result.rounds or [])[0].accepted_per_depth[0]))
        probs.append(accepted)
    assert_event_rate(hits, NUM, probs, detect=0.05)


@pytest.mark.parametrize(("delta", "length"), COMMITTED)
@pytest.mark.parametrize("verifier", ["greedy", "traversal"])
def test_a_chain_of_equal_distances_commits_as_many_states_as_theory_says(
    verifier: str, delta: float, length: int, fresh_seed: int
) -> None:
    result = run(delta, verifier, f"chain:{length + 1}", fresh_seed)
    accepted = int((result.rounds or [])[0].accepted_per_depth.sum())
    mean = COMMITTED[delta, length][verifier == "traversal"]
    # Chernoff's bound holds for means of variables in [0, 1], such as accepted / length.
    assert_event_rate(round(accepted / length), NUM, mean / length, detect=0.05)


def test_every_later_round_accepts_at_the_same_rate(fresh_seed: int) -> None:
    result = run(1.0, "greedy", "chain:2", fresh_seed, steps=12)
    hits, tries = [], []
    for info in (result.rounds or [])[:4]:
        hits.append(int(info.accepted_per_depth[0]))
        tries.append(int(info.tried_per_depth[0]))
    assert tries == [NUM] * 4
    assert_event_rate(hits, tries, 2.0 * float(torch.special.ndtr(torch.tensor(-0.5))), detect=0.05)


def test_distances_are_reported_by_depth(fresh_seed: int) -> None:
    result = run(1.0, "greedy", "chain:4", fresh_seed)
    first = (result.rounds or [])[0]
    assert first.delta_per_depth == pytest.approx([1.0, 1.0, 1.0], rel=1e-5)
