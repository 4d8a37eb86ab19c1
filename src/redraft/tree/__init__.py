"""The shape of a draft."""

from redraft.tree.best import best
from redraft.tree.growth import chain, grow, kary
from redraft.tree.tree import Tree

__all__ = ["Tree", "best", "chain", "grow", "kary"]
