"""Exact speculative sampling of diffusion models and other Markov chains with Gaussian steps.

A cheap drafter proposes, the target checks many proposals in one parallel call, an exact coupling
decides: the law of what is sampled is the target's.
"""

from redraft import chain, coupling, draft, execute, tree, zoo
from redraft.sampling import (
    NonFiniteError,
    Result,
    Sampler,
    Strategy,
    TargetError,
    calibrate,
    sample,
    sequential,
    tune,
)

__version__ = "0.1.0"

__all__ = [
    "NonFiniteError",
    "Result",
    "Sampler",
    "Strategy",
    "TargetError",
    "__version__",
    "calibrate",
    "chain",
    "coupling",
    "draft",
    "execute",
    "sample",
    "sequential",
    "tree",
    "tune",
    "zoo",
]
