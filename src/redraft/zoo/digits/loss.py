r"""The training loss of the digits denoisers, its noise levels, and its value level by level.

The loss is the squared error weighted by :math:`1 / c_{out}^2`, so that every level asks the
network for unit variance, at levels that cover the range evenly and its middle twice:

.. math::
    L = E_\sigma\, E\,
        \frac{\sigma^2 + s^2}{\sigma^2 s^2} \lVert \hat x_0(x_0 + \sigma\epsilon) - y \rVert^2 / 64

with the clean digit, or a teacher's prediction, as y.

References:
    Elucidating the Design Space of Diffusion-Based Generative Models (Karras et al., 2022),
        https://arxiv.org/abs/2206.00364, section 5
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from redraft.zoo.digits.model import DigitsDenoiser

LOWEST, HIGHEST = 0.01, 40.0
VALIDATION_LEVELS = (
    *(0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7),
    *(1.0, 1.5, 2.5, 5.0, 10.0, 20.0, 40.0),
)


def draw_levels(rows: int, generator: torch.Generator) -> Tensor:
    """Draw noise levels, stratified: half of them log-uniform, half log-normal around 0.37.

    Args:
        rows: Number of levels.
        generator: Source of the randomness, on the CPU.

    Returns:
        Levels in [0.01, 40], shape (rows,).
    """
    quantile = (torch.arange(rows) + torch.rand(rows, generator=generator)) / rows
    quantile = quantile.clamp(1e-4, 1 - 1e-4)
    low, high = math.log(LOWEST), math.log(HIGHEST)
    normal = -1.0 + 1.4 * torch.special.ndtri(quantile)
    uniform = low + quantile * (high - low)
    even = torch.arange(rows) % 2 == 0
    return torch.where(even, uniform, normal).clamp(low, high).exp()


def loss_by_row(predicted: Tensor, wanted: Tensor, level: Tensor, sigma_data: float) -> Tensor:
    """Weighted mean squared error of each row.

    Args:
        predicted: Predictions of the clean digits, shape (R, 1, 8, 8).
        wanted: What they should be, same shape.
        level: Noise levels, shape (R,).
        sigma_data: Standard deviation of the data.

    Returns:
        The losses, shape (R,).
    """
    weight = (level.square() + sigma_data**2) / (level * sigma_data).square()
    return weight * (predicted - wanted).square().flatten(1).mean(1)


@torch.no_grad()
def loss_by_level(
    model: DigitsDenoiser,
    images: Tensor,
    labels: Tensor,
    teacher: DigitsDenoiser | None = None,
    seed: int = 7,
) -> Tensor:
    """Mean loss at each of `VALIDATION_LEVELS`, with the same noise at all of them.

    Args:
        model: The denoiser, in evaluation mode.
        images: Clean digits, shape (R, 1, 8, 8).
        labels: Their classes, shape (R,).
        teacher: If given, its predictions are the targets instead of the images.
        seed: Seed of the noise.

    Returns:
        The losses, shape (len(VALIDATION_LEVELS),).
    """
    noise = torch.randn(images.shape, generator=torch.Generator().manual_seed(seed))
    losses = []
    for sigma in VALIDATION_LEVELS:
        level = torch.full((len(images),), sigma)
        noisy = images + sigma * noise
        wanted = images if teacher is None else teacher(noisy, level, labels)
        rows = loss_by_row(model(noisy, level, labels), wanted, level, model.config.sigma_data)
        losses.append(rows.mean())
    return torch.stack(losses)
