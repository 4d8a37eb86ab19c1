"""Samplers as tables: what is sampled exactly, step by step.

`Chain` is the table; `ancestral`, `ddpm` and `flow_sde` build it in the terms of their papers;
`from_eps`, `from_v`, `from_score` and `from_velocity` make any model the x̂0-predicting denoiser
that these chains expect.
"""

from redraft.chain.ancestral import ancestral
from redraft.chain.chain import Chain
from redraft.chain.ddpm import ddpm
from redraft.chain.flow import flow_sde
from redraft.chain.prediction import from_eps, from_score, from_v, from_velocity
from redraft.chain.schedule import karras

__all__ = [
    "Chain",
    "ancestral",
    "ddpm",
    "flow_sde",
    "from_eps",
    "from_score",
    "from_v",
    "from_velocity",
    "karras",
]
