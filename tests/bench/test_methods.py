"""Names of methods, and the parts that they stand for."""

from __future__ import annotations

import pytest
import torch

from redraft.bench import TARGETS, make_target, parse
from redraft.chain import flow_sde
from redraft.cli.ls import METHODS, TREES
from redraft.coupling import VERIFIERS
from redraft.draft import DRAFTERS, Calibration, Free
from redraft.tree import grow


@pytest.mark.parametrize(
    ("name", "drafter", "freeze", "prefetch"),
    [
        ("recycled+greedy", "recycled", "x0", None),
        ("frozen+reflection", "frozen", "x0", None),
        ("frozen:eps+reflection", "frozen", "eps", None),
        ("free+traversal", "free", "x0", "nearest"),
        ("free:parent+traversal", "free", "x0", "parent"),
        ("free:v:parent+greedy", "free", "v", "parent"),
        ("free:parent:v+greedy", "free", "v", "parent"),
        ("model+greedy", "model", None, None),
    ],
)
def test_a_name_says_drafter_verifier_and_options(name, drafter, freeze, prefetch):
    method = parse(name, "chain:8")
    assert (method.name, method.drafter, method.tree) == (name, drafter, "chain:8")
    assert method.verifier == name.partition("+")[2]
    assert (method.freeze, method.prefetch) == (freeze, prefetch)
    assert method.rows == 8


def test_options_reach_the_drafter():
    drafter = parse("free:eps:parent+greedy", "chain:8").make_drafter(make_target("gaussian"))
    assert isinstance(drafter, Free)
    assert (drafter.freeze, drafter.prefetch) == ("eps", "parent")


def test_sequential_has_no_parts_and_one_row():
    method = parse("sequential", "chain:8")
    assert (method.drafter, method.verifier, method.tree, method.freeze) == (None,) * 4
    assert (method.rows, method.title) == (1, "sequential")


def test_every_pair_of_registered_parts_has_a_name():
    for drafter in DRAFTERS:
        for verifier in VERIFIERS:
            assert parse(f"{drafter}+{verifier}", "kary:2,3").rows == 7


def test_everything_listed_can_be_used():
    for name in METHODS:
        parse(name, "chain:4")
    for spec in TREES:
        grow(spec)
    for name in set(TARGETS) - {"digits"}:
        target = make_target(f"{name}:3")
        assert target.shape == ((512,) if name == "gm" else (3,))


def test_the_papers_mixture_brings_its_own_chain():
    target = make_target("gm:0.06")
    chain = target.make_chain(target.steps)
    torch.testing.assert_close(chain.std, flow_sde(30, 0.06).std)
    assert int((chain.std > 0).sum()) == 28
    x = torch.zeros(2, 512)
    assert target.denoiser(x, torch.tensor([1.0, 0.5])).isfinite().all()
    assert make_target("gm").make_chain(5).name == "flow_sde(churn=0.3)"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("recicled+greedy", "unknown drafter 'recicled'.*'recycled'"),
        ("free+reflexion", "unknown verifier 'reflexion'.*'reflection'"),
        ("sequentail", "unknown method 'sequentail'.*'sequential'"),
        ("free", "unknown method 'free'.*'free[+]"),
        ("free:esp+greedy", "unknown option of drafter 'free' 'esp'.*'eps'"),
        ("frozen:parent+greedy", "unknown option of drafter 'frozen' 'parent'"),
        ("model:eps+greedy", "drafter 'model' takes no option"),
        ("recycled:eps+greedy", "unknown option of drafter 'recycled' 'eps'"),
        ("", "unknown method ''"),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest_valid_one(name, message):
    with pytest.raises(ValueError, match=message):
        parse(name, "chain:8")


def test_a_drafter_without_its_cheap_model_says_what_to_use():
    with pytest.raises(ValueError, match="needs a cheap model.*'gaussian' has none"):
        parse("model+greedy", "chain:4").make_drafter(make_target("gaussian"))


@pytest.mark.parametrize(
    "spec",
    ["gaussian:0", "gaussian:x", "mixture:", "digits:3", "gausian", "gm:0", "gm:-1", "gm:1e"],
)
def test_a_wrong_target_is_refused(spec):
    with pytest.raises(ValueError, match="target"):
        make_target(spec)


def test_warm_methods_are_named_and_given_what_they_were_taught():
    method = parse("free:warm+traversal", "kary:2,3")
    assert (method.warm, method.freeze, method.prefetch) == (True, "x0", "nearest")
    known = Calibration(9)
    drafter = method.make_drafter(make_target("gaussian"), known)
    assert isinstance(drafter, Free) and drafter.calibration is known
    assert not parse("free+traversal", "kary:2,3").warm


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("frozen:warm+greedy", "'frozen' cannot be taught.*recycled:warm or free:warm"),
        ("model:warm+greedy", "'model' cannot be taught"),
        ("free:eps:warm+greedy", "leave out the other options, free:warm[+]greedy"),
        ("free:warm:parent+greedy", "leave out the other options"),
        ("recycled:wram+greedy", "Did you mean 'warm'"),
    ],
)
def test_what_cannot_be_taught_is_refused(name, message):
    with pytest.raises(ValueError, match=message):
        parse(name, "chain:8")
