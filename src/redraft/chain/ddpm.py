r"""DDPM: ancestral sampling of a variance-preserving diffusion.

At timestep t, x_t = sqrt(abar_t) x_0 + sqrt(1 - abar_t) eps (x_0: the data). From t to an earlier
timestep s let alpha = abar_t/abar_s and beta = 1 - alpha, so that x_t | x_s ~ N(sqrt(alpha) x_s,
beta I). Bayes with x_s | x_0 ~ N(sqrt(abar_s) x_0, (1 - abar_s) I) gives the posterior

    x_s | x_t, x_0 ~ N( a x_t + b x_0,  var I ),
    a = sqrt(alpha) (1 - abar_s)/(1 - abar_t),      b = sqrt(abar_s) beta/(1 - abar_t),
    var = beta (1 - abar_s)/(1 - abar_t)            "fixed_small": exact if x_0 is one known point
    var = beta                                      "fixed_large": exact if x_0 ~ N(0, I)

and the sampler puts x̂0(x_t, t) in the place of x_0. s is the next entry of the timesteps; after
the last one abar_s = 1, where a = 0, b = 1. No noise is added at t = 0. A list that ends at a t > 0
("trailing" spacing) ends noisily with fixed_large, as the usual implementations do: it is part of
the sampler, and nothing here removes it.

References:
    - Denoising Diffusion Probabilistic Models, eqs. 6-7 and section 3.2,
      https://arxiv.org/abs/2006.11239
    - Improved Denoising Diffusion Probabilistic Models (fewer timesteps),
      https://arxiv.org/abs/2102.09672
    - Common Diffusion Noise Schedules and Sample Steps are Flawed (abar = 0, trailing spacing),
      https://arxiv.org/abs/2305.08891
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from redraft.chain.chain import Chain
from redraft.chain.schedule import Values, as_schedule, check_decreasing, check_each
from redraft.registry import choose


def _fixed_small(beta: Tensor, abar: Tensor, abar_after: Tensor) -> Tensor:
    return beta * (1 - abar_after) / (1 - abar)


def _fixed_large(beta: Tensor, abar: Tensor, abar_after: Tensor) -> Tensor:
    return beta


VARIANCES: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "fixed_small": _fixed_small,
    "fixed_large": _fixed_large,
}


def ddpm(
    alphas_cumprod: Values, timesteps: int | Values | None = None, variance: str = "fixed_small"
) -> Chain:
    """DDPM chain over the given timesteps, for x̂0-predictions; the model is told the timestep.

    a = sqrt(alpha)(1 - abar_s)/(1 - abar_t), b = sqrt(abar_s) beta/(1 - abar_t),
    std² = beta (1 - abar_s)/(1 - abar_t) ("fixed_small") or beta ("fixed_large").

    Args:
        alphas_cumprod: (T,) abar_t, the share of signal variance at t = 0..T-1, not increasing;
            list, NumPy array or tensor.
        timesteps: Strictly decreasing timesteps in 0..T-1; or how many, evenly spaced from T-1 to 0
            inclusive (1 is T-1 alone); or None for all T.
        variance: "fixed_small" or "fixed_large"; 0 at t = 0. Where fixed_small is 0 (the last
            step) other implementations have 1e-20, to be able to take its logarithm.

    Returns:
        Chain with one step per timestep, x_0 ~ N(0, I), alpha = sqrt(abar), sigma = sqrt(1 - abar),
        no terminal call.

    Raises:
        ValueError: If `alphas_cumprod` leaves [0, 1] or increases, or if `timesteps` is empty, not
            whole, out of range or not strictly decreasing, names a timestep without noise (abar
            = 1) or a second one without signal (abar = 0), or if `variance` is unknown.

    References:
        Ho et al. 2020, eqs. 6-7, https://arxiv.org/abs/2006.11239
    """
    table = as_schedule(alphas_cumprod, "alphas_cumprod")
    check_each(table, (table >= 0) & (table <= 1), "alphas_cumprod", "lie in [0, 1]")
    check_decreasing(
        table,
        "alphas_cumprod",
        strictly=False,
        hint="; pass the cumulative product of 1 - beta, not beta",
    )
    variance_of = choose("variance", variance, VARIANCES)
    steps = _timesteps(timesteps, len(table))
    abar = table[steps]
    _check_kernels_exist(abar, steps)

    abar_after = torch.cat([abar[1:], torch.ones(1, dtype=torch.float64)])
    beta = (abar_after - abar) / abar_after  # 1 - abar/abar_after, without cancellation
    var = variance_of(beta, abar, abar_after)
    return Chain(
        level=steps.to(torch.float64),
        a=(abar / abar_after).sqrt() * (1 - abar_after) / (1 - abar),
        b=abar_after.sqrt() * beta / (1 - abar),
        std=var.masked_fill(steps == 0, 0).sqrt(),
        init_std=1.0,
        alpha=abar.sqrt(),
        sigma=(1 - abar).sqrt(),
        name=f"ddpm({variance})",
    )


def _timesteps(timesteps: int | Values | None, total: int) -> Tensor:
    """The user's choice as (N,) int64, strictly decreasing in 0..total-1."""
    if timesteps is None:
        timesteps = total
    if isinstance(timesteps, int):
        if not 1 <= timesteps <= total:
            raise ValueError(
                f"the number of timesteps must be in 1..{total} (the length of alphas_cumprod), "
                f"got {timesteps}"
            )
        return torch.linspace(total - 1, 0, timesteps, dtype=torch.float64).round().to(torch.int64)
    wanted = as_schedule(timesteps, "timesteps")
    valid = (wanted >= 0) & (wanted <= total - 1) & (wanted == wanted.round())
    rule = f"be whole numbers in 0..{total - 1} (alphas_cumprod has {total} entries)"
    check_each(wanted, valid, "timesteps", rule)
    check_decreasing(
        wanted, "timesteps", strictly=True, hint="; list them from noise to data without repeats"
    )
    return wanted.to(torch.int64)


def _check_kernels_exist(abar: Tensor, steps: Tensor) -> None:
    """Refuse the two 0/0: a step that starts without noise, and a step that ends without signal."""
    clean = (abar == 1).nonzero()
    if len(clean):
        raise ValueError(
            f"alphas_cumprod[{int(steps[clean[0]])}] = 1: at this timestep there is no noise to "
            "remove; leave it out of timesteps"
        )
    if len(abar) > 1 and abar[1] == 0:
        raise ValueError(
            f"alphas_cumprod is 0 at both timesteps {int(steps[0])} and {int(steps[1])}: the step "
            "between them starts and ends without signal; keep only the last such timestep"
        )
