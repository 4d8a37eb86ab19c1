"""One Gaussian pair by quadrature: what a node adds to the law of its next state.

The draft offers K children at a node u of weight a. Child k at zeta is accepted with the chance
that the verdict states, once the k - 1 children before it have failed, so all children together
contribute the density

    sum_k reach_k phi(zeta) chance_k(zeta),      reach_{k+1} = reach_k int phi (1 - chance_k),

and the recovered state the rest. Their sum must be a q(zeta), q the density of N(delta, 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial.legendre import leggauss

from redraft.coupling import GaussianPair, Verdict, Verifier
from redraft.coupling.pair import Floats
from redraft.tree import Tree

__all__ = ["Node", "assert_covered", "edge", "integral", "phi", "reflected", "surplus"]

TOLERANCE = 1e-9
_NODES, _WEIGHTS = leggauss(24)


def phi(z: Floats) -> Floats:
    """Density of N(0, 1)."""
    return np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


def edge(delta: float, rho: float, lam: float) -> float:
    """Point where rho q = lam p."""
    return delta / 2 + math.log(lam / rho) / delta if lam > 0 else -math.inf


def integral(
    f: Callable[[Floats], Floats], low: float, high: float, kinks: Sequence[float] = ()
) -> float:
    """Integrate f by Gauss and Legendre's rule on pieces of at most 1 between its kinks."""
    cuts = np.unique(np.clip([*np.arange(low, high), high, *kinks], low, high))
    half = np.diff(cuts)[:, None] / 2
    values = f((cuts[:-1, None] + half * (1.0 + _NODES)).ravel())
    return float((half * _WEIGHTS).ravel() @ values)


@dataclass(frozen=True)
class Node:
    """A node u with K children; the root above it exists to give u its weight a.

    Attributes:
        delta: Distance of the means at u.
        a: Weight of the target at u: 1 for greedy, what is left of it for traversal.
        width: Number K of children.
    """

    verifier: Verifier
    delta: float
    a: float
    width: int

    def verdict(self, zeta: Floats) -> Verdict:
        """Let every child be at zeta (n,), and every coin but u's own fail."""
        tree = Tree(np.array([-1, 0] + [1] * self.width))
        shape = (len(zeta), len(tree))
        pair = GaussianPair(np.full(shape, self.delta))
        ratio = pair.log_ratio(np.broadcast_to(zeta[:, None, None], (*shape, self.width)))
        ratio[:, 0, 0] = math.log(self.a)
        coin = np.full(shape, np.inf)
        coin[:, 1] = -np.inf
        return self.verifier.walk(tree, pair, ratio, coin, np.full(len(zeta), 2))

    def chance(self, zeta: Floats) -> Floats:
        """Return the chances (n, K) of the children at zeta (n,)."""
        return np.clip(self.verdict(zeta).chance[:, 2:], 0.0, 1.0)

    @cached_property
    def reach(self) -> list[float]:
        """Probabilities (K + 1) that the first 0, 1, ... K children fail."""
        reach, kinks, lam = [1.0], [], 0.0
        for rank in range(self.width):
            lam += reach[-1]  # the accepted measure is min(a q, lam p): a kink where they cross
            kinks.append(edge(self.delta, self.a, lam))

            def failing(zeta: Floats, rank: int = rank) -> Floats:
                return phi(zeta) * (1.0 - self.chance(zeta)[:, rank])

            reach.append(reach[-1] * integral(failing, -13.0, 13.0, kinks))
        return reach

    def accepted(self, zeta: Floats) -> Floats:
        """Return the density of accepted children."""
        return phi(zeta) * (self.chance(zeta) @ np.array(self.reach[:-1]))

    @cached_property
    def ending(self) -> tuple[float, float, float]:
        """Probability that u ends the path, and rho and lambda there."""
        verdict = self.verdict(np.zeros(1))
        share = 1.0 if self.verifier.keeps_noise else float(verdict.chance[0, 1])
        return self.reach[-1] * share, float(verdict.rho[0]), float(verdict.lam[0])


def surplus(node: Node, zeta: Floats) -> Floats:
    """Return the density of the recovered state as it should be, (rho q - lam p)_+ / excess."""
    _, rho, lam = node.ending
    mass = GaussianPair(np.array(node.delta)).excess(np.array(rho), np.array(lam))
    density = np.maximum(rho * phi(zeta - node.delta) - lam * phi(zeta), 0.0)
    return density / np.maximum(mass, 1e-300)  # 0: never asked for


def reflected(node: Node, zeta: Floats) -> Floats:
    """Return the density of a recovered state that is the mirror image of the failed child 1."""
    mirror = node.delta - zeta
    return phi(mirror) * (1.0 - node.chance(mirror)[:, 0]) / node.reach[1]


def assert_covered(node: Node, recovered: Callable[[Node, Floats], Floats] = surplus) -> None:
    """Assert that accepted and recovered densities add up to a q, to 1e-9 everywhere."""
    zeta = np.linspace(-9.0, node.delta + 9.0, 1001)
    total = node.accepted(zeta) + node.ending[0] * recovered(node, zeta)
    error = np.abs(total - node.a * phi(zeta - node.delta)).max()
    assert error <= TOLERANCE, f"density is {error:.2e} away at {node}"
