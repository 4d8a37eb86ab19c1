"""Guesses with a gain: the formula node by node, what calibration finds, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import redraft
from redraft import chain, draft
from redraft.chain.steps import Steps
from redraft.draft import Calibration
from redraft.draft.calibration import CLASSES, Evidence, classes
from redraft.draft.gain import GainDraft
from redraft.sampling import Sampler
from tests.sampling.cases import arbitrary
from tests.sampling.problems import bimodal
from tests.sampling.stepping import step

PROBLEM = bimodal()._replace(chain=chain.ancestral(chain.karras(20, 3.0, 0.1, rho=3.0)))


def drafter(kind: str, taught: Calibration) -> Any:
    return draft.Recycled(taught) if kind == "recycled" else draft.Free(calibration=taught)


def empty() -> Calibration:
    return Calibration(Steps.of(PROBLEM.chain).total)


@pytest.mark.parametrize("tree", ["chain:5", "kary:2,3"])
@pytest.mark.parametrize("kind", ["recycled", "free"])
def test_without_a_calibration_nothing_changes(kind: str, tree: str) -> None:
    found = []
    for rule in (kind, drafter(kind, empty())):
        result = redraft.sample(
            PROBLEM.target, PROBLEM.chain, 6, (2,), seed=1, drafter=rule, tree=tree
        )
        found.append((result.samples, result.calls))
    torch.testing.assert_close(found[0][0], found[1][0], rtol=1e-5, atol=1e-6)
    assert np.array_equal(found[0][1], found[1][1])


@pytest.mark.parametrize("tree", ["chain:6", "kary:2,3", "kary:3,2"])
@pytest.mark.parametrize("kind", ["recycled", "free"])
def test_draft_is_the_formula_node_by_node(kind: str, tree: str) -> None:
    taught = arbitrary(PROBLEM)
    sampler = Sampler(PROBLEM.chain, 4, (2,), 3, drafter=drafter(kind, taught), tree=tree)
    state, compared = sampler.init(), 0
    steps, c_of = sampler.steps, taught.coefficients()
    while not state.done:
        rows = sampler.plan(state)
        plan, memory = rows.plan, state.memory
        assert plan is not None
        if memory is not None and len(plan.tree) > 1:
            assert memory.x is not None and memory.step is not None
            for b in range(len(state.owner)):
                x_bar: dict[int, Tensor] = {0: state.x[b].double()}
                f_b = memory.f[b, 0].double()
                for u in range(len(plan.tree)):
                    n, depth = int(state.step[b]) + int(plan.tree.depth[u]), int(plan.tree.depth[u])
                    if n >= steps.total or not plan.exists[b, u]:
                        continue
                    m = min(u, memory.f.shape[1] - 1)
                    f_o, x_o = memory.f[b, m].double(), memory.x[b, m].double()
                    ahead = n - int(memory.step[b, m])
                    for k in range(n - ahead, n):
                        x_o = steps.a[k] * x_o + steps.b[k] * f_o
                    if depth and depth not in x_bar:
                        k = n - 1
                        x_bar[depth] = steps.a[k] * x_bar[depth - 1] + steps.b[k] * f_b
                    kind_of = int(classes(np.array([ahead if ahead > 0 else depth]))[0])
                    c = c_of[int(taught.bin(np.array(n))), int(ahead > 0), kind_of]
                    x = plan.draft.x[b, u]
                    g = f_o + c[0] * (f_b - f_o) + c[1] * (x - x_o) + c[2] * (x - x_bar[depth])
                    torch.testing.assert_close(plan.draft.guess[b, u], g, rtol=1e-5, atol=1e-5)
                    for v in plan.tree.child[u]:
                        if v < 0 or n + 1 >= steps.total or not plan.exists[b, v]:
                            continue
                        z = plan.noise[b, v - 1]
                        wanted = steps.a[n] * x + steps.b[n] * g + steps.std[n] * z
                        torch.testing.assert_close(plan.draft.x[b, v], wanted, rtol=1e-5, atol=1e-5)
                        compared += 1
        f = PROBLEM.target(rows.x, rows.level)
        state, _ = sampler.commit(state, rows, f)
    assert compared > 50


def test_a_linear_prediction_is_learnt_and_then_all_drafts_are_accepted() -> None:
    """f = 0.7 x: displacements tell f exactly, so that one call commits a whole chain."""

    def linear(x: Tensor, level: Tensor) -> Tensor:
        return 0.7 * x

    table = chain.ancestral(chain.karras(48, 5.0, 0.2))
    taught = redraft.calibrate(linear, table, 64, (3,), seed=0, tree="chain:8")
    common: dict[str, Any] = {"seed": 0, "tree": "chain:8"}
    cold = redraft.sample(linear, table, 64, (3,), drafter="recycled", **common)
    warm = redraft.sample(linear, table, 64, (3,), drafter=draft.Recycled(taught), **common)
    assert warm.calls.mean() < 9.0 and cold.calls.mean() > 1.15 * warm.calls.mean()


@pytest.mark.parametrize("verifier", ["greedy", "traversal"])
def test_calibration_saves_calls_on_a_mixture(verifier: str) -> None:
    rule = {"greedy": "recycled", "traversal": "free"}[verifier]
    table = chain.ancestral(chain.karras(60, 5.0, 0.05))
    common: dict[str, Any] = {"verifier": verifier, "tree": "chain:12"}
    taught = redraft.calibrate(PROBLEM.target, table, 64, (2,), seed=0, drafter=rule, **common)
    cold, warm = (
        redraft.sample(PROBLEM.target, table, 256, (2,), seed=0, drafter=one, **common)
        for one in (rule, drafter(rule, taught))
    )
    saved = (cold.calls - warm.calls) / cold.calls.mean()
    assert saved.mean() > 4.0 * saved.std() / len(saved) ** 0.5


def test_coefficients_are_those_of_least_squares() -> None:
    generator = np.random.default_rng(0)
    wanted, made = np.array([0.5, -0.2, 0.8]), Calibration(10)
    for _ in range(200):
        u = generator.normal(size=(3, 40))
        y = wanted @ u + 0.1 * generator.normal(size=40)
        v = np.vstack((y, u))
        one = np.ones(1, dtype=np.int64)
        made.add(Evidence(4 * one, 0 * one, one, (v @ v.T)[None], *[one[:0]] * 4))
    found = made.coefficients()
    np.testing.assert_allclose(found[4, 0, 1], wanted, atol=0.03)
    assert (found[:, 1] == 0).all() and (found[4, 0, 3] == 0).all()
    assert np.abs(found[3, 0, 1] - wanted).max() < 0.1, "neighbouring bins are pooled"


def test_little_evidence_moves_little() -> None:
    made, one = Calibration(10), np.ones(1, dtype=np.int64)
    v = np.array([[1.0, 1.0, 0.0, 0.0]] * 4).T
    made.add(Evidence(4 * one, 0 * one, one, (v @ v.T)[None], *[one[:0]] * 4))
    assert 0.1 < made.coefficients()[4, 0, 1, 0] < 0.5


def test_classes_of_depths_grow_wider() -> None:
    depth = np.arange(100)
    found = classes(depth)
    assert found[0] == 0 and found[-1] == CLASSES - 1
    assert (np.diff(found) >= 0).all() and len(set(found[:4])) == 4


def test_calibrations_survive_a_file(tmp_path: Path) -> None:
    taught = redraft.calibrate(PROBLEM.target, PROBLEM.chain, 4, (2,), seed=0, passes=1)
    taught.save(tmp_path / "c.json")
    again = Calibration.load(tmp_path / "c.json")
    assert np.array_equal(again.gram, taught.gram) and np.array_equal(again.seeds, taught.seeds)
    (tmp_path / "old.json").write_text('{"format": 0}')
    with pytest.raises(ValueError, match="no calibration of this version"):
        Calibration.load(tmp_path / "old.json")


def test_a_calibration_does_not_serve_the_samples_it_comes_from() -> None:
    """Their noises would choose their own drafts (contract rule 3)."""
    taught = redraft.calibrate(PROBLEM.target, PROBLEM.chain, 4, (2,), seed=0, passes=1)
    with pytest.raises(ValueError, match="samples of the same seeds"):
        Sampler(PROBLEM.chain, 1, (2,), [int(taught.seeds[2])], drafter=draft.Recycled(taught))
    Sampler(PROBLEM.chain, 4, (2,), 0, drafter=draft.Recycled(taught))


def test_evidence_collected_by_hand_is_guarded_too() -> None:
    sampler = Sampler(
        PROBLEM.chain, 2, (2,), 7, drafter=draft.Recycled(empty()), tree="chain:4", evidence=True
    )
    state, taught = sampler.init(), empty()
    while not state.done:
        state, info, _ = step(sampler, state, PROBLEM.target)
        if info.evidence is not None:
            taught.add(info.evidence)
    with pytest.raises(ValueError, match="samples of the same seeds"):
        Sampler(PROBLEM.chain, 2, (2,), 7, drafter=draft.Recycled(taught))


@pytest.mark.parametrize("a", [0.0, -0.5])
def test_a_step_that_no_gain_can_mend_is_refused(a: float) -> None:
    one = torch.ones(4, dtype=torch.float64)
    table = chain.Chain(level=one.cumsum(0), a=a * one, b=0 * one, std=one, init_std=1.0)
    with pytest.raises(ValueError, match="a > 0 or b != 0"):
        Sampler(table, 1, (2,), 0, drafter=draft.Recycled(Calibration(4)))


def test_only_visited_nodes_teach() -> None:
    sampler = Sampler(
        PROBLEM.chain, 8, (2,), 0, drafter=draft.Recycled(empty()), tree="chain:6", evidence=True
    )
    state, rejected = sampler.init(), 0
    while not state.done:
        state, info, _ = step(sampler, state, PROBLEM.target)
        if info.evidence is not None:
            assert len(info.evidence.step) == int((info.depth + 1).sum())
            rejected += info.num_recovered
    assert rejected > 5


def test_squares_are_weighted_by_the_inverse_distance() -> None:
    sampler = Sampler(
        PROBLEM.chain, 5, (2,), 0, drafter=draft.Recycled(empty()), tree="chain:6", evidence=True
    )
    state, compared = sampler.init(), 0
    while not state.done:
        rows = sampler.plan(state)
        f = PROBLEM.target(rows.x, rows.level)
        _, info = sampler.commit(state, rows, f)
        plan, memory, seen = rows.plan, state.memory, info.evidence
        if seen is not None and plan is not None and memory is not None and plan.full:
            by_node = f.reshape(len(state.owner), len(plan.tree), 2)
            row, node = np.nonzero(plan.tree.depth <= info.depth[:, None])
            gap = (by_node - plan.draft.guess)[row, node].double().numpy()
            pull = sampler.steps.pull[state.step[row] + node]
            square = (gap**2).sum(-1)  # untaught: the guess is what a node starts from
            delta = pull * np.sqrt(square)
            wanted = square * pull**2 / np.sqrt(delta**2 + 0.2)
            np.testing.assert_allclose(seen.gram[:, 0, 0], wanted, rtol=1e-4, atol=1e-9)
            compared += len(row)
        state, _ = sampler.commit(state, rows, f)
    assert compared > 50


def test_what_was_tried_and_accepted_is_counted_by_step_and_depth() -> None:
    made, none = Calibration(10), np.empty(0, dtype=np.int64)
    start, depth, limit = np.array([3, 0]), np.array([2, 3]), np.array([4, 3])
    made.add(Evidence(none, none, none, np.zeros((0, 4, 4)), start, depth, limit, none))
    tried, accepted = np.zeros((2, 10, CLASSES))
    for place, above in ((3, 0), (4, 1), (5, 2), (0, 0), (1, 1), (2, 2)):
        tried[place, above] += 1
    for place, above in ((3, 0), (4, 1), (0, 0), (1, 1), (2, 2)):
        accepted[place, above] += 1
    assert np.array_equal(made.tried, tried) and np.array_equal(made.accepted, accepted)


def test_wrong_calibrations_are_refused() -> None:
    wrong: Any = "taught.json"
    for make in (draft.Recycled, lambda one: draft.Free(calibration=one)):
        with pytest.raises(TypeError, match="Calibration.load"):
            make(wrong)
    with pytest.raises(ValueError, match="chain of 7 calls"):
        Sampler(PROBLEM.chain, 1, (2,), 0, drafter=draft.Recycled(Calibration(7)))
    with pytest.raises(ValueError, match="freeze='x0' only"):
        draft.Free("eps", calibration=empty())
    with pytest.raises(ValueError, match="does not fit"):
        empty().merge(Calibration(7))
    with pytest.raises(ValueError, match="drafter"):
        redraft.calibrate(PROBLEM.target, PROBLEM.chain, 1, (2,), seed=0, drafter="recycle")


def test_a_state_is_never_forgotten_on_the_way() -> None:
    """Gains that would make the state's factor negative or zero give way; the kernel stays so."""
    taught = empty()
    taught.count[:], taught.gram[:] = 1e9, np.eye(4)
    taught.gram[..., 1:, 0] = taught.gram[..., 0, 1:] = -40.0
    draw = Sampler(PROBLEM.chain, 1, (2,), 0, drafter=draft.Recycled(taught)).draw
    assert isinstance(draw, GainDraft)
    result = redraft.sample(
        PROBLEM.target, PROBLEM.chain, 8, (2,), seed=0, drafter=draft.Recycled(taught)
    )
    assert bool(result.samples.isfinite().all())


def test_what_is_derived_is_shared_until_more_is_learnt() -> None:
    taught = arbitrary(PROBLEM)
    steps = Steps.of(PROBLEM.chain)
    first = GainDraft.of(steps, taught)
    assert GainDraft.of(steps, taught) is first and first.chain(4) is first.chain(4)
    taught.merge(arbitrary(PROBLEM))
    assert GainDraft.of(steps, taught) is not first
