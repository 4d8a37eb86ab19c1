"""Write CARD.md and samples.png from the shipped weights: ``python -m redraft.zoo.digits.card``."""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from redraft.zoo.digits import check, data
from redraft.zoo.digits.loss import VALIDATION_LEVELS, loss_by_level
from redraft.zoo.digits.model import DigitsDenoiser
from redraft.zoo.digits.train import RECIPES
from redraft.zoo.digits.weights import PATHS, header, read
from redraft.zoo.guidance import guided

_TEXT = """# digits and digits-small

Class-conditional denoisers of 8x8 grey digits, small enough to ship: targets for the examples,
tests and benchmarks of exact speculative sampling, and for nothing else. This file and
`samples.png` are written by `python -m redraft.zoo.digits.card`; every number is computed there.

## Data

The 1797 digits of `sklearn.datasets.load_digits`, pixels 0..16 mapped to [-1, 1]. scikit-learn's
copy comes under its BSD 3-clause licence; it is the test part of *Optical Recognition of
Handwritten Digits* (E. Alpaydin and C. Kaynak, UCI Machine Learning Repository, 1998,
https://doi.org/10.24432/C50P49, CC BY 4.0). The images are not part of this package.

A fixed split holds out {held} images, which are never trained on but choose the weights that are
kept. Training images are rotated, sheared, stretched and shifted a little; classes are hidden with
probability {drop_label}, which makes label 10 (or none) the unconditional model.

## Models

Residual MLPs with adaLN modulation and EDM preconditioning (sigma_data {sigma_data}), float32, for
noise levels 0.01 to 40. `digits-small` was trained on the predictions of `digits`.

On one machine a command gives the same bits each time. Files hold weights rounded to float16; the
models compute in float32.

{models}
## Loss

Mean squared error by level, weighted by 1 / c_out^2 as in training: below 1 at each level for a
network that knows more than the mean and variance of the data.

{losses}
## Copies or noise?

Quantiles of the Euclidean distance to the nearest training image (pixels in [-1, 1]), of {num}
conditional samples (ancestral chain, 100 steps from level 20 to 0.02). Copies would lie far below
the held-out digits, noise far above. Last column: how often a support-vector classifier of the
real training digits sees the class asked for.

{checks}
## Samples

One class a row; the first panel is real.

![Samples of both models, with and without guidance](samples.png)

## Limits

The samples have the quality of 1437 training images of 8x8 pixels: some are ambiguous, as some real
ones are. Guidance above 1 trades variety for clarity and is part of the target that is sampled.
"""


def _table(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _models(models: dict[str, DigitsDenoiser]) -> str:
    rows = []
    for name, model in models.items():
        found, size = header(PATHS[name]), model.config
        flag = " --student" if name == "digits-small" else ""
        cells = [name, *map(str, (size.width, size.hidden, size.depth, size.embedding))]
        cells.append(f"{sum(p.numel() for p in model.parameters()):,}")
        cells.append(f"{PATHS[name].stat().st_size / 1e6:.2f} MB")
        cells.append(f"{found['kept_step']} of {found['steps']}")
        options = f"{flag} --seed {found['seed']} --steps {found['steps']}"
        rows.append([*cells, f"`python -m {found['script']}{options}`"])
    sizes = ["width", "hidden", "blocks", "embedding"]
    return _table(["name", *sizes, "parameters", "file", "step kept", "command"], rows)


def _losses(models: dict[str, DigitsDenoiser], digits: data.Digits) -> str:
    held = (digits.held_images, digits.held_labels)
    columns: dict[str, Tensor] = {"sigma": torch.tensor(VALIDATION_LEVELS)}
    for name, model in models.items():
        columns[f"{name} training"] = loss_by_level(model, digits.images, digits.labels)
        columns[f"{name} validation"] = loss_by_level(model, *held)
    distance = loss_by_level(models["digits-small"], *held, teacher=models["digits"])
    columns["digits-small to digits"] = distance
    rows = torch.stack(list(columns.values()), 1).tolist()
    cells = [[f"{row[0]:g}", *(f"{loss:.3f}" for loss in row[1:])] for row in rows]
    return _table(list(columns), cells)


def _checks(models: dict[str, DigitsDenoiser], digits: data.Digits, num: int) -> str:
    labels = torch.arange(num) % 10
    sets = {"held-out digits": (digits.held_images, digits.held_labels)}
    for name, model in models.items():
        for scale in (1.0, 2.0):
            samples = check.generate(guided(model, scale), labels, seed=5)
            sets[f"{name}, guidance {scale:g}"] = (samples, labels)
    rows = []
    for title, (images, classes) in sets.items():
        distances = check.quantiles(check.nearest(images, digits.images))
        accuracy = check.class_accuracy(images, classes)
        rows.append([title, *(f"{value:.2f}" for value in distances), f"{accuracy:.3f}"])
    return _table(["images", *(f"{100 * q:g} %" for q in check.QUANTILES), "class seen"], rows)


def _grid(models: dict[str, DigitsDenoiser], digits: data.Digits, path: Path) -> None:
    from matplotlib.figure import Figure

    labels = torch.arange(10).repeat_interleave(10)
    real = torch.cat([digits.held_images[digits.held_labels == c][:10] for c in range(10)])
    panels = {"held-out digits": real}
    for name, scale in (("digits", 1.0), ("digits", 2.0), ("digits-small", 1.0)):
        samples = check.generate(guided(models[name], scale), labels, seed=3)
        panels[f"{name}, guidance {scale:g}"] = samples
    figure = Figure(figsize=(14, 3.8), layout="constrained")
    axes = figure.subplots(1, len(panels))
    for axis, (title, images) in zip(axes, panels.items(), strict=True):
        tiles = F.pad(images.view(10, 10, 8, 8), (1, 0, 1, 0), value=-1)
        axis.imshow(-tiles.permute(0, 2, 1, 3).reshape(90, 90).numpy(), cmap="gray")
        axis.set_title(title, fontsize=10)
        axis.axis("off")
    figure.savefig(path, dpi=100)


def write_card(folder: Path, num: int = 2000) -> None:
    """Write CARD.md and samples.png.

    Args:
        folder: Where to write them.
        num: Samples of each model and guidance scale that the checks are made on.
    """
    digits = data.load()
    models = {name: read(path) for name, path in PATHS.items()}
    _grid(models, digits, folder / "samples.png")
    text = _TEXT.format(
        held=len(digits.held_images),
        drop_label=RECIPES["digits"].drop_label,
        sigma_data=models["digits"].config.sigma_data,
        models=_models(models),
        losses=_losses(models, digits),
        num=num,
        checks=_checks(models, digits, num),
    )
    (folder / "CARD.md").write_text(text, encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    """Write the model card.

    Args:
        arguments: Command line; None: that of the process.
    """
    parser = argparse.ArgumentParser(
        prog="python -m redraft.zoo.digits.card", description="Write the model card."
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder")
    parser.add_argument("--num", type=int, default=2000, help="samples of each model")
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)
    write_card(chosen.out, chosen.num)


if __name__ == "__main__":
    main()
