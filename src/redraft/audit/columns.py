"""Scalar columns of i.i.d. rows, with a name each: what the asserts look at."""

from typing import NamedTuple

import torch
from torch import Tensor

__all__ = ["Columns", "as_columns", "same_columns"]


class Columns(NamedTuple):
    """Scalars computed from i.i.d. rows.

    Attributes:
        values: (num, columns) float64 on the CPU.
        labels: Name of each column, for reports.
    """

    values: Tensor
    labels: list[str]


def as_columns(name: str, samples: Tensor | Columns) -> Columns:
    """Bring rows to float64 (num, columns) and name the columns.

    Raises:
        ValueError: If the shape is neither (num,) nor (num, columns), or a value is not finite.
    """
    values = samples.values if isinstance(samples, Columns) else samples
    if values.ndim not in (1, 2) or values.numel() == 0:
        raise ValueError(
            f"{name} must be non-empty (num,) or (num, columns), got {tuple(values.shape)}; "
            "turn paths into columns with `projections`"
        )
    values = values.detach().reshape(len(values), -1).to("cpu", torch.float64)
    given = samples.labels if isinstance(samples, Columns) else None
    labels = given or [f"column {i}" for i in range(values.shape[1])]
    if len(labels) != values.shape[1]:
        raise ValueError(f"{name} has {values.shape[1]} columns, but {len(labels)} labels")
    finite = values.isfinite().all(dim=0)
    if not bool(finite.all()):
        label = labels[int(finite.int().argmin())]
        raise ValueError(f"{name} must be finite, got NaN or infinity in {label}")
    return Columns(values, labels)


def same_columns(a: Columns, b: Columns) -> None:
    """Raise ValueError unless both samples have the same columns in the same order."""
    if a.labels != b.labels:
        raise ValueError(
            f"a and b must have the same columns, got {len(a.labels)} and {len(b.labels)}; "
            "make both with the same `projections` arguments"
        )
