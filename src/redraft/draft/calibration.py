r"""What earlier samples teach about guesses: least squares, step by step.

A guess may be corrected in three directions (see `redraft.draft.gain`). With r what a node would
use uncalibrated and :math:`u_1, u_2, u_3` the directions, the best coefficients are

.. math::
    c = \arg\min_c E w \| f - r - c_1 u_1 - c_2 u_2 - c_3 u_3 \|^2
      = (G + \Lambda)^{-1} h, \qquad G_{ij} = E w \langle u_i, u_j \rangle,\;
      h_i = E w \langle u_i, f - r \rangle .

A draft is rejected with probability :math:`\mathrm{erf}(\delta / \sqrt 8)`, which grows like
:math:`\delta`, not like its square; so the squares are weighted by :math:`w = (b / \mathrm{std})^2
/ \sqrt{\delta^2 + 0.2}` with the distance :math:`\delta` that was seen. (Plain squares let the few
nodes decide that are lost anyway.)

All that is kept of a run are these inner products, summed over nodes of the same *place*: chain
steps in at most 64 bins, whether the node had a prediction of its own in the last round, and how
deep it lies (or how far beyond the last prediction) in a dozen classes. Neighbouring bins are
pooled, and the ridge :math:`\Lambda` shrinks c to zero where little is known.

What may be added (``docs/contract.md``, rule 3): visited nodes only. Their predictions and states
are functions of noises that decisions have looked at or that belong to committed states. A run that
draws the same noises once more must not use what they taught, because they are live in it: a
calibration remembers the seeds it has seen, and a sampler refuses them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CLASSES", "Calibration", "Evidence", "check_calibration", "classes", "depths"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_EDGES = np.array([0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48])
CLASSES = len(_EDGES)
_MOST_BINS = 64
_POOL = (0.2, 1.0, 0.2)
_PRIOR = 2.0
_FORMAT = 1
_SUMS = ("count", "gram", "tried", "accepted")


def classes(depth: Ints) -> Ints:
    """Return the class of each depth, 0..CLASSES-1."""
    return np.searchsorted(_EDGES, depth, side="right") - 1


def depths() -> list[str]:
    """Return the depths of each class, as text: "0", ..., "4-5", ..., "48+"."""
    ends = [*(_EDGES[1:] - 1).tolist(), None]
    return [
        f"{first}+" if last is None else f"{first}" if first == last else f"{first}-{last}"
        for first, last in zip(_EDGES.tolist(), ends, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Inner products at visited nodes of a round.

    Attributes:
        step: (R,) chain step of each node.
        beyond: (R,) 0 if the node had a prediction of its own, 1 if it lies beyond the last one.
        kind: (R,) class of its depth, or of how far beyond it lies.
        gram: (R, 4, 4) weighted inner products of f - r, u_1, u_2, u_3.
        start: (B,) chain step of each sample's root.
        depth: (B,) depth at which its path ended.
        limit: (B,) depth of its draft.
        seeds: (B,) seeds of the samples.
    """

    step: Ints
    beyond: Ints
    kind: Ints
    gram: Floats
    start: Ints
    depth: Ints
    limit: Ints
    seeds: Ints


@dataclass(eq=False)
class Calibration:
    """Sums of inner products by place.

    Attributes:
        total: Steps of the chain, the terminal call included.
        seeds: Seeds of the samples that it has seen.
        gram: (bins, 2, CLASSES, 4, 4) sums of inner products.
        count: (bins, 2, CLASSES) nodes.
        tried: (bins, CLASSES) drafts that were tried, by the place of the node above.
        accepted: (bins, CLASSES) those of them that were accepted.
    """

    total: int
    seeds: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    gram: Floats = field(init=False)
    count: Floats = field(init=False)
    tried: Floats = field(init=False)
    accepted: Floats = field(init=False)
    derived: dict[Any, Any] = field(init=False, repr=False, default_factory=dict)
    """What has been worked out from the sums, by whatever names it; forgotten when they change."""

    def __post_init__(self) -> None:
        shape = (min(self.total, _MOST_BINS), 2, CLASSES)
        self.count, self.gram = np.zeros(shape), np.zeros((*shape, 4, 4))
        self.tried, self.accepted = np.zeros((shape[0], CLASSES)), np.zeros((shape[0], CLASSES))

    def bin(self, step: Ints) -> Ints:
        """Return the bin of each step."""
        return step * len(self.count) // self.total

    def add(self, seen: Evidence) -> None:
        """Count a round in."""
        self.derived.clear()
        self.seeds = np.union1d(self.seeds, seen.seeds)
        place = (self.bin(seen.step), seen.beyond, seen.kind)
        np.add.at(self.count, place, 1.0)
        np.add.at(self.gram, place, seen.gram)
        above = np.arange(int(seen.limit.max(initial=0)))
        on = (above <= seen.depth[:, None]) & (above < seen.limit[:, None])
        sample, level = np.nonzero(on)
        where = (self.bin(seen.start[sample] + level), classes(level))
        np.add.at(self.tried, where, 1.0)
        np.add.at(self.accepted, where, (seen.depth[sample] > level).astype(np.float64))

    def merge(self, other: Calibration, share: float = 1.0) -> None:
        """Count all of another calibration of the same chain in, or a share of it.

        Raises:
            ValueError: If it is of a chain of another length.
        """
        if other.total != self.total:
            raise ValueError(
                f"a calibration of {other.total} steps does not fit one of {self.total} steps"
            )
        self.derived.clear()
        for name in _SUMS:
            getattr(self, name).__iadd__(share * getattr(other, name))
        self.seeds = np.union1d(self.seeds, other.seeds)

    def coefficients(self) -> Floats:
        """Return c (bins, 2, CLASSES, 3); zero where nothing is known."""
        count, gram = _pool(self.count), _pool(self.gram)
        square, inner = gram[..., 1:, 1:], gram[..., 1:, :1]
        size = np.diagonal(square, axis1=-2, axis2=-1)
        ridge = size * (_PRIOR / np.maximum(count, 1e-9))[..., None] + 1e-9 * size
        ridge = np.where(size > 0, ridge, 1.0)
        found = np.linalg.solve(square + ridge[..., None] * np.eye(3), inner)[..., 0]
        return np.where(count[..., None] > 0, found, 0.0)

    def acceptance(self) -> Floats:
        """Return the share of tried drafts that were accepted, (bins, CLASSES).

        Where little was tried it leans on the same class in all bins, and that on all of them.
        """
        all_tried, all_accepted = self.tried.sum(axis=0), self.accepted.sum(axis=0)
        prior = (all_accepted.sum() + 1.0) / (all_tried.sum() + 2.0)
        by_class = (all_accepted + 4.0 * prior) / (all_tried + 4.0)
        return (_pool(self.accepted) + 4.0 * by_class) / (_pool(self.tried) + 4.0)

    def to_json(self) -> dict[str, Any]:
        """Return what `from_json` reads."""
        sums = {name: getattr(self, name).tolist() for name in _SUMS}
        return {"format": _FORMAT, "total": self.total, "seeds": self.seeds.tolist(), **sums}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Calibration:
        """Return a calibration from what `to_json` has made.

        Raises:
            ValueError: If it is of another version.
        """
        if data.get("format") != _FORMAT:
            raise ValueError("this is no calibration of this version; calibrate again")
        made = cls(int(data["total"]), np.array(data["seeds"], dtype=np.int64))
        for name in _SUMS:
            setattr(made, name, np.array(data[name], dtype=np.float64))
        return made

    def save(self, path: Path | str) -> None:
        """Write a JSON file."""
        Path(path).write_text(json.dumps(self.to_json()))

    @classmethod
    def load(cls, path: Path | str) -> Calibration:
        """Read what `save` has written; ValueError if it is of another version."""
        return cls.from_json(json.loads(Path(path).read_text()))


def check_calibration(value: Calibration | None) -> Calibration | None:
    """Return a drafter's calibration; raise TypeError if it is something else, such as a path."""
    if value is not None and not isinstance(value, Calibration):
        raise TypeError(
            f"calibration must be a Calibration or None, got {value!r}; read a file with "
            "redraft.draft.Calibration.load(path)"
        )
    return value


def _pool(sums: Floats) -> Floats:
    """Add to every bin a share of its neighbours."""
    reach = len(_POOL) // 2
    padded = np.pad(sums, ((reach, reach), *((0, 0),) * (sums.ndim - 1)))
    return np.stack([w * padded[k : k + len(sums)] for k, w in enumerate(_POOL)]).sum(axis=0)
