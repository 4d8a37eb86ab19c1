"""Projections: what they are made of, and that each kind sees what only it can see."""

import pytest
import torch

from redraft.audit import assert_same_law, expect_caught, projections
from redraft.audit.columns import Columns
from redraft.audit.projections import unit_vectors

NUM = 10000
DETECT = 0.1


def walk(seed, num=NUM, steps=3, size=4):
    """(num, steps + 1, size) autoregressive paths with standard normal states."""
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randn(num, steps + 1, size, dtype=torch.float64, generator=generator)
    states = [noise[:, 0]]
    for n in range(steps):
        states.append(0.8 * states[-1] + 0.6 * noise[:, n + 1])
    return torch.stack(states, dim=1)


def kind(columns, part):
    keep = [i for i, label in enumerate(columns.labels) if part in label]
    return Columns(columns.values[:, keep], [columns.labels[i] for i in keep])


def test_columns_are_counted_and_named():
    columns = projections(walk(0, num=5), 2, seed=0)
    assert columns.values.shape == (5, 3 * (3 * 2 + 2) + 2 + 1 + 4)
    assert columns.values.dtype == torch.float64
    assert len(set(columns.labels)) == len(columns.labels)
    assert columns.labels[:4] == ["u0.x_0", "u1.x_0", "|x_0|", "u0.(x_0, x_1)"]
    assert columns.labels[-1] == "g1 u1.path"


def test_directions_depend_on_the_arguments_alone():
    a, b = walk(1, num=5), walk(2, num=5)
    both = projections(torch.cat([a, b]), 2, seed=3)
    assert torch.allclose(both.values[:5], projections(a, 2, seed=3).values)
    assert torch.allclose(both.values[5:], projections(b.float(), 2, seed=3).values, atol=1e-5)
    assert not torch.allclose(both.values[:5], projections(a, 2, seed=4).values)


def test_plain_samples_have_marginals_only():
    columns = projections(walk(0, num=5)[:, :1].reshape(5, 1, 2, 2), 3, seed=0)
    assert columns.labels == ["u0.x_0", "u1.x_0", "u2.x_0", "|x_0|"]


def test_steps_choose_states_and_their_successors():
    columns = projections(walk(0, num=5), 1, seed=0, steps=(1, -1))
    assert "|x_2 - x_1|" in columns.labels and "|x_3|" in columns.labels
    assert not any("x_0" in label for label in columns.labels)


def test_scale_divides_the_states():
    paths, scale = walk(0, num=5), torch.tensor([1.0, 2.0, 4.0, 8.0])[:, None]
    scaled = projections(paths * scale, 2, seed=0, scale=scale)
    assert torch.allclose(scaled.values, projections(paths, 2, seed=0).values)


def test_directions_are_unit_vectors():
    directions = unit_vectors(7, 3, torch.Generator().manual_seed(0))
    assert torch.allclose(directions.norm(dim=1), torch.ones(7, dtype=torch.float64))


@pytest.mark.statistical
def test_equal_laws_pass(fresh_seed):
    a, b = (projections(walk(fresh_seed // 2 + i), 4, fresh_seed) for i in range(2))
    assert_same_law(a, b, detect=DETECT)


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("bug", "seen_in", "unseen_in"),
    [
        ("shifted state", "u0.x_3", "x_2"),
        ("independent neighbours", "(x_3 - x_2)", "u0.x_"),
        ("step noise of the wrong size", "|x_3 - x_2|", "|x_1 - x_0|"),
        ("halves of two paths", "g", "u0.x_"),
    ],
)
def test_each_kind_catches_what_it_is_for(bug, seen_in, unseen_in, fresh_seed):
    right, wrong, other = (walk(fresh_seed // 2 + i) for i in range(3))
    if bug == "shifted state":
        wrong[:, 3] += 0.8
    elif bug == "independent neighbours":
        wrong[:, 3] = other[:, 3]
    elif bug == "step noise of the wrong size":
        wrong[:, 3] = 0.96 * wrong[:, 2] + 0.28 * other[:, 0]
    else:
        wrong[:, :2] = other[:, :2]
    a, b = (projections(paths, 16, seed=0) for paths in (right, wrong))
    with expect_caught(bug):
        assert_same_law(kind(a, seen_in), kind(b, seen_in), detect=DETECT)
    unseen_a, unseen_b = (kind(columns, unseen_in) for columns in (a, b))
    if bug != "shifted state":
        assert_same_law(unseen_a, unseen_b, detect=DETECT)


def test_misfits_are_named():
    paths = walk(0, num=5)
    with pytest.raises(ValueError, match=r"got \(5,\) and 1"):
        projections(torch.zeros(5), 1, seed=0)
    with pytest.raises(ValueError, match=r"steps must be indices of 4 states, got \[4\]"):
        projections(paths, 1, seed=0, steps=[4])
    with pytest.raises(ValueError, match="scale must be positive and finite"):
        projections(paths, 1, seed=0, scale=torch.zeros(4, 1))
