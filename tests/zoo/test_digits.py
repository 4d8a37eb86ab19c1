"""The digits network, its data and its training, without the shipped weights."""

from __future__ import annotations

import math

import pytest
import torch

from redraft.zoo.digits import NULL_CLASS, SHAPE, DigitsConfig, DigitsDenoiser, data
from redraft.zoo.digits.loss import draw_levels, loss_by_row
from redraft.zoo.digits.train import main
from redraft.zoo.digits.weights import header, read, write

SMALL = DigitsConfig(32, 24, 2, 16)


@pytest.fixture
def model() -> DigitsDenoiser:
    torch.manual_seed(0)
    made = DigitsDenoiser(SMALL).eval().requires_grad_(False)
    torch.nn.init.normal_(made.head.weight, std=0.1)
    return made


def _inputs(rows: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    level = torch.logspace(-2, 1.6, rows)
    x = torch.randn(rows, *SHAPE, generator=generator) * level.view(-1, 1, 1, 1)
    return x, level, torch.arange(rows) % 11


@pytest.mark.parametrize("x_dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("weights", [torch.float64, torch.float32, torch.bfloat16])
def test_output_has_shape_and_dtype_of_x(model, x_dtype, weights):
    x, level, label = _inputs(7)
    wanted = model(x, level, label)
    out = model.to(weights)(x.to(x_dtype), level, label)
    assert out.shape == x.shape and out.dtype == x_dtype
    rough = torch.bfloat16 in (x_dtype, weights)
    torch.testing.assert_close(out.float(), wanted, rtol=0.05, atol=0.05 if rough else 1e-5)


def test_change_of_dtype_does_not_round_the_embedding_of_the_level(model):
    before = model.frequencies.clone()
    model.bfloat16().float()
    assert torch.equal(model.frequencies, before)


def test_rows_are_independent(model):
    x, level, label = _inputs(9)
    together = model(x, level, label)
    alone = torch.cat([model(x[i : i + 1], level[i : i + 1], label[i : i + 1]) for i in range(9)])
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-6)


def test_same_call_gives_the_same_bits(model):
    inputs = _inputs(5)
    assert torch.equal(model(*inputs), model(*inputs))


def test_no_label_is_the_null_label(model):
    x, level, _ = _inputs(5)
    null = torch.full((5,), NULL_CLASS)
    assert torch.equal(model(x, level), model(x, level, null))
    assert not torch.equal(model(x, level), model(x, level, torch.zeros_like(null)))


def test_label_and_level_matter_row_by_row(model):
    x, level, label = _inputs(5)
    base = model(x, level, label)
    moved = model(x, level * 2, label)
    assert ((base - moved).flatten(1).abs().amax(1) > 0).all()


def test_preconditioning_is_that_of_the_docstring(model):
    x, level, label = (part.double() if part.is_floating_point() else part for part in _inputs(6))
    model.double()
    s, sigma = SMALL.sigma_data, level.view(-1, 1)
    root = (sigma.square() + s * s).sqrt()
    phase = 2 * math.pi * x.flatten(1) / 0.125
    fade = torch.exp(-0.5 * (2 * math.pi * sigma / 0.125).square())
    features = torch.cat((x.flatten(1) / root, fade * phase.sin(), fade * phase.cos()), dim=1)
    inner = model._network(features, model._embed(sigma, label))
    wanted = x.flatten(1) * s * s / root.square() + inner * sigma * s / root
    torch.testing.assert_close(model(x, level, label).flatten(1), wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("level", [0.0, 1e-4])
def test_tiny_levels_return_x(model, level):
    x = torch.rand(3, *SHAPE)
    out = model(x, torch.full((3,), level))
    torch.testing.assert_close(out, x, rtol=0, atol=20 * level + 1e-6)


def test_wrong_shapes_are_named(model):
    with pytest.raises(ValueError, match="x must have shape"):
        model(torch.zeros(2, 64), torch.ones(2))
    with pytest.raises(ValueError, match=r"level \(R,\)"):
        model(torch.zeros(2, *SHAPE), torch.ones(1))
    with pytest.raises(ValueError, match="label must have shape"):
        model(torch.zeros(2, *SHAPE), torch.ones(2), torch.tensor([1]))


def test_split_is_fixed_disjoint_and_scaled():
    digits = data.load()
    assert digits.images.shape == (1437, *SHAPE) and digits.held_images.shape == (360, *SHAPE)
    assert digits.images.min() == -1 and digits.images.max() == 1
    assert set(digits.held_labels.tolist()) == set(range(10))
    assert torch.equal(digits.held_images, data.load().held_images)
    assert torch.cdist(digits.held_images.flatten(1), digits.images.flatten(1)).min() > 0
    everything = torch.cat([digits.images, digits.held_images])
    assert everything.std().item() == pytest.approx(DigitsConfig().sigma_data, abs=1e-3)


def test_augmentation_is_gentle_and_follows_the_generator():
    images = data.load().images[:200]
    changed = data.augment(images, torch.Generator().manual_seed(3))
    assert changed.min() >= -1 and changed.max() <= 1
    assert torch.equal(changed, data.augment(images, torch.Generator().manual_seed(3)))
    kept = (changed - images).flatten(1).abs().amax(1) < 1e-5
    assert 0.15 < kept.float().mean() < 0.45
    assert (changed - images).flatten(1).norm(dim=1).mean() < 2.0
    same = data.augment(images, torch.Generator().manual_seed(3), probability=0.0)
    torch.testing.assert_close(same, images, rtol=0, atol=1e-5)


def test_levels_cover_the_range():
    level = draw_levels(20_000, torch.Generator().manual_seed(0))
    assert level.min() >= 0.01 - 1e-6 and level.max() <= 40 + 1e-3
    for low, high in ((0.01, 0.03), (0.03, 0.3), (0.3, 1), (1, 5), (5, 20), (20, 40)):
        assert ((level > low) & (level < high)).float().mean() > 0.01


def test_loss_is_one_for_the_best_guess_without_a_network():
    # c_skip x is the best linear guess for data of zero mean and variance s^2.
    generator, s = torch.Generator().manual_seed(0), 0.752
    clean = s * torch.randn(4000, *SHAPE, generator=generator)
    level = torch.full((4000,), 0.5)
    x = clean + 0.5 * torch.randn(clean.shape, generator=generator)
    guess = x * s**2 / (s**2 + 0.25)
    assert loss_by_row(guess, clean, level, s).mean().item() == pytest.approx(1, abs=0.02)


def test_weights_file_round_trip(model, tmp_path):
    path = tmp_path / "small.safetensors"
    write(model, path, seed=3, steps=4, kept_step=2)
    again = read(path)
    assert again.config == SMALL and not again.training
    # Files hold half precision, so a model is what was written only once it has been rounded.
    rounded = model.half().float()
    assert torch.equal(again(*_inputs(4)), rounded(*_inputs(4)))
    found = header(path)
    assert (found["seed"], found["steps"], found["kept_step"]) == (3, 4, 2)
    assert found["script"] == "redraft.zoo.digits.train"


def test_missing_and_foreign_files_are_named(tmp_path):
    from safetensors.torch import save_file

    with pytest.raises(FileNotFoundError, match=r"train them with.*--student"):
        read(tmp_path / "digits-small.safetensors")
    save_file({"a": torch.zeros(1)}, tmp_path / "other.safetensors")
    with pytest.raises(ValueError, match="not a weights file"):
        read(tmp_path / "other.safetensors")


@pytest.mark.parametrize("student", [False, True])
def test_training_is_reproducible_to_the_bit(tmp_path, capsys, student):
    state = torch.get_rng_state()
    paths = [tmp_path / f"{run}.safetensors" for run in range(3)]
    for path, seed in zip(paths, ("5", "5", "6"), strict=True):
        flags = ["--student"] if student else []
        main([*flags, "--seed", seed, "--steps", "3", "--out", str(path)])
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert not torch.equal(read(paths[0]).stem.weight, read(paths[2]).stem.weight)
    assert torch.equal(state, torch.get_rng_state())
    assert "validation" in capsys.readouterr().out
    assert all(math.isfinite(p.sum().item()) for p in read(paths[0]).parameters())
