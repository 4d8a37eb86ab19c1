"""Where a measurement was made."""

from __future__ import annotations

import hashlib
import os
import platform
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

__all__ = ["device_name", "environment", "source_digest", "versions"]

ROOMS = ("bench", "chain", "coupling", "draft", "execute", "sampling", "tree", "zoo")
"""What results depend on; of bench, the files that lie in it directly."""


def versions() -> dict[str, str]:
    """Versions of what a result depends on."""
    from redraft import __version__

    return {
        "redraft": __version__,
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "numpy": np.__version__,
    }


def environment() -> dict[str, Any]:
    """Versions, platform, processor, threads and accelerators."""
    gpus = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return {
        "versions": versions(),
        "platform": platform.platform(),
        "cpu": _cpu(),
        "cpu_count": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "cuda": torch.version.cuda,
        "gpus": gpus,
        "mps": torch.backends.mps.is_available(),
    }


def device_name(device: torch.device) -> str:
    """Return the name of the hardware behind a device."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return _cpu() if device.type == "cpu" else str(device)


@cache
def source_digest() -> str:
    """Return a digest of the code that results depend on: a version that every edit changes."""
    root, digest = Path(__file__).resolve().parent.parent, hashlib.sha256()
    for room in ROOMS:
        files = (root / room).glob("*.py") if room == "bench" else (root / room).rglob("*.py")
        for file in sorted(files):
            digest.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def _cpu() -> str:
    """Name of the processor, as far as the system tells."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()
