"""Where finished cells are kept: one file each, named after all that its numbers depend on.

.. code-block:: text

    DIR/suite.json                      suite, settings of its last run, command, date
    DIR/cells/digits_250_32_<digest>.json
        {"format", "date", "seconds", "slug", "cell": {...}, "settings": {...}, "found": document}

A file is used only if its cell and settings (versions, source, device, seed, ...) are exactly those
asked for; any other is left alone and mentioned. Files are replaced whole, never half written.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from redraft.bench.suite.cell import Cell

__all__ = ["Store"]

FORMAT = 1
MANIFEST = "suite.json"
UNREADABLE = "not readable"

Document = dict[str, Any]


class Store:
    """The folder of a suite.

    Args:
        folder: Made when something is written.

    Attributes:
        ignored: Files that were not used, counted by reason.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self.ignored: Counter[str] = Counter()

    @property
    def notes(self) -> list[str]:
        """What was ignored, in sentences."""
        return [
            f"ignored {count} kept cell{'s' * (count > 1)} in {self.folder}: {reason}"
            for reason, count in self.ignored.items()
        ]

    def get(self, cell: Cell, settings: Document) -> Document | None:
        """Return what is kept of a cell under these settings; None if there is nothing."""
        path, found = self._path(cell, settings), None
        for other in sorted((self.folder / "cells").glob(f"{cell.slug}_*.json")):
            kept = _read(other)
            if kept is None:
                self.ignored[UNREADABLE] += 1
            elif kept["cell"] == _plain(cell) and kept["settings"] == settings:
                found = kept if other == path else found
            else:
                self.ignored[_difference(kept, _plain(cell), settings)] += 1
        return found

    def put(self, cell: Cell, settings: Document, kept: Document) -> None:
        """Keep a finished cell."""
        entry = {"format": FORMAT, "slug": cell.slug, "cell": _plain(cell), "settings": settings}
        _write(self._path(cell, settings), entry | kept)

    def begin(self, manifest: Document) -> None:
        """Write down what is about to be measured."""
        _write(self.folder / MANIFEST, {"format": FORMAT, **manifest})

    def load(self) -> Document:
        """Return the suite with all kept cells of its settings, the newest of each.

        Raises:
            ValueError: If the folder holds no suite, or none of its cells is finished.
        """
        manifest = _read(self.folder / MANIFEST, ("suite", "settings", "cells"))
        if manifest is None:
            raise ValueError(
                f"{self.folder} holds no suite ({MANIFEST} is missing or not readable): "
                "make one with redraft bench --suite NAME --out DIR"
            )
        cells: dict[str, Document] = {}
        for path in sorted((self.folder / "cells").glob("*.json")):
            kept = _read(path)
            if kept is None:
                self.ignored[UNREADABLE] += 1
            elif kept["settings"] != manifest["settings"]:
                reason = _difference(kept, kept["cell"], manifest["settings"])
                self.ignored[reason] += 1
            elif kept["slug"] not in cells or kept["date"] > cells[kept["slug"]]["date"]:
                cells[kept["slug"]] = kept
        if not cells:
            raise ValueError(f"{self.folder} holds no finished cell: run its suite again")
        missing = [slug for slug in manifest["cells"] if slug not in cells]
        return {**manifest, "missing": missing, "cells": sorted(cells.values(), key=_order)}

    def _path(self, cell: Cell, settings: Document) -> Path:
        text = json.dumps([_plain(cell), settings], sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        return self.folder / "cells" / f"{cell.slug}_{digest}.json"


def _order(kept: Document) -> tuple[str, int, int]:
    cell = kept["cell"]
    return cell["target"], cell["steps"], cell["rows"]


def _plain(cell: Cell) -> Document:
    """Return a cell as JSON gives it back."""
    return json.loads(json.dumps(vars(cell)))


def _difference(kept: Document, cell: Document, settings: Document) -> str:
    """Name what differs."""
    both = ((kept["cell"], cell), (kept["settings"], settings))
    keys = [key for ours, theirs in both for key in theirs if ours.get(key) != theirs[key]]
    return f"measured with other {', '.join(sorted(keys)) or 'settings'}"


def _read(
    path: Path, needed: tuple[str, ...] = ("slug", "cell", "settings", "date", "found")
) -> Document | None:
    """Return a file's document; None if it is not one of this format."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    right = isinstance(found, dict) and found.get("format") == FORMAT
    return found if right and all(key in found for key in needed) else None


def _write(path: Path, found: Document) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(found, allow_nan=False) + "\n", encoding="utf-8")
    os.replace(part, path)
