"""The two ways to work with the vectors of a round agree, so that a device decides as the host."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from redraft.sampling import Sampler, moments
from redraft.sampling.vectors import DeviceVectors, HostVectors
from tests.sampling.cases import CASES, Case, make_drafter, name
from tests.sampling.problems import bimodal
from tests.sampling.stepping import step


def run(case: Case, num: int = 5) -> tuple[list[Tensor], list[np.ndarray]]:
    """Run to the end; return committed states and path ends of every round."""
    task = bimodal()
    parts = Sampler(
        task.chain,
        num,
        (task.dim,),
        3,
        drafter=make_drafter(case.drafter, task),
        verifier=case.verifier,
        tree=case.tree,
        record=True,
    )
    state, states, depths = parts.init(), [], []
    while not state.done:
        state, info, _ = step(parts, state, task.target)
        assert info.states is not None
        states.append(info.states)
        depths.append(info.depth)
    return states, depths


@pytest.mark.parametrize("case", CASES, ids=name)
def test_runs_agree(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    host = run(case)
    monkeypatch.setattr(moments, "gather_vectors", DeviceVectors)
    device = run(case)
    assert len(host[1]) == len(device[1]) > 3
    for mine, other in zip(host[1], device[1], strict=True):
        assert np.array_equal(mine, other)
    for mine, other in zip(host[0], device[0], strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("tree", ["chain:4", "kary:2,3"])
@pytest.mark.parametrize("kind", [HostVectors, DeviceVectors])
def test_numbers_are_those_of_the_docstring(kind: type, tree: str) -> None:
    parts = Sampler(bimodal().chain, 3, (2,), 0, drafter="free", tree=tree)
    state = parts.init()
    for _ in range(2):
        rows = parts.plan(state)
        state, _ = parts.commit(state, rows, bimodal().target(rows.x, rows.level))
    rows = parts.plan(state)
    plan = rows.plan
    assert plan is not None and len(plan.tree) == len(parts.tree)
    f = bimodal().target(rows.x, rows.level).reshape(3, len(plan.tree), 2)
    vectors = kind(plan, f)
    gap = (f - plan.draft.guess).double().numpy()
    square, inner = vectors.sums(plan.tree)
    np.testing.assert_allclose(square, (gap**2).sum(-1), rtol=1e-12)
    for v in range(1, len(plan.tree)):
        wanted = (gap[:, plan.tree.parent[v]] * plan.noise[:, v - 1].numpy()).sum(-1)
        np.testing.assert_allclose(inner[:, v - 1], wanted, rtol=1e-9, atol=1e-12)
    node, fresh = np.array([0, 1, 2]), torch.tensor([[1.0, 2.0]], dtype=torch.float64).repeat(3, 1)
    slot = np.array([0, 1, plan.noise.shape[1]])
    factors = tuple(np.random.default_rng(0).normal(size=(4, 3)))
    noise = torch.cat((plan.noise, fresh.unsqueeze(1)), dim=1).numpy()
    batch = np.arange(3)
    parts_of = (f.numpy(), plan.draft.x.numpy(), gap, noise)
    places = (node, node, node, slot)
    wanted = sum(
        c[:, None] * part[batch, place]
        for c, part, place in zip(factors, parts_of, places, strict=True)
    )
    got = vectors.step(node, slot, factors, fresh)
    np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-6, atol=1e-6)
    nodes = np.array([[0, 1], [2, 2], [1, 0]])
    assert torch.equal(vectors.pick(nodes), f[torch.arange(3)[:, None], torch.tensor(nodes)])
    good = np.ones((3, len(plan.tree)), dtype=bool)
    good[1, 2] = False
    vectors.mask(good)
    assert float(vectors.pick(np.full((3, 1), 2))[1].abs().max()) == 0.0
    assert torch.equal(vectors.pick(np.full((3, 1), 2))[0, 0], f[0, 2])
    masked, _ = vectors.sums(plan.tree)
    assert masked[1, 2] == 0.0 and masked[0, 2] == pytest.approx(square[0, 2])
