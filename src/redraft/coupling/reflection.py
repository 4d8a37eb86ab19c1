r"""Reflection: a rejected draft is mirrored at the plane half-way between the two means.

.. math::
    \text{accept if } U < r(y), \quad\text{else } \zeta \to \delta - \zeta
    \text{ and keep the part across}

The rejected part along has density :math:`(\varphi(\zeta) - \varphi(\zeta - \delta))_+`, whose
mirror image is :math:`(\varphi(\zeta - \delta) - \varphi(\zeta))_+`, the law of the excess(1, 1)
and of nothing else: it is exact with one child per node in the greedy walk, and wrong anywhere
else. There it is the same rule as the greedy walk on a chain, under the name the literature gives
it.

References:
    | Accelerated Diffusion Models via Speculative Sampling (De Bortoli et al., 2025), Prop. 3.1
    | https://arxiv.org/abs/2501.05370
"""

from __future__ import annotations

from redraft.coupling.greedy import Greedy

__all__ = ["Reflection"]


class Reflection(Greedy):
    """Reflection coupling; chains only."""

    name = "reflection"
    max_width: int | None = 1
