"""A method's name: ``drafter+verifier``, with what it freezes after colons.

============================= =============================================================
sequential                    one call per step, the baseline
recycled+greedy               a drafter and a verifier
free:eps+reflection           free and frozen hold eps fixed (or x0, v, velocity, increment)
free:parent+reflection        free takes the prediction where the round stopped
free:eps:parent+reflection    both
recycled:warm+greedy          taught beforehand on other samples (recycled, and free with x0)
auto                          what `redraft.tune` chooses with at most as many rows, for least calls
auto:time                     the same for least time, on this device
============================= =============================================================

Colons, as in ``chain:16``, because they need no quotes in a shell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from redraft.bench.targets import Target
from redraft.coupling import VERIFIERS
from redraft.draft import DRAFTERS, Calibration, Drafter
from redraft.draft.freeze import FREEZES
from redraft.registry import choose
from redraft.tree import grow

__all__ = ["SEQUENTIAL", "Method", "parse"]

SEQUENTIAL = "sequential"
PREFETCHES = ("nearest", "parent")
WARM = "warm"
AUTO = {"auto": "calls", "auto:time": "time"}
"""Goals of `redraft.tune`, by name."""
TAUGHT = ("recycled", "free")
"""Drafters that `redraft.calibrate` can teach."""


@dataclass(frozen=True)
class Method:
    """A way to run a chain.

    Attributes:
        name: As the user wrote it.
        drafter: Name of the drafter; None for the sequential sampler, as all that follow.
        verifier: Name of the verifier.
        tree: Specification of the draft tree.
        freeze: What the drafter holds fixed; None if it holds nothing.
        prefetch: Where the drafter free takes its prediction; None for others.
        warm: Whether the drafter is taught beforehand, on other samples.
        goal: What `redraft.tune` is to look for; None: nothing is left to it.
    """

    name: str
    drafter: str | None = None
    verifier: str | None = None
    tree: str | None = None
    freeze: str | None = None
    prefetch: str | None = None
    warm: bool = False
    goal: str | None = None

    @property
    def title(self) -> str:
        """Name and tree."""
        return self.name if self.tree is None else f"{self.name} {self.tree}"

    @property
    def rows(self) -> int:
        """Rows of a round's call."""
        return 1 if self.tree is None else len(grow(self.tree))

    def call_rows(self) -> tuple[int, ...]:
        """Rows of the calls of one full round; frozen and swept make more than one."""
        if self.drafter is not None and DRAFTERS[self.drafter].asks_root and self.rows > 1:
            return (1, self.rows - 1)
        if self.drafter is not None and DRAFTERS[self.drafter].sweeps and self.rows > 1:
            assert self.tree is not None
            inner = len(set(grow(self.tree).parent[1:].tolist()))
            return (inner, self.rows - 1)
        return (self.rows,)

    def make_drafter(self, target: Target, calibration: Calibration | None = None) -> Drafter:
        """Return the drafter, for a target.

        Args:
            target: The model, which may come with a cheap one.
            calibration: What a warm drafter has been taught; None: nothing.

        Raises:
            ValueError: If the drafter needs a cheap model and the target has none.
            FileNotFoundError: If the cheap model's weights are missing.
        """
        assert self.drafter is not None
        options: dict[str, Any] = {}
        if self.drafter in ("frozen", "free"):
            options["freeze"] = self.freeze
        if self.drafter == "free":
            options["prefetch"] = self.prefetch
        if self.drafter in ("model", "corrected"):
            if target.load_cheap is None:
                raise ValueError(
                    f"drafter {self.drafter!r} needs a cheap model, and target {target.name!r} has "
                    "none: use target digits, or drafter recycled, free or frozen"
                )
            options["denoiser"] = target.load_cheap()
        if calibration is not None:
            options["calibration"] = calibration
        return cast(Any, DRAFTERS[self.drafter])(**options)


def parse(text: str, tree: str) -> Method:
    """Return the method that ``text`` names, with a draft tree.

    Raises:
        ValueError: If the name does not read as one; the message gives the nearest valid name.
    """
    if text == SEQUENTIAL:
        return Method(SEQUENTIAL)
    if text in AUTO:
        chain = f"chain:{len(grow(tree))}"
        return Method(text, "recycled", "greedy", chain, "x0", warm=True, goal=AUTO[text])
    words, plus, verifier = text.partition("+")
    if not plus:
        pairs = {f"{drafter}+{rule}": None for drafter in DRAFTERS for rule in VERIFIERS}
        choose("method", text, {SEQUENTIAL: None, **dict.fromkeys(AUTO), **pairs})
    drafter, *options = words.split(":")
    choose("drafter", drafter, DRAFTERS)
    choose("verifier", verifier, VERIFIERS)
    freeze = {"recycled": "x0", "frozen": "x0", "free": "x0"}.get(drafter)
    prefetch = "nearest" if drafter == "free" else None
    if WARM in options and drafter not in TAUGHT:
        raise ValueError(
            f"drafter {drafter!r} cannot be taught (warm), got {text!r}: use recycled:warm or "
            "free:warm"
        )
    warm = WARM in options
    for option in options:
        known = dict.fromkeys((WARM,) if drafter in TAUGHT else (), WARM)
        known |= dict.fromkeys(FREEZES if drafter in ("frozen", "free") else (), "freeze")
        if drafter == "free":
            known |= dict.fromkeys(PREFETCHES, "prefetch")
        if not known:
            raise ValueError(f"drafter {drafter!r} takes no option, got {option!r} in {text!r}")
        kind = choose(f"option of drafter {drafter!r}", option, known)
        if kind == "freeze":
            freeze = option
        elif kind == "prefetch":
            prefetch = option
    if warm and (freeze != "x0" or prefetch == "parent"):
        raise ValueError(
            f"what a drafter is taught goes with x0 and the nearest prediction, got {text!r}: "
            f"leave out the other options, {drafter}:warm+{verifier}"
        )
    return Method(text, drafter, verifier, grow(tree).name, freeze, prefetch, warm)
