"""Where a measurement was made."""

from __future__ import annotations

import os
import platform
from typing import Any

import numpy as np
import torch

__all__ = ["environment", "versions"]


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


def _cpu() -> str:
    """Name of the processor, as far as the system tells."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()
