r"""Train a digits denoiser on one CPU thread: ``python -m redraft.zoo.digits.train [--student]``.

The teacher regresses on clean digits, the student on the teacher's :math:`\hat x_0`. Classes are
hidden now and then, so that one network gives both predictions that guidance needs. What is kept
are the averaged weights (EMA) with the lowest validation loss seen: with 1437 training images,
later ones remember them. Everything follows from the seed.

References:
    Elucidating the Design Space of Diffusion-Based Generative Models (Karras et al., 2022),
        https://arxiv.org/abs/2206.00364, table 1
    Classifier-Free Diffusion Guidance (Ho and Salimans, 2022), https://arxiv.org/abs/2207.12598
"""

from __future__ import annotations

import argparse
import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from redraft.zoo.digits import data
from redraft.zoo.digits.loss import draw_levels, loss_by_level, loss_by_row
from redraft.zoo.digits.model import NULL_CLASS, DigitsConfig, DigitsDenoiser
from redraft.zoo.digits.weights import PATHS, read, write


@dataclass(frozen=True)
class Recipe:
    """How a network is trained.

    Attributes:
        config: Sizes of the network.
        steps: Optimiser steps.
        rate: Peak learning rate, reached after 5 % of the steps and then annealed by a cosine.
        decay: Weight decay of AdamW.
        batch: Rows of a step.
        ema: Decay of the averaged weights.
        every: Steps between two looks at the validation loss.
        drop_label: Probability that a row's class is hidden.
    """

    config: DigitsConfig
    steps: int
    rate: float
    decay: float
    batch: int = 256
    ema: float = 0.999
    every: int = 500
    drop_label: float = 0.15


RECIPES = {
    "digits": Recipe(
        DigitsConfig(256, 512, 10, 96, dropout=0.25), 8000, 1e-3, 0.05, drop_label=0.4
    ),
    "digits-small": Recipe(DigitsConfig(128, 128, 2, 64, dropout=0.0), 8000, 2e-3, 0.0),
}


def _batch(
    digits: data.Digits, recipe: Recipe, generator: torch.Generator
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Clean digits (R, 1, 8, 8), noisy ones, levels (R,) and classes (R,), some of them hidden."""
    rows = torch.randint(len(digits.images), (recipe.batch,), generator=generator)
    clean = data.augment(digits.images[rows], generator)
    hidden = torch.rand(recipe.batch, generator=generator) < recipe.drop_label
    label = digits.labels[rows].masked_fill(hidden, NULL_CLASS)
    level = draw_levels(recipe.batch, generator)
    noise = torch.randn(clean.shape, generator=generator)
    return clean, clean + level.view(-1, 1, 1, 1) * noise, level, label


def _rate(step: int, recipe: Recipe) -> float:
    """Learning rate of a step, counted from 1."""
    warm = max(1, recipe.steps // 20)
    progress = max(0, step - warm) / max(1, recipe.steps - warm)
    return recipe.rate * min(step / warm, 0.5 * (1 + math.cos(math.pi * progress)))


def _validate(model: DigitsDenoiser, digits: data.Digits, teacher: DigitsDenoiser | None) -> float:
    """Validation loss, the mean over levels."""
    return loss_by_level(model, digits.held_images, digits.held_labels, teacher).mean().item()


def train(
    recipe: Recipe,
    seed: int,
    teacher: DigitsDenoiser | None = None,
    report: Callable[[str], None] = print,
) -> tuple[DigitsDenoiser, int]:
    """Train one denoiser; the global generator is left as it was found.

    Args:
        recipe: How to train it.
        seed: Seed of weights, batches, noise and dropout.
        teacher: If given, its predictions are the targets.
        report: Called with one line at each look at the validation loss.

    Returns:
        The averaged weights that were best on the validation images, in evaluation mode, and the
        step that they are from.
    """
    digits = data.load()
    generator = torch.Generator().manual_seed(seed)
    with torch.random.fork_rng(devices=[]):
        # Initial weights and dropout can only be drawn from the global generator.
        torch.manual_seed(seed)
        model = DigitsDenoiser(recipe.config).train()
        averaged = copy.deepcopy(model).eval().requires_grad_(False)
        optimiser = torch.optim.AdamW(
            model.parameters(), lr=recipe.rate, betas=(0.9, 0.99), weight_decay=recipe.decay
        )
        best, best_loss, best_step = averaged, math.inf, 0
        for step in range(1, recipe.steps + 1):
            clean, noisy, level, label = _batch(digits, recipe, generator)
            wanted = clean if teacher is None else teacher(noisy, level, label)
            predicted = model(noisy, level, label)
            optimiser.zero_grad(set_to_none=True)
            loss_by_row(predicted, wanted, level, recipe.config.sigma_data).mean().backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.param_groups[0]["lr"] = _rate(step, recipe)
            optimiser.step()
            # Early averages forget the initial weights faster.
            weight = 1 - min(recipe.ema, (1 + step) / (10 + step))
            with torch.no_grad():
                for mean, now in zip(averaged.parameters(), model.parameters(), strict=True):
                    mean.lerp_(now, weight)
            if step % recipe.every == 0 or step == recipe.steps:
                held = _validate(averaged, digits, teacher)
                if held < best_loss:
                    best, best_loss, best_step = copy.deepcopy(averaged), held, step
                report(f"step {step:6d}  validation {held:.4f}  best {best_loss:.4f} @ {best_step}")
    return best, best_step


def main(arguments: list[str] | None = None) -> None:
    """Train and write the weights file.

    Args:
        arguments: Command line; None: that of the process.
    """
    parser = argparse.ArgumentParser(
        prog="python -m redraft.zoo.digits.train", description="Train a digits denoiser."
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, help="optimiser steps (default: the recipe's)")
    parser.add_argument("--out", type=Path, help="file to write (default: the package's own)")
    parser.add_argument("--student", action="store_true", help="distil digits-small from digits")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)
    name = "digits-small" if chosen.student else "digits"
    recipe = replace(RECIPES[name], steps=chosen.steps or RECIPES[name].steps)
    teacher = read(PATHS["digits"]) if chosen.student else None
    model, kept = train(recipe, chosen.seed, teacher)
    write(model, chosen.out or PATHS[name], seed=chosen.seed, steps=recipe.steps, kept_step=kept)


if __name__ == "__main__":
    main()
