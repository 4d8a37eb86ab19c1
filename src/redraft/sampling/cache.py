"""Where strategies are kept from one process to the next.

The folder is ``$REDRAFT_CACHE``, or ``redraft`` in the user's cache folder. Nothing in it is
needed: what cannot be read, or is of another version, device or number of threads, is made anew,
with a note that says so.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import sys
from pathlib import Path

import torch

from redraft.sampling.strategy import Strategy

__all__ = ["Kept", "folder"]


def folder() -> Path:
    """Return the cache folder; it need not exist."""
    chosen = os.environ.get("REDRAFT_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    else:
        base = os.environ.get("XDG_CACHE_HOME")
    return Path(base) / "redraft" if base else Path.home() / ".cache" / "redraft"


class Kept:
    """The place of one strategy.

    Args:
        name: The user's name of the model, letters, digits, ``.``, ``_`` and ``-``.
        made_for: Everything else that a strategy depends on: chain, rows, goal, dtype, ...
        device: Where it runs.

    Raises:
        ValueError: If the name has other characters.
    """

    def __init__(self, name: str, made_for: tuple[object, ...], device: torch.device) -> None:
        if not re.fullmatch(r"[\w.-]+", name):
            raise ValueError(f"name may have letters, digits, '.', '_' and '-' only, got {name!r}")
        asked = hashlib.sha256(repr(made_for).encode()).hexdigest()[:12]
        self.file = folder() / "plans" / f"{name}-{asked}.json"
        self.origin = (
            f"redraft {_version()}, {_hardware(device)}, {torch.get_num_threads()} threads"
        )

    def read(self) -> tuple[Strategy | None, str | None]:
        """Return the strategy if there is a usable one, else None and, if there is one, why not."""
        if not self.file.exists():
            return None, None
        try:
            found = Strategy.load(self.file)
        except (ValueError, OSError) as error:
            return None, f"The kept plan was ignored: {error}."
        if found.origin != self.origin:
            return None, f"The kept plan of {found.origin} was ignored; this is {self.origin}."
        return found, None

    def write(self, strategy: Strategy) -> None:
        """Keep a strategy; a folder that cannot be written to is no error."""
        try:
            strategy.save(self.file)
        except OSError:
            return


def _version() -> str:
    from redraft import __version__

    return __version__


def _hardware(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{device.type} {platform.machine()} {platform.processor() or platform.node()}".strip()
