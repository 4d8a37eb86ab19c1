"""Bad arguments: each a clear error that names the argument, the value and the remedy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import redraft
from redraft import chain, draft
from redraft.execute import Local
from redraft.sampling import Sampler
from tests.sampling.small import elementwise

TABLE = chain.ancestral([2.0, 1.0, 0.5])
GOOD: dict[str, Any] = {"num": 3, "shape": (2,), "seed": 0}
CASES: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"num": -1}, ValueError, "num must be a non-negative integer.*-1"),
    ({"num": 2.0}, ValueError, "num must be a non-negative integer.*2.0"),
    ({"num": True}, ValueError, "num must be a non-negative integer.*True"),
    ({"shape": (2, 0)}, ValueError, r"shape must hold positive integers.*\(2, 0\)"),
    ({"shape": (2.5,)}, ValueError, "shape must hold positive integers.*2.5"),
    ({"shape": -3}, ValueError, "shape must hold positive integers.*-3"),
    ({"seed": [1, 2]}, ValueError, "seed has 2 entries for num=3"),
    ({"seed": [1, 2, 3, 4]}, ValueError, "seed has 4 entries for num=3"),
    ({"seed": -1}, ValueError, "seed=-1 is out of range"),
    ({"seed": [0, -5, 1]}, ValueError, "seed=-5 is out of range"),
    ({"seed": 2**63}, ValueError, "out of range"),
    ({"seed": [0, 1.5, 2]}, TypeError, "integer"),
    ({"seed": 1.0}, TypeError, "seed must be an integer.*1.0"),
    ({"seed": "7"}, TypeError, "seed must be an integer.*'7'"),
    ({"seed": None}, TypeError, "seed must be an integer.*None"),
    ({"seed": True}, TypeError, "seed must be an integer.*True"),
    ({"cond": {"y": torch.zeros(2)}}, ValueError, r"cond\['y'\] has shape \(2,\).*num=3"),
    ({"cond": {"y": torch.tensor(1.0)}}, ValueError, r"cond\['y'\] has shape \(\)"),
    ({"cond": {"y": 1.0}}, TypeError, r"cond\['y'\] must be a tensor.*float.*partial"),
    ({"x_init": torch.zeros(3, 3)}, ValueError, r"x_init.*\(3, 2\).*\(3, 3\)"),
    ({"x_init": [[0.0, 0.0]] * 3}, ValueError, "x_init must be a tensor.*list"),
    ({"x_init": torch.zeros(3, 2).long()}, TypeError, "x_init must be floating point.*int64"),
    ({"x_init": torch.full((3, 2), np.nan)}, ValueError, "x_init holds NaN or infinite"),
    ({"dtype": torch.int64}, TypeError, "dtype must be a floating-point.*int64"),
    ({"dtype": "float32"}, TypeError, "dtype must be a floating-point.*'float32'"),
    ({"chain": [1.0, 0.5]}, TypeError, "chain must be a redraft.chain.Chain, got list"),
    ({"progress": 3}, TypeError, "progress must be"),
]
SPECULATIVE: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"denoiser": "digits"}, TypeError, "denoiser must be callable.*'digits'"),
    ({"drafter": "recycle"}, ValueError, "unknown drafter 'recycle'.*Did you mean 'recycled'"),
    ({"verifier": "gready"}, ValueError, "unknown verifier 'gready'.*Did you mean 'greedy'"),
    ({"tree": "chian:4"}, ValueError, "unknown tree 'chian'.*Did you mean 'chain'"),
    ({"tree": "chain:0"}, ValueError, "at least 1 row"),
    ({"tree": "chain:-4"}, ValueError, "at least 1 row"),
    ({"tree": "chain:four"}, ValueError, "does not read as chain:M"),
    ({"tree": "kary:2"}, ValueError, "does not read as kary:K,D"),
    ({"tree": "chain:100000"}, ValueError, "at most 4096"),
    ({"drafter": "model"}, ValueError, r"needs a cheap model.*redraft.draft.Model\("),
    ({"drafter": "corrected"}, ValueError, r"needs a cheap model.*redraft.draft.Corrected\("),
    ({"drafter": draft.Free}, TypeError, "drafter must be a name"),
    ({"verifier": 3}, TypeError, "verifier must be a name"),
    ({"verifier": "reflection", "tree": "kary:2,3"}, ValueError, "one child per node"),
    ({"verifier": "traversal"}, ValueError, "nothing to keep.*drafter='free'"),
]


def run(sampler: Any, changes: dict[str, Any]) -> None:
    given = {"denoiser": elementwise, "chain": TABLE, **GOOD, **changes}
    sampler(
        given.pop("denoiser"), given.pop("chain"), given.pop("num"), given.pop("shape"), **given
    )


@pytest.mark.parametrize("sampler", [redraft.sample, redraft.sequential])
@pytest.mark.parametrize(("changes", "error", "message"), CASES)
def test_both_samplers_refuse(sampler: Any, changes: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        run(sampler, changes)


@pytest.mark.parametrize(("changes", "error", "message"), SPECULATIVE)
def test_speculation_refuses(changes: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        run(redraft.sample, changes)


@pytest.mark.parametrize("sampler", [redraft.sample, redraft.sequential])
@pytest.mark.parametrize(
    ("denoiser", "error", "message"),
    [
        (lambda x, level: x[:, :1], ValueError, r"returned shape \(\d+, 1\) for rows of shape"),
        (lambda x, level: x[:1], ValueError, "returned shape"),
        (lambda x, level: x.long(), TypeError, "returned torch.int64"),
        (lambda x, level: x.numpy(), TypeError, "must return a tensor, got ndarray"),
        (lambda x, level: (x, x), TypeError, "must return a tensor, got tuple"),
        (lambda x, level: None, TypeError, "must return a tensor, got NoneType"),
    ],
)
def test_what_a_denoiser_returns_is_checked(
    sampler: Any, denoiser: Any, error: Any, message: str
) -> None:
    with pytest.raises(error, match=message):
        sampler(denoiser, TABLE, 3, (2,), seed=0)


def test_a_cheap_model_of_another_shape_is_refused() -> None:
    cheap = draft.Model(lambda x, level: x[:, :1])
    with pytest.raises(ValueError, match="drafter's model returned"):
        Sampler(TABLE, 3, (2,), 0, drafter=cheap).plan(
            Sampler(TABLE, 3, (2,), 0, drafter=cheap).init()
        )
    with pytest.raises(TypeError, match="denoiser must be callable"):
        draft.Model("digits")  # type: ignore[arg-type]


def test_a_chunk_of_no_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="max_rows must be at least 1.*got 0"):
        Local(0)
