r"""Closed forms for flow-matching chains.

On the straight interpolant :math:`x = (1 - t) x_0 + t \epsilon` the rescaled state
:math:`x / (1 - t) = x_0 + \sigma \epsilon` has noise level :math:`\sigma = t / (1 - t)`, so a
denoiser that knows :math:`E[x_0 \mid x_0 + \sigma \epsilon]` is one here too.

References:
    Flow Matching for Generative Modeling (Lipman et al., 2023), https://arxiv.org/abs/2210.02747
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

LEAST = 1e-6
"""Share of signal at least; at t = 1 the denoiser is the prior mean within about as much."""


@dataclass(frozen=True)
class Interpolant:
    r"""Denoiser :math:`E[x_0 \mid (1 - t) x_0 + t \epsilon = x]`, called as ``target(x, t)``.

    Args:
        target: Denoiser of :math:`x_0 + \sigma \epsilon`, called as ``target(x, sigma)``; a
            `gaussian` or `mixture` of this zoo.
    """

    target: Callable[[Tensor, Tensor], Tensor]

    def __call__(self, x: Tensor, level: Tensor) -> Tensor:
        """Return the posterior means.

        Args:
            x: Noisy data, shape (R, *shape).
            level: Share t of noise in each row, shape (R,), in (0, 1].
        """
        signal = (1.0 - level).clamp(min=LEAST)
        scale = signal.to(x.dtype).reshape(-1, *[1] * (x.ndim - 1))
        return self.target(x / scale, level / signal)
