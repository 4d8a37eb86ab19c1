r"""Ancestral sampling of a variance-exploding diffusion, x_s = x_0 + s eps (x_0: the data).

From level s to s' < s. Given x_0, x_{s'} ~ N(x_0, s'² I) and x_s | x_{s'} ~ N(x_{s'}, (s²-s'²) I),
so by Bayes

    x_{s'} | x_s, x_0 ~ N( x_0 + (s'²/s²)(x_s - x_0),  s'² (s² - s'²)/s² I ).

More generally every sigma_up in [0, s'] keeps the marginals: shrink the noise x_s - x_0 = s eps to
sigma_down eps and add sigma_up of fresh noise, with sigma_down² + sigma_up² = s'²,

    x_{s'} = x_0 + (sigma_down/s)(x_s - x_0) + sigma_up z.

eta scales the fresh noise: sigma_up = min(s', eta sqrt(s'² (s² - s'²)/s²)). eta = 1 is the
posterior above, eta = 0 the deterministic sampler (Euler, DDIM). With x̂0(x_s, s) in the place of
x_0 this is an affine Gaussian kernel:

    a = sigma_down/s,      b = 1 - a,      std = sigma_up.

At s' = 0 the step is x̂0 itself: a = 0, b = 1, std = 0.

References:
    - Denoising Diffusion Implicit Models, section 4.1 (eta), https://arxiv.org/abs/2010.02502
    - Elucidating the Design Space of Diffusion-Based Generative Models,
      https://arxiv.org/abs/2206.00364
    - k-diffusion, `get_ancestral_step`, https://github.com/crowsonkb/k-diffusion
"""

from __future__ import annotations

from math import inf

import torch

from redraft.chain.chain import Chain
from redraft.chain.schedule import Values, as_schedule, check_decreasing, check_each


def ancestral(sigmas: Values, eta: float = 1.0) -> Chain:
    """Euler-ancestral chain over the given noise levels; the model is told sigma.

    a = sigma_down/s, b = 1 - a, std = sigma_up, with sigma_down² = s'² - sigma_up² and
    sigma_up = min(s', eta sqrt(s'² (s² - s'²)/s²)).

    If the last level is positive, all N steps are noisy (eta > 0) and one more call there gives the
    sample (`terminal`). If it is 0, the last step is the deterministic x̂0 and there is no terminal
    call.

    Args:
        sigmas: (N+1,) strictly decreasing levels >= 0, in units of x_0; list, NumPy array or
            tensor.
        eta: Share of the posterior's noise, >= 0. 1 is ancestral sampling, 0 is deterministic
            (nothing to speculate on), more than 1 adds noise up to std = s'.

    Returns:
        Chain of N steps with x_0 ~ N(0, sigmas[0]² I), alpha = 1, sigma = level.

    Raises:
        ValueError: If `sigmas` has fewer than two levels, is not strictly decreasing, has a
            negative or non-finite value, or if `eta` is negative or not finite.

    References:
        k-diffusion, `sample_euler_ancestral`, https://github.com/crowsonkb/k-diffusion
    """
    levels = as_schedule(sigmas, "sigmas")
    if len(levels) < 2:
        raise ValueError(
            f"sigmas has one level ({levels[0].item():.9g}), but a step goes from one to another: "
            "append the level to end at (0 for x̂0 itself)"
        )
    check_each(levels, levels >= 0, "sigmas", "be >= 0")
    check_decreasing(
        levels, "sigmas", strictly=True, hint="; sort them from noise to data and drop repeats"
    )
    if not 0 <= eta < inf:
        raise ValueError(f"eta must be >= 0 and finite, got {eta}")

    here, after = levels[:-1], levels[1:]
    ratio = after / here
    spread = (here - after) / here * (1 + ratio)  # 1 - ratio², without cancellation
    sigma_up = after * (eta * spread.sqrt()).clamp(max=1)
    # sqrt(s'² - sigma_up²) would lose every digit at eta = 1 and small ratio, where it is s' ratio.
    sigma_down = after * ((1 - eta**2) + eta**2 * ratio.square()).clamp(min=0).sqrt()
    a = sigma_down / here
    last = levels[-1].item()
    terminal = last if last > 0 else None
    called = levels if last > 0 else here
    return Chain(
        level=here.clone(),
        a=a,
        b=1 - a,
        std=sigma_up,
        init_std=levels[0].item(),
        terminal=terminal,
        alpha=torch.ones_like(called),
        sigma=called.clone(),
        name=f"ancestral(eta={eta:g})",
    )
