"""How to run a chain fastest on a device: chosen by `redraft.tune`, used by ``plan=``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from redraft.chain.chain import Chain
from redraft.draft.calibration import Calibration
from redraft.draft.drafter import Drafter
from redraft.draft.free import Free
from redraft.draft.recycled import Recycled
from redraft.tree.cost import Cost

__all__ = ["Option", "Strategy", "chain_key"]

_FORMAT = 2


@dataclass(frozen=True)
class Option:
    """One way to run the chain, and what it is expected to take.

    Attributes:
        drafter: "recycled" or "free"; None: the sequential sampler.
        verifier: "greedy" or "traversal"; None likewise.
        tree: Its draft tree; "chain:1" for the sequential sampler.
        rows: Rows of a call.
        calls: Expected calls of a sample.
        calls_error: Standard error of that.
        seconds: Expected seconds of a sample on its own; None if the cost was not measured.
        warm: Whether the drafter was taught.
    """

    drafter: str | None
    verifier: str | None
    tree: str
    rows: int
    calls: float
    calls_error: float
    seconds: float | None
    warm: bool = True

    @property
    def name(self) -> str:
        """Name as benchmarks write it."""
        if self.drafter is None:
            return "sequential"
        taught = ":warm" if self.warm else ""
        return f"{self.drafter}{taught}+{self.verifier} {self.tree}"


@dataclass(frozen=True, eq=False)
class Strategy:
    """A choice and what it rests on.

    Attributes:
        chosen: What to run.
        options: All that were considered, the chosen one among them.
        calibration: What the chosen drafter was taught; None for the sequential sampler.
        cost: Seconds of a call by rows; None if it was not measured.
        key: What the strategy is for: see `chain_key`.
        notes: What a user should know, in sentences.
        seeds: Seeds of the samples that the choice rests on. It must not be used for them: their
            noises would choose their own drafts (contract rules 2 and 3).
        origin: Version and hardware it was made with, if it is kept in the cache.
    """

    chosen: Option
    options: tuple[Option, ...]
    calibration: Calibration | None
    cost: Cost | None
    key: str
    notes: tuple[str, ...] = field(default=())
    seeds: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    origin: str = ""

    @property
    def speculates(self) -> bool:
        """Whether it is worth speculating."""
        return self.chosen.drafter is not None

    @property
    def speedup(self) -> float:
        """Expected speed-up over the sequential sampler, in wall-clock if the cost is known."""
        plain = next(option for option in self.options if option.drafter is None)
        if plain.seconds is not None and self.chosen.seconds is not None:
            return plain.seconds / self.chosen.seconds
        return plain.calls / self.chosen.calls

    @property
    def speedup_error(self) -> float:
        """Standard error of `speedup` that comes from the number of calls."""
        return self.speedup * self.chosen.calls_error / self.chosen.calls

    def parts(self) -> tuple[Drafter, str, str]:
        """Return the chosen drafter, verifier and tree; plain sampling is a chain of one row."""
        return self.make_drafter(), self.chosen.verifier or "greedy", self.chosen.tree

    def make_drafter(self) -> Drafter:
        """Return the chosen drafter."""
        if self.chosen.drafter in ("recycled", None):
            return Recycled(self.calibration)  # untaught if it is None
        return Free(calibration=self.calibration)

    def check(self, chain: Chain, seeds: NDArray[np.int64]) -> None:
        """Raise ValueError if the strategy is for another chain, or rests on the same samples."""
        if self.key != chain_key(chain):
            raise ValueError(
                "plan= was made for another chain (levels, a, b or std differ); tune again"
            )

        again = seeds[np.isin(seeds, self.seeds)]
        if len(again):
            raise ValueError(
                f"plan= was chosen by samples of the same seeds (one is {int(again[0])}), whose "
                "noises must not choose their own drafts; use other seeds, or a plan of "
                "redraft.tune"
            )

    def save(self, path: Path | str) -> None:
        """Write a JSON file."""
        data: dict[str, Any] = {
            "format": _FORMAT,
            "chosen": asdict(self.chosen),
            "options": [asdict(option) for option in self.options],
            "calibration": None if self.calibration is None else self.calibration.to_json(),
            "cost": None if self.cost is None else self.cost._asdict(),
            "key": self.key,
            "notes": list(self.notes),
            "seeds": self.seeds.tolist(),
            "origin": self.origin,
        }
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(json.dumps(data))

    @classmethod
    def load(cls, path: Path | str) -> Strategy:
        """Read what `save` has written.

        Raises:
            ValueError: If the file is of another version.
        """
        try:
            data: Mapping[str, Any] = json.loads(Path(path).read_text())
            if data["format"] != _FORMAT:
                raise KeyError("format")
            cost = data["cost"]
            taught = data["calibration"]
            return cls(
                chosen=Option(**data["chosen"]),
                options=tuple(Option(**option) for option in data["options"]),
                calibration=None if taught is None else Calibration.from_json(taught),
                cost=None if cost is None else Cost(tuple(cost["rows"]), tuple(cost["seconds"])),
                key=data["key"],
                notes=tuple(data["notes"]),
                seeds=np.array(data["seeds"], dtype=np.int64),
                origin=data["origin"],
            )
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise ValueError(f"{path} is no strategy of this version; tune again") from error


def chain_key(chain: Chain) -> str:
    """Return a digest of a chain's table: equal for equal chains."""
    columns = [chain.call_levels, chain.a, chain.b, chain.std]
    table = np.concatenate([column.numpy() for column in columns])
    digest = hashlib.sha256(np.append(table, chain.init_std).tobytes())
    return digest.hexdigest()[:16]
