"""The published algorithms on one sample, in plain floats: independent of the package.

References:
    | Accelerating Speculative Diffusions via Block Verification (Soen et al., 2026)
    | https://arxiv.org/abs/2606.13426
    | Accelerating Diffusion Sampling via Speculative Draft Trees (Bullo et al., 2026), Algorithm 2
    | https://arxiv.org/abs/2609.17691
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from redraft.coupling.pair import Floats

__all__ = ["Block", "block_verification", "greedy_tree", "normal_cdf", "speculative_chain"]


def normal_cdf(x: float) -> float:
    """Phi."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


class Block(NamedTuple):
    """Outcome of block verification: h (L + 1,), a at the end, mass of (a q - p)_+ there."""

    tau: int
    h: list[float]
    a: float
    residual: float


def block_verification(delta: Floats, part: Floats, coin: Floats) -> Block:
    """Verify L drafts of a chain.

    Args:
        delta: (L,) distance of the means that the i-th draft was offered at.
        part: (L,) part along of the i-th draft.
        coin: (L,) uniform of the i-th draft.
    """
    length = len(delta)
    a = [1.0]
    for distance, s in zip(delta, part, strict=True):
        a.append(min(1.0, a[-1] * math.exp(distance * (s - distance / 2))))
    residual = [_residual(delta[i], a[i]) for i in range(length)] + [0.0]
    h = [1.0] + [residual[i] / (residual[i] + 1 - a[i]) for i in range(1, length)] + [a[-1]]
    tau = max(i for i in range(length + 1) if i == 0 or coin[i - 1] <= h[i])
    return Block(tau, h, a[tau], residual[tau])


def _residual(delta: float, a: float) -> float:
    edge = math.log(a) / delta
    return a * normal_cdf(delta / 2 + edge) - normal_cdf(-delta / 2 + edge)


def speculative_chain(delta: Floats, part: Floats, coin: Floats) -> int:
    """Return how many drafts of a chain speculative sampling accepts."""
    for i, (distance, s, u) in enumerate(zip(delta, part, coin, strict=True)):
        if u >= min(1.0, math.exp(distance * (s - distance / 2))):
            return i
    return len(delta)


def greedy_tree(
    children: Sequence[Sequence[int]],
    delta: Floats,
    part: Floats,
    coin: Floats,
) -> tuple[int, float]:
    """Walk from the root; return the node that ends the path and lambda there.

    Args:
        children: Children of each node in drafting order.
        delta: Distance of the means at each node.
        part: Part along of each node.
        coin: Uniform of each node.
    """
    node, lam = 0, 0.0
    while True:
        lam, gap, distance = 0.0, 1.0, delta[node]
        for child in children[node]:
            ratio = math.exp(distance * (part[child] - distance / 2))
            if coin[child] < min(1.0, max(0.0, ratio - lam) / gap):
                node = child
                break
            lam += gap
            edge = math.log(lam) / distance
            upper = normal_cdf(distance / 2 - edge) - lam * normal_cdf(-distance / 2 - edge)
            gap = min(gap, max(0.0, upper))
        else:
            return node, lam
