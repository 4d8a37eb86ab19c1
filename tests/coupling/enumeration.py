"""The exact law of a verifier's output, by enumeration.

Every draft tree of tokens, with its probability under the draft, is walked with every combination
of coins that succeed (0) and fail (1); the verdict's ``chance`` is the probability of a success.
(``test_contract.py`` shows that a walk knows a coin only through ``coin < chance``.) The last token
of a round comes from ``sample_excess``, whose law is read off by bisecting its uniform. The path is
completed with the target's kernels, and its law compared with the target's.

Nodes deeper than the limit, and places without a child, hold NaN: they must not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from redraft.coupling import CategoricalPair, Verifier
from redraft.coupling.pair import Floats
from redraft.tree import Tree

from .kernels import Kernels

__all__ = ["assert_exact", "assert_possible"]

TOLERANCE = 1e-12

Ints = NDArray[np.int64]


class Rounds(NamedTuple):
    """What a verifier is given, for R combinations of tokens and coins (see `Verifier.walk`).

    Attributes:
        tokens: (R, T) drafted tokens; V at the root, 0 where there is no node.
        drafted: (R,) probability of the tokens under the draft.
        p: (R, T, V) draft laws at the nodes.
        q: (R, T, V) target laws.
        ratio: (R, T, K) log-ratios of the children.
        coins: (R, T) 0 or 1, so that every coin succeeds or fails.
        limit: (R,) depth where the tree is cut off.
    """

    tokens: Ints
    drafted: Floats
    p: Floats
    q: Floats
    ratio: Floats
    coins: Floats
    limit: Ints


def rounds(tree: Tree, kernels: Kernels, limit: int, coin_values: Sequence[float]) -> Rounds:
    """Return all combinations of tokens of positive probability and of coins."""
    exists = tree.depth <= limit
    free = exists & (tree.parent >= 0)
    words = _words(kernels.vocab, int(free.sum()))
    tokens = np.zeros((len(words), len(tree)), dtype=np.int64)
    tokens[:, 0] = kernels.vocab
    tokens[:, free] = words
    drafted = kernels.p[tree.depth[free] - 1, tokens[:, tree.parent[free]], words].prod(1)
    tokens, drafted = tokens[drafted > 0], drafted[drafted > 0]
    p, q = (np.where(exists[:, None], law[tree.depth, tokens], np.nan) for law in kernels)
    child = np.where(exists[tree.child], tree.child, -1)
    offered = tokens[:, np.maximum(child, 0)] % kernels.vocab
    with np.errstate(divide="ignore"):
        of_q, of_p = (np.log(np.take_along_axis(law, offered, axis=2)) for law in (q, p))
    ratio = np.where(child >= 0, of_q - np.where(child >= 0, of_p, 0.0), np.nan)
    marks = np.array(coin_values)[_words(len(coin_values), int(free.sum()))]
    coins = np.full((len(marks), len(tree)), coin_values[0])
    coins[:, free] = marks
    row = np.repeat(np.arange(len(tokens)), len(marks))
    coins, limits = np.tile(coins, (len(tokens), 1)), np.full(len(row), limit)
    return Rounds(tokens[row], drafted[row], p[row], q[row], ratio[row], coins, limits)


def output_laws(
    verifier: Verifier,
    tree: Tree,
    kernels: Kernels,
    pair_type: type[CategoricalPair] = CategoricalPair,
) -> list[Floats]:
    """Return the law (V, ..., V) of the output under every limit 0..height, walked as one batch."""
    parts = [rounds(tree, kernels, limit, (0.0, 1.0)) for limit in range(tree.height + 1)]
    given = Rounds(*(np.concatenate(x) for x in zip(*parts, strict=True)))
    pair = pair_type(torch.from_numpy(given.p), torch.from_numpy(given.q))
    verdict = verifier.walk(tree, pair, given.ratio, given.coins, given.limit)
    chance = np.clip(np.nan_to_num(verdict.chance), 0.0, 1.0)
    tossed = (tree.depth <= given.limit[:, None]) & (tree.parent >= 0)
    factor = np.where(given.coins == 0.0, chance, 1.0 - chance)
    weight = given.drafted * np.where(tossed, factor, 1.0).prod(1)
    laws = [np.zeros((kernels.vocab,) * kernels.levels) for _ in parts]
    for limit, stop in {*zip(given.limit.tolist(), verdict.stop.tolist(), strict=True)}:
        rows = (verdict.stop == stop) & (given.limit == limit) & (weight > 0)
        path = np.nonzero(tree.ancestor[stop])[0]
        last = given.q[rows, stop]
        if tree.depth[stop] < limit and tree.child[stop, 0] >= 0:
            own = pair_type(*(torch.from_numpy(law[rows, stop]) for law in (given.p, given.q)))
            last = _law_of_excess(own, verdict.rho[rows], verdict.lam[rows])
        place = given.tokens[rows][:, path[1:]] @ kernels.vocab ** np.arange(len(path) - 1)[::-1]
        first = np.zeros((kernels.vocab ** (len(path) - 1), kernels.vocab))
        np.add.at(first, place, weight[rows, None] * last)
        laws[limit] += kernels.extend(first.reshape((kernels.vocab,) * len(path)))
    return laws


def assert_exact(
    verifier: Verifier,
    tree: Tree,
    kernels: Kernels,
    pair_type: type[CategoricalPair] = CategoricalPair,
) -> None:
    """Assert that the output has the target's law, to 1e-12, wherever the tree is cut off."""
    for limit, law in enumerate(output_laws(verifier, tree, kernels, pair_type)):
        error = np.abs(law - kernels.target()).max()
        assert error <= TOLERANCE, f"output law is {error:.2e} away at limit {limit}"


def assert_possible(verifier: Verifier, tree: Tree, kernels: Kernels) -> None:
    """Assert that with all coins 0 no path is committed that the target never takes."""
    given = rounds(tree, kernels, tree.height, coin_values=(0.0,))
    pair = CategoricalPair(torch.from_numpy(given.p), torch.from_numpy(given.q))
    stop = verifier.walk(tree, pair, given.ratio, given.coins, given.limit).stop
    possible = np.ones(given.tokens.shape, dtype=bool)
    possible[:, 1:] = given.ratio[:, tree.parent[1:], tree.rank[1:]] > -np.inf
    assert possible[tree.ancestor[stop]].all(), "committed a token that the target never takes"


def _words(letters: int, length: int) -> Ints:
    """Return all words (letters^length, length)."""
    return np.arange(letters**length)[:, None] // letters ** np.arange(length) % letters


def _law_of_excess(pair: CategoricalPair, rho: Floats, lam: Floats) -> Floats:
    """Return the law (R, V) of ``sample_excess``: where its uniform passes from token to token."""
    vocab = pair.p.shape[-1]
    key = np.concatenate([pair.p.numpy(), pair.q.numpy(), rho[:, None], lam[:, None]], axis=1)
    key, row = np.unique(key, axis=0, return_inverse=True)
    key = np.repeat(key[:, None], vocab - 1, axis=1)
    p, q = (torch.from_numpy(x) for x in (key[..., :vocab], key[..., vocab:-2]))
    low, high = np.zeros(key.shape[:2]), np.ones(key.shape[:2])
    for _ in range(50):
        middle = 0.5 * (low + high)
        token = type(pair)(p, q).sample_excess(key[..., -2], key[..., -1], middle)
        below = token <= np.arange(vocab - 1)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.diff(high, axis=1, prepend=0.0, append=1.0)[row.reshape(-1)]
