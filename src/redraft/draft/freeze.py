r"""What is held fixed along a draft.

Let q be a quantity that is affine in the state and the prediction, :math:`q = u_n x + w_n f`.
Freezing q means that its value at an evaluated node is used at every drafted node y of step m,
whose kernel then reads :math:`N(a'_m y + b'_m q, \mathrm{std}_m^2 I)`; as a guess of the
prediction, :math:`g = ((a'_m - a_m) y + b'_m q) / b_m`. With
:math:`x = \alpha x_0 + \sigma \epsilon`:

========= =================== ================================= ====================
frozen    q                   a'                                b'
========= =================== ================================= ====================
x0        f                   a                                 b
eps       (x - alpha f)/sigma a + b / alpha                     -b sigma / alpha
v         alpha eps - sigma f a + b alpha / (alpha^2 + sigma^2) -b sigma / (same)
velocity  eps - f             a + b / (alpha + sigma)           -b sigma / (same)
increment (a - 1) x + b f     1                                 1
========= =================== ================================= ====================

with eps in the last rows standing for its estimate (x - alpha f)/sigma. The *velocity* is that of
flow matching, which on alpha = 1 - sigma is (x - f)/sigma; *v* is that of progressive distillation.

Along the true reverse process the posterior mean x0 is a martingale: today's value is the best
one-shot guess of every later one. The others are here because papers froze them.

References:
    | Diffusion Models are Secretly Exchangeable (Hu et al., 2025), https://arxiv.org/abs/2505.03983
    | Accelerating Diffusion Sampling via Speculative Draft Trees (2026), eq. 7 (velocity),
    | https://arxiv.org/abs/2609.17691
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from redraft.chain.steps import Steps
from redraft.registry import choose

__all__ = ["FREEZES", "Frozen", "check_freeze", "freeze_table"]

Floats = NDArray[np.float64]
FREEZES = {name: name for name in ("x0", "eps", "v", "velocity", "increment")}


class Frozen(NamedTuple):
    """Coefficients per step, each (total,).

    Attributes:
        a: Factor of the state in the draft mean.
        b: Factor of the frozen quantity in the draft mean.
        of_x: Factor of the state in the frozen quantity.
        of_f: Factor of the prediction in it.
        guess_x: Factor of the drafted state in the guess of the prediction.
        guess_q: Factor of the frozen quantity in that guess.
    """

    a: Floats
    b: Floats
    of_x: Floats
    of_f: Floats
    guess_x: Floats
    guess_q: Floats


def check_freeze(freeze: str) -> str:
    """Return ``freeze`` if it names a quantity that can be frozen; raise ValueError otherwise."""
    return choose("freeze", freeze, FREEZES)


@lru_cache(maxsize=64)
def freeze_table(freeze: str, steps: Steps) -> Frozen:
    """Return the coefficients of a frozen quantity on every step of a chain.

    Raises:
        ValueError: If the chain has no signal and noise scales, which eps, v and velocity need, or
            has a step that takes no part of the prediction.
    """
    a, b = steps.a, steps.b
    one, zero = np.ones_like(a), np.zeros_like(a)
    if freeze == "x0":
        return Frozen(a, b, zero, one, zero, one)
    noisy = steps.std > 0
    if (b[noisy] == 0).any():
        raise ValueError(f"freeze={freeze!r} needs b != 0 on noisy steps; use freeze='x0'")
    if freeze == "increment":
        of_x, of_f, new_a, new_b = a - 1.0, b, one, one
    else:
        if steps.alpha is None or steps.sigma is None:
            raise ValueError(
                f"freeze={freeze!r} needs a chain with alpha and sigma; {steps.name!r} has none. "
                "Use freeze='x0' or 'increment'."
            )
        alpha, sigma = steps.alpha, steps.sigma
        with np.errstate(divide="ignore", invalid="ignore"):
            norm = alpha**2 + sigma**2
            if freeze == "eps":
                of_x, of_f = 1.0 / sigma, -alpha / sigma
                new_a, new_b = a + b / alpha, -b * sigma / alpha
            elif freeze == "velocity":
                total = alpha + sigma
                of_x, of_f = 1.0 / sigma, -total / sigma
                new_a, new_b = a + b / total, -b * sigma / total
            else:
                of_x, of_f = alpha / sigma, -norm / sigma
                new_a, new_b = a + b * alpha / norm, -b * sigma / norm
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = (new_a, new_b, of_x, of_f, (new_a - a) / b, new_b / b)
    usable: NDArray[np.bool_] = np.all(np.isfinite(np.stack(columns)), axis=0)
    if not usable[noisy].all():
        step = int(np.nonzero(noisy & ~usable)[0][0])
        raise ValueError(
            f"freeze={freeze!r} is undefined at step {step} (level {steps.level[step]:g})"
        )
    # A noiseless step may have a quantity to give (eps without signal), though it can take none.
    known: NDArray[np.bool_] = np.isfinite(of_x) & np.isfinite(of_f)
    masks = (usable, usable, known, known, usable, usable)
    return Frozen(*(np.where(mask, c, 0.0) for mask, c in zip(masks, columns, strict=True)))
