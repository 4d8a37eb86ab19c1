"""Every planted bug with the problem that shows it, and the same set-ups without a bug."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from redraft.sampling import Sampler
from tests.sampling import planted_drafters as drafters
from tests.sampling import planted_samplers as samplers
from tests.sampling import planted_shapes as shapes
from tests.sampling import planted_verifiers as verifiers
from tests.sampling.cases import make_drafter
from tests.sampling.checks import check_linear_path, check_residuals
from tests.sampling.problems import Problem, bimodal, isotropic, linear, offset
from tests.sampling.stepping import walk

NUM = 20_000


class Plant(NamedTuple):
    """A sampler, right or wrong, and the problem on which it is tried."""

    problem: Callable[[], Problem]
    verifier: Any = "greedy"
    drafter: Any = "free"
    tree: str = "chain:4"
    sampler: type[Sampler] = Sampler
    num: int = NUM


def wide_line() -> Problem:
    return linear("ancestral", 1)


def far_away() -> Problem:
    return bimodal(shift=50.0)


def steady() -> Problem:
    return offset(0.7, 16)


def apart() -> Problem:
    return offset(1.5, 16)


STEPS = 20
BUGS = {
    "AcceptsWithoutRatio": Plant(bimodal, verifiers.AcceptsWithoutRatio()),
    "RecoversFromTarget": Plant(wide_line, verifiers.RecoversFromTarget()),
    "RecoversWithOneLambda": Plant(
        isotropic, verifiers.RecoversWithOneLambda(), tree="kary:4,2", num=2 * NUM
    ),
    "TraversalReflects": Plant(
        steady, verifiers.TraversalReflects(), "model", "chain:16", num=2 * NUM
    ),
    "SortsChildren": Plant(bimodal, verifiers.SortsChildren(), tree="kary:3,2"),
    "RankedByTheRatio": Plant(bimodal, verifiers.RankedByTheRatio(), tree="kary:3,2"),
    "RankedTossesTwice": Plant(
        steady, verifiers.RankedTossesTwice(), "model", "kary:3,2", num=2 * NUM
    ),
    "RankedRecoversFromExcess": Plant(
        apart, verifiers.RankedRecoversFromExcess(), "model", "kary:3,2"
    ),
    "OptimalRecoversFromExcess": Plant(
        apart, verifiers.OptimalRecoversFromExcess(), "model", "kary:3,2"
    ),
    "OptimalNeverPromotes": Plant(bimodal, verifiers.OptimalNeverPromotes(), tree="kary:2,2"),
    "SharesInitStream": Plant(bimodal, sampler=samplers.SharesInitStream),
    "KeepsZeta": Plant(isotropic, sampler=samplers.KeepsZeta),
    "RepeatsNoise": Plant(bimodal, sampler=samplers.RepeatsNoise),
    "TraversalKeepsNoise": Plant(
        isotropic, verifiers.TraversalKeepsNoise(), "recycled", "chain:8", num=2 * NUM
    ),
    "CutsAtBadNoise": Plant(bimodal, sampler=shapes.CutsAtBadNoise),
    "CutsWhenBelowIsBad": Plant(bimodal, "greedy", "recycled", sampler=shapes.CutsWhenBelowIsBad),
    "SiblingsLookBelow": Plant(
        isotropic,
        verifiers.SkipsAbsent(),
        "recycled",
        "kary:4,3",
        shapes.SiblingsLookBelow,
        3 * NUM // 2,
    ),
    "RedrawsKeptNoise": Plant(
        bimodal, "greedy", "recycled", "chain:4", samplers.RedrawsKeptNoise, NUM
    ),
    "FitsOnLiveNoise": Plant(
        isotropic, "greedy", drafters.FitsOnLiveNoise(NUM, STEPS, 6), "chain:8"
    ),
    "RecallsTheNextNode": Plant(isotropic, "greedy", drafters.RecallsTheNextNode(), "chain:8"),
    "SweepsTheNextNode": Plant(isotropic, "greedy", drafters.SweepsTheNextNode(), "chain:8"),
    "PeeksAtOutgoingNoise": Plant(isotropic, "greedy", drafters.PeeksAtOutgoingNoise()),
    "GainPeeksAtLiveNoise": Plant(isotropic, "greedy", drafters.GainPeeksAtLiveNoise(), "chain:8"),
    "RecallsPaddedRows": Plant(isotropic, "greedy", drafters.RecallsPaddedRows(), "chain:8"),
    "CoarseCoin": Plant(bimodal, verifiers.CoarseCoin()),
    "StopsWithTheSlowest": Plant(wide_line, verifiers.StopsWithTheSlowest()),
    "RoundsState": Plant(far_away, sampler=samplers.RoundsState),
}
CONTROLS = {
    "greedy on a tree of four children": Plant(isotropic, tree="kary:4,2"),
    "ranked on a bush": Plant(bimodal, "ranked", tree="kary:3,2"),
    "ranked of equal distances": Plant(steady, "ranked", "model", "kary:3,2", num=2 * NUM),
    "ranked far apart": Plant(apart, "ranked", "model", "kary:3,2"),
    "optimal on pairs": Plant(bimodal, "optimal", tree="kary:2,2"),
    "optimal far apart": Plant(apart, "optimal", "model", "kary:3,2"),
    "traversal of equal distances": Plant(steady, "traversal", "model", "chain:16"),
    "traversal of a long chain": Plant(isotropic, "traversal", tree="chain:8"),
    "recycled on a long chain": Plant(isotropic, "greedy", "recycled", "chain:8"),
    "swept on a long chain": Plant(isotropic, "traversal", "swept", "chain:8"),
    "swept twice on a long chain": Plant(isotropic, "greedy", "swept/2", "chain:8"),
    "recycled on a wide tree": Plant(isotropic, "greedy", "recycled", "kary:4,3"),
    "kept noises by serial number": Plant(
        bimodal, "greedy", "recycled", sampler=samplers.KeepsWithoutBlock
    ),
    "a fit on committed states": Plant(
        isotropic, "greedy", drafters.FitsOnRoots(NUM, STEPS, 6), "chain:8"
    ),
    "a far-away target": Plant(far_away),
    "a gain of any size": Plant(isotropic, "greedy", "recycled/gain", "chain:8"),
}


def check(plant: Plant, seed: int) -> None:
    """Run a sampler and put its paths to every check that its problem allows."""
    problem = plant.problem()
    drafter = plant.drafter
    if isinstance(drafter, str):
        drafter = make_drafter(drafter, problem)
    sampler = plant.sampler(
        problem.chain,
        plant.num,
        (problem.dim,),
        seed,
        drafter=drafter,
        verifier=plant.verifier,
        tree=plant.tree,
        record=True,
    )
    path = walk(sampler, problem.target)[:, : problem.chain.num_steps + 1]
    if problem.affine is not None:
        check_linear_path(path, problem)
    check_residuals(path, problem)
