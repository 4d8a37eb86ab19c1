"""Free drafts: the nearest prediction that the last round has computed anyway.

References:
    | Accelerating Speculative Diffusions via Block Verification (Soen et al., 2026)
    | https://arxiv.org/abs/2606.13426
"""

from __future__ import annotations

import torch

from redraft.chain.steps import Steps
from redraft.draft.calibration import Calibration, check_calibration
from redraft.draft.drafter import Drawer, Ints
from redraft.draft.freeze import check_freeze
from redraft.draft.gain import GainDraft
from redraft.draft.linear import LinearDraft
from redraft.registry import choose
from redraft.tree.tree import Tree

__all__ = ["Free"]


class Free:
    """One target call per round; every node of a draft uses the same remembered quantity.

    Why it may be used: the remembered prediction was computed at a node whose fate is decided, so
    nothing live enters the draft; all noises are drawn afresh.

    Args:
        freeze: What is held fixed along the draft: "x0" (default), "eps", "v", "velocity" or
            "increment".
        prefetch: Where the prediction comes from. "nearest" (default): the rejected draft that the
            recovered state replaces. "parent": always the node where the round stopped, as in older
            papers.
        calibration: Corrects the guesses by what earlier samples taught, with x0 frozen only; see
            `redraft.draft.gain`.

    Raises:
        ValueError: If a name is unknown, or a calibration comes with another quantity than x0.
    """

    name = "free"
    asks_root = False
    sweeps = 0
    needs_memory = True
    keeps_noise = False

    def __init__(
        self,
        freeze: str = "x0",
        prefetch: str = "nearest",
        calibration: Calibration | None = None,
    ) -> None:
        self.freeze = check_freeze(freeze)
        self.prefetch = choose("prefetch", prefetch, {"nearest": "nearest", "parent": "parent"})
        if calibration is not None and freeze != "x0":
            raise ValueError(f"a calibration goes with freeze='x0' only, got freeze={freeze!r}")
        self.calibration = check_calibration(calibration)
        self.keeps_state = freeze != "x0" or calibration is not None

    def recall(self, tree: Tree, stop: Ints, base: Ints, limit: Ints) -> Ints | None:
        """Return the one node (B, 1) whose prediction is remembered."""
        return (base if self.prefetch == "nearest" else stop)[:, None]

    def prepare(self, steps: Steps, tree: Tree, device: torch.device) -> Drawer:
        """Lay out the triangular product."""
        if self.calibration is not None:
            return GainDraft.of(steps, self.calibration)
        return LinearDraft(steps, tree, self.freeze, device)
