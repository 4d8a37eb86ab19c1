r"""A draft tree as flat arrays.

Nodes are numbered breadth first, the root (the committed state) is node 0. A node at depth j stands
at step n + j of the chain when the root stands at step n. Every node of a tree is a *row*: the
target is evaluated there, so ``len(tree)``, root included, is the size that is quoted. A node
without children draws its next state from the target itself (a bonus).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Tree"]

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Tree:
    """Shape of a draft.

    Attributes:
        parent: (T,) parent of each node, -1 for the root; parents come before their children.
        name: The specification that made it, e.g. ``"chain:16"``.
    """

    parent: Ints
    name: str = "tree"

    def __post_init__(self) -> None:
        parent = np.asarray(self.parent, dtype=np.int64)
        object.__setattr__(self, "parent", parent)
        if parent.ndim != 1 or len(parent) < 1 or parent[0] != -1:
            raise ValueError(f"parent must be 1-D and start with -1 (the root), got {parent}")
        if (parent[1:] < 0).any() or (parent[1:] >= np.arange(1, len(parent))).any():
            raise ValueError(f"every node's parent must come before it, got parent={parent}")
        if (np.diff(self.depth) < 0).any():
            raise ValueError(f"nodes must be numbered breadth first, got depths {self.depth}")

    def __len__(self) -> int:
        return len(self.parent)

    @cached_property
    def depth(self) -> Ints:
        """(T,) number of edges between the root and each node."""
        depth = np.zeros(len(self), dtype=np.int64)
        for node in range(1, len(self)):
            depth[node] = depth[self.parent[node]] + 1
        return depth

    def cut(self, height: int) -> Tree:
        """Return the tree without the nodes deeper than ``height``; node numbers stay the same."""
        if height >= self.height:
            return self
        if height not in self._cuts:
            count = int(np.searchsorted(self.depth, height, side="right"))
            self._cuts[height] = Tree(self.parent[:count], self.name)
        return self._cuts[height]

    @cached_property
    def _cuts(self) -> dict[int, Tree]:
        return {}

    @cached_property
    def rank(self) -> Ints:
        """(T,) place of each node among its siblings, in drafting order, from 0."""
        seen = np.zeros(len(self), dtype=np.int64)
        rank = np.zeros(len(self), dtype=np.int64)
        for node in range(1, len(self)):
            rank[node] = seen[self.parent[node]]
            seen[self.parent[node]] += 1
        return rank

    @property
    def height(self) -> int:
        """Depth of the deepest node."""
        return int(self.depth[-1])

    @cached_property
    def width(self) -> int:
        """Largest number of children of a node (1 for a chain, 0 for a lone root)."""
        return int(self.rank[1:].max()) + 1 if len(self) > 1 else 0

    @cached_property
    def child(self) -> Ints:
        """(T, width) children of each node in drafting order, -1 where there is none."""
        table = np.full((len(self), max(self.width, 1)), -1, dtype=np.int64)
        table[self.parent[1:], self.rank[1:]] = np.arange(1, len(self))
        return table

    @cached_property
    def ancestor(self) -> Bools:
        """(T, T) whether node k lies on the path from the root to node u, u itself included."""
        table = np.eye(len(self), dtype=bool)
        for node in range(1, len(self)):
            table[node] |= table[self.parent[node]]
        return table

    @cached_property
    def postorder(self) -> Ints:
        """(T,) nodes in the order in which traversal visits them: children first, in order."""
        order: list[int] = []
        stack = [0]
        while stack:  # root first, last child first: the reverse of post-order
            node = stack.pop()
            order.append(node)
            stack.extend(int(child) for child in self.child[node] if child >= 0)
        return np.array(order[::-1], dtype=np.int64)

    @cached_property
    def subtree(self) -> Ints:
        """(T, T) node that stands, below node c, where node v stands below the root; -1 if none.

        Row c tells what becomes of the tree when c's place becomes the new root: the node v of the
        next tree inherits from ``subtree[c, v]``.
        """
        table = np.full((len(self), len(self)), -1, dtype=np.int64)
        table[:, 0] = np.arange(len(self))
        for node in range(1, len(self)):
            above = table[:, self.parent[node]]
            found = self.child[np.maximum(above, 0), self.rank[node]]
            table[:, node] = np.where(above >= 0, found, -1)
        return table
