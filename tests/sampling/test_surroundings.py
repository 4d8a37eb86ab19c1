"""What a process switches on for its model does not reach the chain's states."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import redraft

CHAIN = redraft.chain.ancestral(torch.logspace(1, -2, 21, dtype=torch.float64))
METHODS = [
    ("recycled", "greedy", "chain:5"),
    ("recycled", "greedy", "kary:2,3"),
    ("free", "traversal", "chain:5"),
    ("frozen", "greedy", "chain:5"),
]


def target(x: Tensor, level: Tensor) -> Tensor:
    """Elementwise, so that neither autocast nor a matmul precision changes it."""
    return torch.tanh(3.0 * x / (1.0 + level.unsqueeze(-1)))


def run(drafter: str, verifier: str, tree: str, denoiser=target) -> Tensor:
    return redraft.sample(
        denoiser, CHAIN, 16, (4,), seed=3, drafter=drafter, verifier=verifier, tree=tree
    ).samples


@pytest.mark.parametrize("method", METHODS, ids=lambda method: "+".join(method))
def test_autocast_does_not_round_states(method):
    expected = run(*method)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(run(*method), expected)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: "+".join(method))
def test_a_lower_matmul_precision_does_not_round_states(method):
    expected = run(*method)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        assert torch.equal(run(*method), expected)
    finally:
        torch.set_float32_matmul_precision(before)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: "+".join(method))
def test_a_model_that_writes_to_its_input_changes_nothing(method):
    def careless(x: Tensor, level: Tensor) -> Tensor:
        f = target(x, level)
        x.zero_()
        return f

    assert torch.equal(run(*method, denoiser=careless), run(*method))


def test_plain_sampling_is_not_reached_either():
    expected = redraft.sequential(target, CHAIN, 16, (4,), seed=3).samples
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(redraft.sequential(target, CHAIN, 16, (4,), seed=3).samples, expected)


def test_gradients_of_the_model_do_not_reach_the_states():
    weight = torch.ones((), requires_grad=True)
    sampler = redraft.Sampler(CHAIN, 2, (4,), 0, tree="chain:3")
    state = sampler.init()
    for _ in range(3):
        rows = sampler.plan(state)
        state, _ = sampler.commit(state, rows, weight * target(rows.x, rows.level))
    assert not state.x.requires_grad


def test_a_device_without_float64_is_refused():
    with pytest.raises(ValueError, match="'mps' has no float64"):
        redraft.sample(target, CHAIN, 1, (4,), seed=0, device="mps")
