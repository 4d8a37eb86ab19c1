r"""Are the samples digits, the right ones, and not copies of training images?

Samples come from the plain ancestral chain written out in `generate`. Copies show as distances to
the nearest training image far below those of held-out digits, noise as distances far above. A
classifier of real digits must see the class that was asked for.

References:
    A note on the evaluation of generative models (Theis et al., 2016),
        https://arxiv.org/abs/1511.01844, section 3.3
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from redraft.zoo.digits import data
from redraft.zoo.digits.model import SHAPE

Denoiser = Callable[[Tensor, Tensor, Tensor], Tensor]
QUANTILES = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)


@torch.no_grad()
def generate(model: Denoiser, labels: Tensor, seed: int, steps: int = 100) -> Tensor:
    r"""Ancestral samples: levels from 20 to 0.02 spaced as Karras et al., then the prediction.

    .. math::
        x_{n+1} = \frac{s_{down}}{\sigma_n} x_n
            + \Bigl(1 - \frac{s_{down}}{\sigma_n}\Bigr) \hat x_0(x_n) + s_{up} z, \quad
        s_{up}^2 = \sigma_{n+1}^2 \frac{\sigma_n^2 - \sigma_{n+1}^2}{\sigma_n^2},\;
        s_{down}^2 = \sigma_{n+1}^2 - s_{up}^2

    Args:
        model: Denoiser called as model(x, level, label).
        labels: Classes to generate, shape (R,), int64.
        seed: Seed of all noise.
        steps: Noisy steps.

    Returns:
        The samples, shape (R, 1, 8, 8), float32, rounded to the 17 greys of the data in [-1, 1].
    """
    generator = torch.Generator().manual_seed(seed)
    roots = torch.linspace(20 ** (1 / 7), 0.02 ** (1 / 7), steps + 1, dtype=torch.float64)
    levels = roots.pow(7).tolist()
    x = levels[0] * torch.randn(len(labels), *SHAPE, generator=generator)
    for now, after in zip(levels[:-1], levels[1:], strict=True):
        clean = model(x, torch.full((len(x),), now), labels)
        up = after * (1 - (after / now) ** 2) ** 0.5
        share = (after**2 - up**2) ** 0.5 / now
        noise = torch.randn(x.shape, generator=generator)
        x = share * x + (1 - share) * clean + up * noise
    clean = model(x, torch.full((len(x),), levels[-1]), labels)
    return ((clean.clamp(-1, 1) + 1) * 8).round() / 8 - 1


def nearest(queries: Tensor, references: Tensor) -> Tensor:
    """Euclidean distance of each query to its nearest reference.

    Args:
        queries: Images, shape (R, 1, 8, 8).
        references: Images, shape (N, 1, 8, 8).

    Returns:
        The distances, shape (R,).
    """
    return torch.cdist(queries.flatten(1), references.flatten(1)).amin(1)


def quantiles(distances: Tensor) -> list[float]:
    """Quantiles of distances at `QUANTILES`.

    Args:
        distances: The distances, shape (R,).

    Returns:
        One number for each of `QUANTILES`.
    """
    return torch.quantile(distances, torch.tensor(QUANTILES)).tolist()


def class_accuracy(images: Tensor, labels: Tensor) -> float:
    """How often a support-vector classifier of the real training digits sees the stated class.

    Args:
        images: Digits, shape (R, 1, 8, 8).
        labels: Their stated classes, shape (R,).

    Returns:
        The share of the images, in [0, 1].
    """
    from sklearn.svm import SVC

    digits = data.load()
    classifier = SVC(C=10.0).fit(digits.images.flatten(1).numpy(), digits.labels.numpy())
    return float(classifier.score(images.flatten(1).numpy(), labels.numpy()))
