"""Planted bugs: each is switched on here, and the checks of the exact samplers must find it.

========================================================== =====================================
bug                                                        here
========================================================== =====================================
accept without the ratio                                   AcceptsWithoutRatio
residual drawn from Q                                      RecoversFromTarget
residual with the wrong lam                                RecoversWithOneLambda
reflection inside traversal                                TraversalReflects
children sorted before the greedy walk                     SortsChildren
one child chosen, but accepted or recovered by the rule    RankedByTheRatio, RankedTossesTwice,
of another coupling                                        RankedRecoversFromExcess,
                                                           OptimalRecoversFromExcess,
                                                           OptimalNeverPromotes
reused noise between init and first step                   SharesInitStream
reused noise after a decision looked at it                 KeepsZeta (recovered state keeps zeta),
                                                           RepeatsNoise (whole noise, later step),
                                                           TraversalKeepsNoise (below a rejection)
a child evaluated only if its own noise looks good         CutsAtBadNoise
shape that depends on a live noise below                   CutsWhenBelowIsBad
a sibling's existence decided by another's live noise      SiblingsLookBelow
a slope fitted on live data                                FitsOnLiveNoise, GainPeeksAtLiveNoise
a kept noise redrawn after looking at it                   RedrawsKeptNoise
draft mean that peeks at its outgoing noise                RecallsTheNextNode, SweepsTheNextNode,
                                                           PeeksAtOutgoingNoise
predictions of padded rows past the last step recycled     RecallsPaddedRows
u <= instead of <, u = 0                                   CoarseCoin; AcceptsEqual and the range of
                                                           coins in test_planted_exactly
std off by one step; last-step noise dropped               test_wrong_tables_are_caught
per-batch instead of per-sample decisions                  StopsWithTheSlowest; OneCoinForAll in
                                                           test_planted_exactly
bf16 chain state                                           RoundsState
samples selected by how fast they finished                 test_selection_by_speed_is_caught
========================================================== =====================================

Do not apply to Gaussian chains, and are not here: the p/q test with an arg-max draft, temperature
applied to the draft only.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from redraft.audit import expect_caught
from redraft.sampling import Sampler
from tests.sampling.checks import check_linear_path, check_residuals
from tests.sampling.plants import BUGS, CONTROLS, NUM, check
from tests.sampling.problems import bimodal, isotropic
from tests.sampling.stepping import walk

pytestmark = pytest.mark.statistical


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bugs_are_caught(bug: str, fresh_seed: int) -> None:
    with expect_caught(bug):
        check(BUGS[bug], fresh_seed)


@pytest.mark.parametrize("control", CONTROLS)
def test_the_same_set_ups_without_a_bug_pass(control: str, fresh_seed: int) -> None:
    check(CONTROLS[control], fresh_seed)


@pytest.mark.parametrize("fault", ["std off by one step", "last noise dropped"])
def test_wrong_tables_are_caught(fault: str, fresh_seed: int) -> None:
    right = isotropic()
    std = right.chain.std.roll(1)
    if fault == "last noise dropped":
        std = right.chain.std.clone()
        std[-1] = 0.0
    wrong = replace(right.chain, std=std)
    sampler = Sampler(wrong, NUM, (6,), fresh_seed, tree="chain:4", record=True)
    path = walk(sampler, right.target)[:, : wrong.num_steps + 1]
    with expect_caught(fault):
        check_linear_path(path, right)


def test_selection_by_speed_is_caught(fresh_seed: int) -> None:
    problem = bimodal()
    sampler = Sampler(
        problem.chain, 2 * NUM, (2,), fresh_seed, drafter="free", tree="chain:4", record=True
    )
    path, state = walk(sampler, problem.target), sampler.init()
    while not state.done:
        rows = sampler.plan(state)
        state, _ = sampler.commit(state, rows, problem.target(rows.x, rows.level))
    fast = torch.from_numpy(state.calls).double()
    order = fast.argsort(stable=True)[:NUM]
    with expect_caught("samples selected by how fast they finished"):
        check_residuals(path[order, : problem.chain.num_steps + 1], problem)
