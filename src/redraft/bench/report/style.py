"""How plots look: quiet, legible in light and in dark, each method with one colour everywhere."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Any, NamedTuple

import matplotlib
from matplotlib.figure import Figure

from redraft.bench.methods import AUTO

__all__ = ["DARK", "LIGHT", "Look", "Theme", "as_uri", "looks", "panels", "png", "themed"]

COLOURS = 128
DPI = 144


class Theme(NamedTuple):
    """Colours of a plot.

    Attributes:
        paper: Background.
        ink: Text and axes.
        faint: Grid and what is only for reference.
        ours: Colours of this library's methods, in order.
        theirs: Colours of the published ones.
    """

    paper: str
    ink: str
    faint: str
    ours: tuple[str, ...]
    theirs: tuple[str, ...]


# After Okabe and Ito, who chose them to be told apart with any colour vision.
LIGHT = Theme(
    "#ffffff",
    "#22262b",
    "#c9ced4",
    ("#0072b2", "#d55e00", "#007d5a", "#b0357f", "#8a6d00"),
    ("#5f6b76", "#8a949e", "#3d464f", "#a3876a", "#7a6f9b"),
)
DARK = Theme(
    "#171a1e",
    "#e3e6ea",
    "#454b53",
    ("#56b4e9", "#f0883e", "#2fc79a", "#e58fc0", "#e0c24a"),
    ("#a7b1bb", "#77828d", "#cdd4da", "#c4a98b", "#a99fce"),
)
MARKERS_OURS, MARKERS_THEIRS = "oDs^v", "xP+*1"


class Look(NamedTuple):
    """Line of a method."""

    color: str
    marker: str
    linestyle: str

    def line(self) -> dict[str, Any]:
        """Return arguments for `matplotlib.axes.Axes.plot`."""
        return {**self._asdict(), "markersize": 5, "linewidth": 1.5}


def looks(theirs: Sequence[str], ours: Sequence[str], theme: Theme) -> dict[str, Look]:
    """Return a look for each name: published ones dashed and grey, ours in colour, auto dotted."""
    found = {}
    for place, name in enumerate(theirs):
        colour = theme.theirs[place % len(theme.theirs)]
        found[name] = Look(colour, MARKERS_THEIRS[place % len(MARKERS_THEIRS)], "--")
    for place, name in enumerate(name for name in ours if name not in AUTO):
        colour = theme.ours[place % len(theme.ours)]
        found[name] = Look(colour, MARKERS_OURS[place % len(MARKERS_OURS)], "-")
    for name in ours:
        if name in AUTO:  # lies on the line of what it has chosen: must let it show through
            found[name] = Look(theme.ink, "x", ":")
    return found


@contextmanager
def themed(theme: Theme) -> Iterator[None]:
    """Draw figures in these colours."""
    settings: dict[Any, Any] = {
        "figure.facecolor": theme.paper,
        "axes.facecolor": theme.paper,
        "savefig.facecolor": theme.paper,
        "text.color": theme.ink,
        "axes.labelcolor": theme.ink,
        "axes.edgecolor": theme.ink,
        "axes.titlecolor": theme.ink,
        "xtick.color": theme.ink,
        "ytick.color": theme.ink,
        "grid.color": theme.faint,
        "grid.linewidth": 0.6,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 10,
        "axes.labelsize": 9,
        "xtick.labelsize": 8.5,
        "ytick.labelsize": 8.5,
        "legend.fontsize": 8.5,
        "legend.facecolor": theme.paper,
        "legend.edgecolor": "none",
        "legend.framealpha": 0.85,
        "font.size": 9,
        "font.family": "DejaVu Sans",  # comes with matplotlib
    }
    with matplotlib.rc_context(settings):
        yield


def panels(rows: int, columns: int, height: float, **options: Any) -> tuple[Figure, Any]:
    """Return a figure as wide as the page, and its axes (rows, columns)."""
    figure = Figure(figsize=(7.6, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def png(figure: Figure) -> bytes:
    """Return a figure as a small PNG."""
    from PIL import Image  # matplotlib depends on it

    raw, packed = BytesIO(), BytesIO()
    figure.savefig(raw, format="png", dpi=DPI)
    image = Image.open(raw).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    image.save(packed, format="png", optimize=True)
    return packed.getvalue()


def as_uri(image: bytes) -> str:
    """Return a PNG as a data URI."""
    return "data:image/png;base64," + b64encode(image).decode("ascii")
