"""Plots of acceptance: by depth in the draft, and along the chain."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from redraft.bench.report.calls import legend
from redraft.bench.report.data import Document, best_by_name, focus, names, title
from redraft.bench.report.style import Theme, looks, panels

__all__ = ["acceptance"]

FEWEST = 20
"""Tries below which a share is not drawn."""


def acceptance(found: Document, theme: Theme) -> Figure:
    """Share of the tries accepted, by depth and by step, in the cell shown in detail."""
    theirs, ours = names(found)
    look, kept = looks(theirs, ours, theme), focus(found)
    figure, axes = panels(1, 2, 3.6, sharey=True)
    steps = kept["cell"]["steps"]
    for name, method in best_by_name(kept, list(look)).items():
        style = {**look[name].line(), "markersize": 3.5}
        for axis, key in zip(axes.flat, ("acceptance_by_depth", "acceptance_by_step"), strict=True):
            share = np.array([np.nan if s is None else s for s in method[key]], dtype=float)
            place = np.arange(1.0, len(share) + 1)
            if key == "acceptance_by_depth":
                share[np.array(method["tried_by_depth"]) < FEWEST] = np.nan
            if key == "acceptance_by_step":
                place = (place - 0.5) * steps / max(len(share), 1)
            axis.plot(place, 100 * share, label=f"{name} {method['tree']}", **style)
    axes[0, 0].set(xlabel="depth in the draft", ylabel="accepted of those tried, %", ylim=(0, 103))
    axes[0, 1].set(xlabel="step of the chain (noise to data)")
    where = f"{title(kept['cell']['target'], steps)}, {kept['cell']['rows']} rows"
    axes[0, 0].xaxis.get_major_locator().set_params(integer=True)
    axes[0, 0].set_title("by depth: " + where)
    axes[0, 1].set_title("by step")
    legend(figure, axes)
    return figure
