r"""Classifier-free guidance as part of the target.

A model that was trained with hidden classes knows both the conditional and the unconditional
prediction. Guidance extrapolates from one to the other with a scale :math:`w`:

.. math::
    \hat x_0^w(x, \sigma, c) = \hat x_0(x, \sigma, \varnothing)
        + w\,(\hat x_0(x, \sigma, c) - \hat x_0(x, \sigma, \varnothing))

The guided prediction *is* the target: what is sampled exactly is the chain of :math:`\hat x_0^w`,
whatever its scale. Each guided row costs two rows of the model, in one call.

References:
    Classifier-Free Diffusion Guidance (Ho and Salimans, 2022), https://arxiv.org/abs/2207.12598
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import LongTensor, Tensor

Denoiser = Callable[..., Tensor]


class Guided:
    r"""The denoiser :math:`\hat x_0^w`; make it with `guided`.

    Args:
        model: Conditional denoiser, called as model(x, level, label).
        scale: Guidance scale w.
        null_class: The label that stands for "no class".
    """

    def __init__(self, model: Denoiser, scale: float, null_class: int) -> None:
        self.model = model
        self.scale = scale
        self.null_class = null_class

    def __call__(self, x: Tensor, level: Tensor, label: LongTensor | Tensor) -> Tensor:
        """Predict the clean data under guidance.

        Args:
            x: Noisy data, shape (R, *shape).
            level: Noise level of each row, shape (R,).
            label: Class of each row, shape (R,), int64.

        Returns:
            The guided predictions, same shape and dtype as x.
        """
        if self.scale == 1.0:
            return self.model(x, level, label)
        labels = torch.cat([label, torch.full_like(label, self.null_class)])
        both = self.model(torch.cat([x, x]), torch.cat([level, level]), labels)
        conditional, null = both.chunk(2)
        return null + self.scale * (conditional - null)

    def __repr__(self) -> str:
        return f"guided({type(self.model).__name__}, scale={self.scale:g})"


def guided(model: Denoiser, scale: float, *, null_class: int = 10) -> Guided:
    """Wrap a conditional denoiser with classifier-free guidance, one model call on twice the rows.

    Args:
        model: Conditional denoiser, called as model(x, level, label).
        scale: Guidance scale: 0 is unconditional, 1 conditional (a plain call without doubled
            rows), above 1 sharper.
        null_class: The label that stands for "no class"; 10 for the digits.

    Returns:
        A denoiser called as denoiser(x, level, label=...).

    Raises:
        ValueError: The scale is not finite.
    """
    if not math.isfinite(scale):
        raise ValueError(f"scale must be a finite number, got {scale!r}: give 1.0 for no guidance")
    return Guided(model, float(scale), null_class)
