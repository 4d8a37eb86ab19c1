"""The law of a node under the verifiers that choose, by quadrature of what they do.

A child at s is chosen with density, others being i.i.d. N(0, 1),

    ranked    phi(s) K sum_j lambda_{j+1} binom(K-1, j) Phi(s)^j Phi(-s)^(K-1-j)
    optimal   phi(s) K [(1 - w) Phi(x)^(K-1) + w Phi(y)^(K-1)],

x and y the priorities of a coin that does not promote, and of one that does: priorities are N(0, 1)
(see `test_selection.py`). Times the chance that the walk gives it, that is the accepted density.
With the recovered law, whose quantiles the sampler states, it must add up to N(delta, 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr

from redraft.coupling import Optimal, Ranked
from redraft.coupling.optimal import promotions, turns
from redraft.coupling.pair import Floats
from redraft.coupling.selection import Selection
from redraft.coupling.weights import rank_weights

from .quadrature import integral, phi

__all__ = ["ALL", "DELTAS", "accepted", "assert_covers", "best", "kinks", "log_ratios"]

ALL = (Ranked(), Optimal())
DELTAS = (1e-6, 1e-3, 0.1, 0.5, 1.0, 3.0, 10.0, 60.0)
TOLERANCE = 1e-9
_UNIFORMS = np.array([1e-12, 1e-3, 0.03, 0.2, 0.4, 0.5, 0.6, 0.8, 0.97, 0.999, 1.0 - 1e-12])


def log_ratios(delta: float, zeta: Floats) -> Floats:
    """Return log-ratios of parts along."""
    return delta * (zeta - 0.5 * delta)


def chosen(verifier: Selection, delta: float, width: int, s: Floats) -> Floats:
    """Return the density (n,) of the chosen part along."""
    shift, below, above = np.full(len(s), delta), ndtr(s), ndtr(-s)
    if verifier.name == "ranked":
        weight = rank_weights(np.array([delta]), width)[0]
        terms = (
            weight[j] * math.comb(width - 1, j) * below**j * above ** (width - 1 - j)
            for j in range(width)
        )
        return width * phi(s) * np.sum(list(terms), axis=0)
    rule = verifier if isinstance(verifier, Optimal) else Optimal()
    at, child = turns(shift, width), np.repeat(s[:, None], width, axis=1)
    weight = promotions(shift, width, at, child)[1][:, 0]
    stays, moves = (
        ndtr(rule.priority(shift, at, child, np.full(child.shape, coin))[:, 0]) ** (width - 1)
        for coin in (1.0, 0.0)
    )
    return width * phi(s) * ((1.0 - weight) * stays + weight * moves)


def accepted(verifier: Selection, delta: float, width: int, s: Floats) -> Floats:
    """Return the density (n,) of an accepted part along."""
    ratio = np.repeat(log_ratios(delta, s)[:, None], width, axis=1)
    found = verifier.choose(np.full(len(s), delta), ratio, np.full(ratio.shape, 0.5))
    return chosen(verifier, delta, width, s) * found.chance


def kinks(verifier: Selection, delta: float, width: int) -> list[float]:
    """Return where the accepted density may have a kink or a jump."""
    if verifier.name == "optimal":
        return [float(x[0]) for x in turns(np.array([delta]), width) if np.isfinite(x[0])]
    s = np.linspace(-10.0, delta + 10.0, 2001)

    def gap(x: Floats) -> Floats:
        return phi(x - delta) - chosen(verifier, delta, width, x)

    sign = np.sign(gap(s))
    at = np.nonzero(sign[:-1] * sign[1:] < 0)[0]
    found = [brentq(lambda x: gap(np.array([x])).item(), s[i], s[i + 1], xtol=1e-14) for i in at]
    return np.array(found, dtype=np.float64).tolist()


def measure(verifier: Selection, delta: float, width: int) -> Callable[[float], float]:
    """Return the mass of accepted parts along below a point, as a function."""
    cuts = kinks(verifier, delta, width)

    def below(x: float) -> float:
        return integral(
            lambda s: accepted(verifier, delta, width, s), min(-10.0, x), x, [*cuts, delta]
        )

    return below


def assert_covers(verifier: Selection, delta: float, width: int) -> None:
    """Assert that accepted and recovered mass below a point add up to N(delta, 1), to 1e-9.

    The points are quantiles of the recovered law, as `residual` states them, and some before.
    """
    below = measure(verifier, delta, width)
    missing = 1.0 - below(delta + 10.0)
    zeta = verifier.residual(np.full(len(_UNIFORMS), delta), width, _UNIFORMS)
    assert np.isfinite(zeta).all()
    share = _UNIFORMS if zeta[-1] > zeta[0] else 1.0 - _UNIFORMS
    first = float(zeta.min()) if missing > TOLERANCE else delta + 9.0
    left = np.linspace(delta - 6.0, first, 12)[:-1]  # nothing is recovered there
    points, share = np.concatenate((left, zeta)), np.concatenate((0.0 * left, share))
    if missing <= TOLERANCE:
        points, share = left, 0.0 * left
    error = [
        abs(below(float(x)) + missing * part - float(ndtr(x - delta)))
        for x, part in zip(points, share, strict=True)
    ]
    worst = max(error)
    assert worst <= TOLERANCE, f"law is {worst:.2e} away at delta {delta}, {width} children"


def best(delta: float, width: int) -> float:
    """Return 1 - max_c [Phi(c)^K - Phi(c - delta)], the most any rule can accept."""

    def loss(c: float) -> float:
        return float(ndtr(c - delta) - ndtr(c) ** width)

    grid = np.linspace(-8.0, delta + 8.0, 2001)
    low = grid[int(np.argmin(ndtr(grid - delta) - ndtr(grid) ** width))]
    found = minimize_scalar(
        loss, bounds=(low - 0.1, low + 0.1), method="bounded", options={"xatol": 1e-9}
    )
    return 1.0 + min(float(found.fun), 0.0)
