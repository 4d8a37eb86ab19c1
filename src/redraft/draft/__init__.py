"""Drafters: ways to guess the target's predictions."""

from redraft.draft.calibration import Calibration
from redraft.draft.corrected import Corrected
from redraft.draft.drafter import Draft, Drafter, Frontier, Memory
from redraft.draft.free import Free
from redraft.draft.frozen import Frozen
from redraft.draft.model import Model
from redraft.draft.recycled import Recycled
from redraft.draft.swept import Swept

DRAFTERS = {
    "frozen": Frozen,
    "free": Free,
    "recycled": Recycled,
    "swept": Swept,
    "model": Model,
    "corrected": Corrected,
}

__all__ = [
    "DRAFTERS",
    "Calibration",
    "Corrected",
    "Draft",
    "Drafter",
    "Free",
    "Frontier",
    "Frozen",
    "Memory",
    "Model",
    "Recycled",
    "Swept",
]
