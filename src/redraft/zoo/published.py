r"""The mixture on which draft trees were published: section 5.1 of the paper below.

Five isotropic components of equal weight in 512 dimensions, means uniform on
:math:`[-2, 2]^{512}`, standard deviations uniform on [0.10, 0.25], drawn in this order by NumPy's
default generator from seed 20260714. Its chain is ``redraft.chain.flow_sde(30, churn)``.

References:
    Accelerating Diffusion Sampling via Speculative Draft Trees (2026), section 5.1,
    https://arxiv.org/abs/2609.17691
"""

from __future__ import annotations

import numpy as np
import torch

from redraft.zoo.interpolant import Interpolant
from redraft.zoo.mixture import Mixture

SEED = 20260714


def published_mixture(dim: int = 512, components: int = 5) -> Interpolant:
    """Make the published mixture, as a denoiser of flow-matching chains ``target(x, t)``.

    Args:
        dim: Dimension.
        components: Number of components.

    Returns:
        Its exact denoiser; the mixture itself is the attribute ``target``.

    Raises:
        ValueError: dim or components is below 1.
    """
    if dim < 1 or components < 1:
        raise ValueError(f"dim and components must be at least 1, got {dim} and {components}")
    generator = np.random.default_rng(SEED)
    means = torch.from_numpy(generator.uniform(-2.0, 2.0, (components, dim)))
    stds = torch.from_numpy(generator.uniform(0.10, 0.25, components))
    weights = torch.full((components,), 1.0 / components, dtype=torch.float64)
    return Interpolant(Mixture(means, stds, weights))
