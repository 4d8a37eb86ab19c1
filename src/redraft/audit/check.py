"""The outcome of a statistical assert, and the error raised when it fails."""

from dataclasses import dataclass

__all__ = ["Check", "Discrepancy"]


@dataclass(frozen=True)
class Check:
    """What was measured, what was allowed, and with which error rates.

    Attributes:
        name: What was asserted.
        statistic: The worst statistic over all columns.
        bound: The most a correct sampler shows there, up to `false_fail`.
        label: The column where the worst statistic was seen.
        columns: Number of columns tested together; `false_fail` is their total.
        num: Sample size, "n" or "n against m".
        false_fail: Probability of rejecting a correct sampler.
        false_pass: Probability of missing a discrepancy of at least `detect`.
        detect: Smallest discrepancy that the sample size is sure to reveal.
    """

    name: str
    statistic: float
    bound: float
    label: str
    columns: int
    num: str
    false_fail: float
    false_pass: float
    detect: float

    def __str__(self) -> str:
        """One line for a report or an error."""
        relation = "<=" if self.statistic <= self.bound else ">"
        return (
            f"{self.name}: {self.statistic:.6g} {relation} bound {self.bound:.6g} at {self.label} "
            f"(worst of {self.columns}, num {self.num}, false-fail {self.false_fail:.3g}, "
            f"false-pass {self.false_pass:.3g} at {self.detect:.3g})"
        )


class Discrepancy(AssertionError):
    """A statistical assert failed: the law differs, or an event as rare as `false_fail` occurred.

    Attributes:
        check: The measurement.
    """

    def __init__(self, check: Check) -> None:
        super().__init__(str(check))
        self.check = check
