"""The 8x8 digits of scikit-learn: a fixed split, and a gentle augmentation.

References:
    Optical Recognition of Handwritten Digits (Alpaydin and Kaynak, 1998), https://doi.org/10.24432/C50P49
    scikit-learn, the copy that is read here, https://scikit-learn.org/stable/datasets/toy_dataset.html
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

SPLIT_SEED = 2024
NUM_VALIDATION = 360


class Digits(NamedTuple):
    """Images (N, 1, 8, 8) float32 in [-1, 1] and labels (N,) int64, split once and for all.

    Attributes:
        images: Training images.
        labels: Training labels.
        held_images: Validation images, never trained on.
        held_labels: Validation labels.
    """

    images: Tensor
    labels: Tensor
    held_images: Tensor
    held_labels: Tensor


def load() -> Digits:
    """Load the 1797 digits and split them with a fixed seed, 1437 for training and 360 for
    validation.

    Returns:
        The split data.

    Raises:
        ImportError: scikit-learn is not installed.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise ImportError("the digits come with scikit-learn: pip install scikit-learn") from error
    pixels, classes = load_digits(return_X_y=True)
    images = torch.as_tensor(pixels, dtype=torch.float32).view(-1, 1, 8, 8) / 8 - 1
    labels = torch.as_tensor(classes, dtype=torch.int64)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(SPLIT_SEED))
    held, train = order[:NUM_VALIDATION], order[NUM_VALIDATION:]
    return Digits(images[train], labels[train], images[held], labels[held])


def augment(images: Tensor, generator: torch.Generator, probability: float = 0.7) -> Tensor:
    """Rotate by up to 8 degrees, shear, stretch by up to 6 % and shift by up to 0.35 pixel, at
    random. The results have the data's seventeen shades of grey again.

    Args:
        images: Digits, shape (R, 1, 8, 8), in [-1, 1].
        generator: Source of the randomness, on the CPU.
        probability: Probability with which a row is changed at all.

    Returns:
        The changed digits, same shape, in [-1, 1].
    """
    rows = len(images)
    draws = 2 * torch.rand(rows, 6, generator=generator) - 1
    draws = draws * (torch.rand(rows, 1, generator=generator) < probability)
    limits = torch.tensor([math.radians(8), 0.12, 0.06, 0.06, 0.35 / 4, 0.35 / 4])
    angle, shear, wide, high, right, down = (draws * limits).unbind(1)
    cos, sin = angle.cos(), angle.sin()
    first = torch.stack([(1 + wide) * cos, shear - sin, right], -1)
    second = torch.stack([sin, (1 + high) * cos, down], -1)
    grid = F.affine_grid(torch.stack([first, second], 1), list(images.shape), align_corners=False)
    # Outside of the image is paper: shift so that paper is zero, the padding's value.
    moved = F.grid_sample(
        images + 1, grid, mode="bicubic", padding_mode="zeros", align_corners=False
    )
    return (8 * moved.clamp(0, 2)).round() / 8 - 1
