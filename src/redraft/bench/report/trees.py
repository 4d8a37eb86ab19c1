r"""Drawings of draft trees, each edge with the probability that the committed path takes it.

The root, a committed state, stands on the left; first children stand above their siblings. An edge
is as wide as its *reach*: the probability that the committed path goes through it.

`reach_by_depth` is what acceptance by depth alone tells. With :math:`\alpha_d` the share of tries
at depth d that were accepted, the path reaches depth d with probability :math:`\prod_{j \le d}
\alpha_j`; which of the nodes there it goes through is not known, so each gets an equal share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from redraft.bench.report.data import Document, focus, names
from redraft.bench.report.style import LIGHT, Theme, panels
from redraft.bench.suite.best import best_of
from redraft.tree import Tree, grow

__all__ = ["chosen_trees", "draw_tree", "reach_by_depth", "tree_figure"]

Floats = NDArray[np.float64]

MOST_LABELS = 9
"""Of a level."""


def draw_tree(
    tree: Tree, reach: ArrayLike, axis: Any = None, theme: Theme = LIGHT, title: str | None = None
) -> Figure:
    """Draw a tree.

    Args:
        tree: Its shape, T nodes.
        reach: (T,) probability that the committed path goes through each node; the root's is 1.
        axis: Where; None: in a new figure.
        theme: Colours.
        title: Above it; None: the tree's name.

    Returns:
        The figure.

    Raises:
        ValueError: If there is not one probability for each node.
    """
    share = np.asarray(reach, dtype=np.float64)
    if share.shape != (len(tree),) or not ((share >= 0) & (share <= 1 + 1e-9)).all():
        raise ValueError(
            f"reach must hold a probability for each of the tree's {len(tree)} nodes, got "
            f"shape {share.shape}, values {np.min(share, initial=0)}..{np.max(share, initial=0)}"
        )
    if axis is None:
        figure, axes = panels(1, 1, height(tree))
        axis = axes[0, 0]
    x, y = tree.depth, _heights(tree)
    for node in range(1, len(tree)):
        parent = tree.parent[node]
        axis.plot(
            [x[parent], x[node]],
            [y[parent], y[node]],
            color=theme.ours[0],
            linewidth=0.5 + 5.0 * share[node],
            alpha=0.25 + 0.75 * min(share[node], 1.0),
            solid_capstyle="round",
            zorder=1,
        )
    axis.scatter(x, y, s=22, color=theme.paper, edgecolor=theme.ink, linewidth=1.0, zorder=2)
    axis.scatter(x[:1], y[:1], s=44, color=theme.ink, zorder=3)
    for node in _labelled(tree, share):
        parent = tree.parent[node]
        axis.annotate(
            f"{100 * share[node]:.0f}",
            (0.45 * x[parent] + 0.55 * x[node], 0.45 * y[parent] + 0.55 * y[node]),
            (0, 5),
            textcoords="offset points",
            ha="center",
            fontsize=7.5,
            zorder=4,
            bbox={"boxstyle": "round,pad=0.1", "fc": theme.paper, "ec": "none", "alpha": 0.8},
        )
    axis.set(xlabel="depth", title=tree.name if title is None else title)
    axis.set_yticks([])
    axis.grid(False)
    axis.spines["left"].set_visible(False)
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set_ylim(y.min() - 0.7, y.max() + 0.7)
    return axis.figure


def reach_by_depth(tree: Tree, acceptance: Sequence[float | None]) -> Floats:
    """Return the reach (T,) of each node as far as acceptance by depth tells; see this module.

    Args:
        tree: Its shape.
        acceptance: (H,) share of the tries accepted at depth 1..H; None, and what is missing: 0.
    """
    level = np.zeros(tree.height + 1)
    known = [0.0 if share is None else share for share in acceptance[: tree.height]]
    level[: len(known) + 1] = np.cumprod([1.0, *known])
    return level[tree.depth] / np.bincount(tree.depth)[tree.depth]


def chosen_trees(found: Document) -> tuple[Document, list[Document]]:
    """Return the cell shown in detail and what is drawn of it: fewest calls, and with branches."""
    kept = focus(found)
    theirs, ours = names(found)
    methods = [m for m in kept["found"]["methods"] if m["name"] in (*theirs, *ours) and m["tree"]]
    branched = [m for m in methods if grow(m["tree"]).width > 1]
    best = [best_of(methods), best_of(branched)]
    unique = {(m["name"], m["tree"]): m for m in best if m is not None}
    return kept, list(unique.values())


def tree_figure(found: Document, theme: Theme) -> Figure | None:
    """Draw the trees of `chosen_trees`; None if there is none."""
    _, methods = chosen_trees(found)
    if not methods:
        return None
    trees = [grow(method["tree"]) for method in methods]
    heights = [height(tree) for tree in trees]
    figure, axes = panels(len(trees), 1, sum(heights), height_ratios=heights)
    for axis, tree, method in zip(axes[:, 0], trees, methods, strict=True):
        reach = reach_by_depth(tree, method["acceptance_by_depth"])
        text = f"{method['name']} {tree.name}: {method['calls_mean']:.1f} calls"
        draw_tree(tree, reach, axis, theme, text)
    return figure


def height(tree: Tree) -> float:
    """Return how many inches a drawing needs."""
    widest = int(np.bincount(tree.depth).max())
    return min(1.5 + 0.13 * (widest - 1), 5.5)


def _heights(tree: Tree) -> Floats:
    """Return where each node stands (T,): leaves in order from the top, parents in their middle."""
    y, leaves = np.zeros(len(tree)), 0
    for node in tree.postorder:
        children = [child for child in tree.child[node] if child >= 0]
        if children:
            y[node] = np.mean(y[children])
        else:
            y[node], leaves = -float(leaves), leaves + 1
    return y


def _labelled(tree: Tree, share: Floats) -> list[int]:
    """Return the nodes whose edges get a number: where there is room, and it is not the same."""
    if tree.width <= 1:
        step = max(1, len(tree) // 20)
        return [node for node in range(1, len(tree)) if node == 1 or node % step == 0]
    nodes: list[int] = []
    for depth in range(1, tree.height + 1):
        level = np.flatnonzero(tree.depth == depth)
        same = bool(np.ptp(share[level]) < 1e-9)
        if same or len(level) <= MOST_LABELS:
            nodes += [int(node) for node in (level[:1] if same else level)]
    return nodes
