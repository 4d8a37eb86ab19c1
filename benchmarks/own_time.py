"""Measure what a round costs beside the model, for models of several speeds; writes own-time.json.

One sample, 250 steps, recycled drafts on a chain of 16, greedy. The models are plain MLPs with
random weights: what they predict hardly matters here, how long they take and what they leave of
the processor's caches does. A round's own work is all that happens between two calls, the noise
included; setting up a run is counted apart.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from statistics import mean, median
from time import perf_counter

import torch
from torch import Tensor, nn

import redraft

ROWS, RUNS, WARM = 16, 25, 5
OUT = Path(__file__).resolve().parent / "results" / "own-time.json"


class Model(nn.Module):
    """An MLP of 8x8 states that predicts something small."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        sizes = [64, *[width] * depth]
        layers = [nn.Sequential(nn.Linear(a, b), nn.SiLU()) for a, b in pairwise(sizes)]
        self.layers = nn.Sequential(*layers, nn.Linear(width, 64))

    def forward(self, x: Tensor, level: Tensor) -> Tensor:
        """Return predictions."""
        scaled = x.flatten(1) / (1.0 + level.unsqueeze(1).square()).sqrt()
        return (0.02 * self.layers(scaled)).view_as(x)


def measure(width: int, depth: int) -> dict[str, float]:
    """Return, in ms, medians over runs of a call, of the rest of a round and of a run's set-up."""
    torch.manual_seed(0)
    model = Model(width, depth).requires_grad_(False)
    table = redraft.chain.ancestral(redraft.chain.karras(250, 20.0, 0.02))
    marks: list[float] = []

    def timed(x: Tensor, level: Tensor) -> Tensor:
        marks.append(perf_counter())
        f = model(x, level)
        marks.append(perf_counter())
        return f

    calls, own, setup = [], [], []
    for run in range(WARM + RUNS):
        marks.clear()
        begin = perf_counter()
        redraft.sample(timed, table, 1, (1, 8, 8), seed=run, tree=f"chain:{ROWS}")
        end = perf_counter()
        begins, ends = marks[::2], marks[1::2]
        gaps = [after - before for before, after in zip(ends[:-1], begins[1:], strict=True)]
        if run >= WARM:
            calls.append(
                1e3 * mean(after - before for before, after in zip(begins, ends, strict=True))
            )
            own.append(1e3 * mean(gaps))
            setup.append(1e3 * (begins[0] - begin + end - ends[-1]))
    call, rest = median(calls), median(own)
    share = rest / (call + rest)
    return {"call_ms": call, "own_ms": rest, "own_share": share, "setup_ms": median(setup)}


def main() -> None:
    """Measure and write."""
    torch.set_num_threads(1)
    found = [measure(*size) for size in ((256, 3), (384, 4), (512, 4), (768, 4), (1024, 5))]
    for line in found:
        text = (
            "call {call_ms:.2f} ms, own {own_ms:.3f} ms ({own_share:.1%}), set-up {setup_ms:.2f} ms"
        )
        print(text.format(**line))
    OUT.write_text(json.dumps({"rows": ROWS, "steps": 250, "models": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
