"""A cell of a suite: an ordinary benchmark at one number of steps and one budget of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from redraft.bench.methods import AUTO, SEQUENTIAL, Method, parse
from redraft.bench.runner import Record

__all__ = ["Cell"]


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes:
        target: What is sampled, as on the command line.
        steps: Noisy steps of the chain.
        rows: Most rows of a call, root included; every method's tree keeps within.
        methods: Pairs (name, tree); the tree of the sequential sampler is "".
        baselines: The published methods among them, as pairs. Calls are divided by those of the
            best of them: the one with the fewest.
        wall: Whether wall-clock is measured too.
        protocol: Whether steps and calls are counted as in `redraft.bench.protocol`.
    """

    target: str
    steps: int
    rows: int
    methods: tuple[tuple[str, str], ...]
    baselines: tuple[tuple[str, str], ...]
    wall: bool = False
    protocol: bool = False

    @property
    def title(self) -> str:
        """What tells it from the others of its suite."""
        return f"{self.target}, {self.steps} steps, {self.rows} rows"

    @property
    def slug(self) -> str:
        """The same as a file's name."""
        return f"{self.target.replace(':', '-')}_{self.steps}_{self.rows}"

    def parsed(self) -> list[Method]:
        """Return the methods."""
        return [parse(name, tree or "chain:1") for name, tree in self.methods]

    def best_baseline(self, records: Sequence[Record]) -> Record | None:
        """Return the record of the published method with the fewest calls; None if none was run."""
        known = [r for r in records if (r.method.name, r.method.tree) in self.baselines]
        return min(known, key=lambda record: float(record.calls.mean()), default=None)

    def weight(self, num: int, taught: int) -> float:
        r"""Return about how long it takes, for the progress bar: rows, in arbitrary units.

        Rows per sample grow like :math:`\mathrm{steps}^{2/3} \mathrm{rows}^{1/3}`, as measured.
        """
        learns = {name: 1 if ":warm" in name else 2 * (name in AUTO) for name, _ in self.methods}
        drawn = sum(
            0 if name == SEQUENTIAL else num + 3 * taught * learns[name] for name, _ in self.methods
        )
        return self.steps ** (2 / 3) * self.rows ** (1 / 3) * (drawn + 1)
