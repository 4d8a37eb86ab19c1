r"""Churned flow matching: an SDE with the marginals of a rectified flow.

On the straight interpolant x_t = (1 - t) x_0 + t eps (x_0: the data), alpha = 1 - t and sigma = t,
the flow from noise (t = 1) to data (t = 0) is dx = u dt with the velocity u = E[eps - x_0 | x]
= (x - x̂0)/t. For every g the SDE

    dx = ( u - 1/2 churn² g² score ) dt + churn g dw,      score = -(x + (1 - t) u)/t,

run backwards in t, has the same marginals. g² = 2t/(1 - t) is the diffusion for which churn = 1 is
the time reversal of the interpolant's own noising; churn = 0 is the ODE, and churn scales the noise
between. One Euler-Maruyama step by h = t - t' > 0 gives, with 1/2 g²/t = 1/(1 - t),

    mean = (1 - h churn²/(1 - t)) x - h (1 + churn²) u,      std = churn sqrt(2 t h/(1 - t)).

With u = (x - x̂0)/t this is an affine Gaussian kernel in x̂0:

    b = h (1 + churn²)/t,      a = 1 - h churn²/(1 - t) - b.

g diverges at t = 1, and at t' = 0 the sample must come out clean: these two steps, the first and
the last, are plain Euler steps of the ODE (churn = 0, std = 0), as in the papers. Of T steps T - 2
are then noisy, and drafts stay within those.

References:
    - Accelerated Diffusion Models via Speculative Sampling (churn), https://arxiv.org/abs/2501.05370
    - Accelerating Diffusion Sampling via Speculative Draft Trees, section 5.1,
      https://arxiv.org/abs/2609.17691
    - Scaling Rectified Flow Transformers (shift), section 5.3.2, https://arxiv.org/abs/2403.03206
"""

from __future__ import annotations

from math import inf

import torch

from redraft.chain.chain import Chain

LAST = 1e-3
"""Level of the last call; the usual grid has 1000 training timesteps."""


def flow_sde(num_steps: int, churn: float, shift: float = 1.0) -> Chain:
    """Flow-matching chain with churn; the model is told t, the share of noise.

    t = linspace(1, 0.001, num_steps), then t <- shift t/(1 + (shift - 1) t), then 0.
    b = h (1 + churn²)/t, a = 1 - h churn²/(1 - t) - b, std = churn sqrt(2 t h/(1 - t)), h = t - t';
    the first and the last step are deterministic.

    Args:
        num_steps: Steps T, >= 3; T - 2 of them are noisy.
        churn: Amount of noise, >= 0. 0 is the ODE (nothing to speculate on), 1 the time reversal.
        shift: > 0; 1 keeps the even spacing, more puts more steps at large t (3 in SD3).

    Returns:
        Chain of T steps with x_0 ~ N(0, I), alpha = 1 - t, sigma = t, no terminal call.

    Raises:
        ValueError: If `num_steps` < 3, or `churn` is negative or not finite, or `shift` is not
            positive and finite.

    References:
        De Bortoli et al. 2025, eqs. 35 and 37, https://arxiv.org/abs/2501.05370
    """
    if num_steps < 3:
        raise ValueError(
            f"num_steps must be at least 3 (the first and the last are noiseless), got {num_steps}"
        )
    if not 0 <= churn < inf:
        raise ValueError(f"churn must be >= 0 and finite, got {churn}")
    if not 0 < shift < inf:
        raise ValueError(f"shift must be positive and finite, got {shift}")
    even = torch.linspace(1.0, LAST, num_steps, dtype=torch.float64)
    t = shift * even / (1 + (shift - 1) * even)
    t[0] = 1.0
    h = t - torch.cat([t[1:], torch.zeros(1, dtype=torch.float64)])
    power = torch.full_like(t, churn**2)
    power[0] = power[-1] = 0
    left = 1 - t
    left[0] = 1.0  # its churn is 0
    b = h * (1 + power) / t
    return Chain(
        level=t,
        a=1 - h * power / left - b,
        b=b,
        std=(2 * power * t * h / left).sqrt(),
        init_std=1.0,
        alpha=1 - t,
        sigma=t.clone(),
        name=f"flow_sde(churn={churn:g})",
    )
