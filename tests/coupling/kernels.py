"""Markov chains of tokens, small enough to enumerate: a draft and a target kernel per step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from redraft.coupling.pair import Floats

__all__ = ["KINDS", "Kernels", "draw"]

KINDS = ("generic", "sparse target", "sparse draft", "equal", "disjoint")


class Kernels(NamedTuple):
    """Laws of the next token.

    Attributes:
        p: Draft (L, V + 1, V): at depth d, after token v (v = V: no token yet), of each token.
        q: Target, the same.
    """

    p: Floats
    q: Floats

    @property
    def levels(self) -> int:
        """Number L of tokens of a whole path."""
        return self.p.shape[0]

    @property
    def vocab(self) -> int:
        """Number V of tokens."""
        return self.p.shape[-1]

    def target(self) -> Floats:
        """Return the law (V, ..., V) of a whole path of L tokens under the target."""
        return self.extend(self.q[0, -1])

    def extend(self, law: Floats) -> Floats:
        """Return the measure of whole paths whose first tokens have the measure ``law``."""
        for depth in range(law.ndim, self.levels):
            law = law[..., None] * self.q[depth, : self.vocab]
        return law


def draw(kind: str, levels: int, vocab: int, seed: int) -> Kernels:
    """Draw kernels of one of ``KINDS``; every row is another law.

    *sparse*: one token of every row has probability zero. *disjoint*: what the one law favours has
    a probability of about 1e-7 under the other.
    """
    random = np.random.default_rng(seed)
    shape = (levels, vocab + 1, vocab)
    p, q = random.random(shape) ** 2, random.random(shape) ** 2
    one = np.arange(vocab) == random.integers(vocab, size=(*shape[:2], 1))
    if kind == "sparse target":
        q[one] = 0.0
    elif kind == "sparse draft":
        p[one] = 0.0
    elif kind == "equal":
        q = p.copy()
    elif kind == "disjoint":
        p, q = np.where(one, p + 0.1, 1e-7 * p), np.where(one, 1e-7 * q, q)
    elif kind != "generic":
        raise ValueError(f"kind must be one of {KINDS}, got {kind!r}")
    return Kernels(p / p.sum(-1, keepdims=True), q / q.sum(-1, keepdims=True))
