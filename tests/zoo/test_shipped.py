"""The weights that ship: small, good at every level, neither copying nor making noise."""

from __future__ import annotations

import re

import pytest
import torch

from redraft import zoo
from redraft.zoo.digits import check, data
from redraft.zoo.digits.loss import VALIDATION_LEVELS, loss_by_level
from redraft.zoo.digits.train import RECIPES
from redraft.zoo.digits.weights import PATHS, header

FOLDER = PATHS["digits"].parent


@pytest.fixture(scope="module")
def digits() -> data.Digits:
    return data.load()


@pytest.fixture(scope="module", params=["digits", "digits-small"])
def samples(request) -> tuple[torch.Tensor, torch.Tensor]:
    label = torch.arange(400) % 10
    return check.generate(zoo.load(request.param), label, seed=11), label


def test_names_are_those_that_load():
    assert zoo.names() == ("digits", "digits-small")
    for name in zoo.names():
        model = zoo.load(name, dtype=torch.bfloat16)
        out = model(torch.zeros(2, 1, 8, 8), torch.ones(2), torch.tensor([3, 10]))
        assert out.dtype == torch.float32 and not model.training
        assert all(weight.dtype == torch.bfloat16 for weight in model.parameters())


def test_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="Did you mean 'digits'"):
        zoo.load("digit")


def test_package_data_stay_small():
    assert sum(path.stat().st_size for path in PATHS.values()) <= 8_000_000
    assert (FOLDER / "samples.png").stat().st_size <= 100_000
    assert (FOLDER / "CARD.md").stat().st_size <= 20_000


@pytest.mark.parametrize("name", ["digits", "digits-small"])
def test_weights_come_from_the_recipe(name):
    found = header(PATHS[name])
    recipe = RECIPES[name]
    assert found["steps"] == recipe.steps and 0 < found["kept_step"] <= recipe.steps
    assert zoo.load(name).config == recipe.config


# Mean weighted loss on held-out digits, about 5 % above what CARD.md reports.
BOUNDS = {
    "digits": (
        *(0.028, 0.162, 0.62, 0.525, 0.387, 0.28, 0.245),
        *(0.247, 0.267, 0.297, 0.32, 0.328, 0.33, 0.331),
    ),
    "digits-small": (
        *(0.044, 0.171, 0.655, 0.555, 0.425, 0.309, 0.265),
        *(0.265, 0.278, 0.303, 0.322, 0.329, 0.331, 0.331),
    ),
}


@pytest.mark.parametrize("name", ["digits", "digits-small"])
def test_validation_loss_at_each_level(name, digits):
    loss = loss_by_level(zoo.load(name), digits.held_images, digits.held_labels)
    bounds = torch.tensor(BOUNDS[name])
    assert (loss < bounds).all(), dict(zip(VALIDATION_LEVELS, loss.tolist(), strict=True))


def test_training_digits_are_not_remembered(digits):
    # A network that remembers its images is far better on them at middle levels.
    model = zoo.load("digits")
    seen = loss_by_level(model, digits.images, digits.labels)
    held = loss_by_level(model, digits.held_images, digits.held_labels)
    assert (held / seen).max() < 1.5


def test_student_is_close_to_its_teacher(digits):
    student, teacher = zoo.load("digits-small"), zoo.load("digits")
    gap = loss_by_level(student, digits.held_images, digits.held_labels, teacher)
    assert gap.max() < 0.1


def test_samples_are_neither_copies_nor_noise(samples, digits):
    made = check.nearest(samples[0], digits.images)
    held = check.nearest(digits.held_images, digits.images)
    assert 0.75 < made.median() / held.median() < 1.3
    assert made.quantile(0.01) > 0.8 * held.quantile(0.01)
    assert made.quantile(0.95) < 1.4 * held.quantile(0.95)
    assert made.min() > 0


def test_samples_have_the_class_asked_for(samples):
    assert check.class_accuracy(*samples) > 0.9


def test_samples_are_as_varied_as_digits(samples, digits):
    # Distance to the nearest other sample of the same class, against the same among real digits.
    def spread(images, labels):
        distances = []
        for label in range(10):
            rows = images[labels == label][:30].flatten(1)
            distances.append((torch.cdist(rows, rows) + 100 * torch.eye(len(rows))).amin(1))
        return torch.cat(distances).median()

    ratio = spread(*samples) / spread(digits.held_images, digits.held_labels)
    assert 0.75 < ratio < 1.3


def test_card_states_the_seed_and_the_steps_of_the_weights():
    card = (FOLDER / "CARD.md").read_text(encoding="utf-8")
    for name, path in PATHS.items():
        found = header(path)
        row = re.search(rf"^\| {name} \|.*$", card, re.MULTILINE)
        assert row is not None
        assert f"--seed {found['seed']} --steps {found['steps']}" in row[0]
        assert f"{found['kept_step']} of {found['steps']}" in row[0]
