"""The samples as a picture: a grid of images, or a cloud of points. Needs matplotlib."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from torch import Tensor

__all__ = ["FORMATS", "draw"]

FORMATS = {".png": "png", ".pdf": "pdf", ".svg": "svg"}
PANEL = 4.0  # inches
PAD = 0.1  # inches
DPI = 150


def draw(panels: Mapping[str, Tensor], path: Path) -> None:
    """Write one panel for each title.

    Args:
        panels: Samples (n, *shape): images (n, 1, h, w) in [-1, 1], drawn dark on light, or vectors
            (n, d), of which the first two numbers are drawn (a histogram if there is only one).
        path: File to write; its ending says how.
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=PAD, h_pad=PAD)
    figure = Figure(figsize=(PANEL * len(panels), PANEL + 0.4), dpi=DPI, layout=layout)
    axes = figure.subplots(1, len(panels), squeeze=False, sharex=True, sharey=True)[0]
    for axis, (title, samples) in zip(axes, panels.items(), strict=True):
        values = samples.float().cpu().numpy()
        axis.set_title(title, fontsize=9, pad=10)
        if values.ndim == 4:
            axis.imshow(_tiles(values[:, 0]), cmap="gray_r", vmin=-1, vmax=1)
            axis.axis("off")
        elif values.shape[1] == 1:
            axis.hist(values[:, 0], bins="auto")
        else:
            axis.scatter(values[:, 0], values[:, 1], s=8, alpha=0.6, linewidths=0)
            axis.set_xlabel("first coordinate")
            axis.set_ylabel("second coordinate")
    figure.savefig(path, format=FORMATS[path.suffix.lower()])


def _tiles(images: np.ndarray) -> np.ndarray:
    """Lay images (n, h, w) out on a grid that is about square, with a pixel between them."""
    count, height, width = images.shape
    across = math.ceil(math.sqrt(count))
    down = math.ceil(count / across)
    grid = np.full((down * (height + 1) + 1, across * (width + 1) + 1), -1.0)
    for place, image in enumerate(images):
        top, left = (place // across) * (height + 1) + 1, (place % across) * (width + 1) + 1
        grid[top : top + height, left : left + width] = image
    return grid
