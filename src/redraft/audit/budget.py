"""The false-fail budget of one CI run, written down in one place.

One run of the whole suite may fail by chance with probability at most `BUDGET`. By Bonferroni,
`MAX_ASSERTS` asserts may each fail with probability `FALSE_FAIL_PER_ASSERT = BUDGET / MAX_ASSERTS`,
their default. Every assert enters what it risks into `LEDGER`; `pytest_plugin` adds the ledgers of
all workers and fails the session above the budget.

What an assert risks depends on what the test expects of it. Normally a correct sampler is expected
to pass: the risk is `false_fail`. Inside `expect_caught` a planted bug is expected to be found: the
risk is `false_pass`. Calibration tests, which measure the rates of the asserts themselves at 5 % or
so, run them inside `uncharged` and risk only their own final assert.

References:
    TensorFlow Probability, `statistical_testing.py` (rates are stated; totals over a batch).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from redraft.audit.check import Discrepancy

__all__ = [
    "BUDGET",
    "FALSE_FAIL_PER_ASSERT",
    "LEDGER",
    "MAX_ASSERTS",
    "Ledger",
    "expect_caught",
    "uncharged",
]

BUDGET = 1e-6
MAX_ASSERTS = 1000
FALSE_FAIL_PER_ASSERT = BUDGET / MAX_ASSERTS


@dataclass
class Ledger:
    """What the asserts of a session have risked so far.

    Attributes:
        asserts: Number of asserts entered.
        spent: Sum of their risks: a bound on the probability that the session fails by chance.
    """

    asserts: int = 0
    spent: float = 0.0
    _mode: Literal["pass", "caught", "uncharged"] = field(default="pass", repr=False)

    def charge(self, false_fail: float, false_pass: float) -> None:
        """Enter one assert with its two error rates."""
        if self._mode == "uncharged":
            return
        self.asserts += 1
        self.spent += false_pass if self._mode == "caught" else false_fail

    def add(self, asserts: int, spent: float) -> None:
        """Enter what another worker's ledger holds."""
        self.asserts += asserts
        self.spent += spent

    @property
    def overdrawn(self) -> bool:
        """Whether more than `BUDGET` was spent (a relative 1e-9 is left to rounding)."""
        return self.spent > BUDGET * (1 + 1e-9)

    def __str__(self) -> str:
        """One line for the end of a test session."""
        count = f"{self.asserts} statistical asserts"
        return f"{count}, false-fail <= {self.spent:.3g} of {BUDGET:.3g}"

    @contextmanager
    def expecting(self, mode: Literal["pass", "caught", "uncharged"]) -> Iterator[None]:
        """Charge asserts in the block for passing, for catching a planted bug, or not at all."""
        before, self._mode = self._mode, mode
        try:
            yield
        finally:
            self._mode = before


LEDGER = Ledger()


@contextmanager
def uncharged() -> Iterator[None]:
    """Leave asserts in the block out of the budget; for tests that measure their rates."""
    with LEDGER.expecting("uncharged"):
        yield


@contextmanager
def expect_caught(bug: str) -> Iterator[None]:
    """Expect an assert in the block to find a planted bug.

    Only a `Discrepancy` counts as found: any other error passes through.

    Args:
        bug: Name of the planted bug, for the message.

    Raises:
        AssertionError: If the block ends without a `Discrepancy`.
    """
    try:
        with LEDGER.expecting("caught"):
            yield
    except Discrepancy:
        return
    raise AssertionError(f"planted bug not caught: {bug}")
