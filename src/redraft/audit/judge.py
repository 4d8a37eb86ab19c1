"""The two moments of every assert: before looking, is there enough; after, is it within bounds."""

from collections.abc import Callable, Sequence

import torch

from redraft.audit.budget import LEDGER
from redraft.audit.check import Check, Discrepancy

__all__ = ["conclude", "require_enough"]


def conclude(
    name: str,
    statistics: Sequence[float],
    bounds: Sequence[float],
    labels: Sequence[str],
    num: str,
    rates: tuple[float, float, float],
) -> Check:
    """Charge the budget, pick the column farthest beyond (or closest to) its bound, and judge it.

    Args:
        name: What is asserted.
        statistics: One per column.
        bounds: The most that is allowed, one per column.
        labels: Names of the columns.
        num: Sample size, for the message.
        rates: (false_fail, false_pass, detect).

    Raises:
        Discrepancy: If a statistic is above its bound, or is not a number.
    """
    LEDGER.charge(rates[0], rates[1])
    excess = [s - b for s, b in zip(statistics, bounds, strict=True)]
    worst = int(torch.tensor(excess, dtype=torch.float64).nan_to_num(nan=torch.inf).argmax())
    check = Check(name, statistics[worst], bounds[worst], labels[worst], len(labels), num, *rates)
    if not statistics[worst] <= bounds[worst]:
        raise Discrepancy(check)
    return check


def require_enough(enough: bool, num: int | str, needed: Callable[[], int], what: str) -> None:
    """Raise ValueError, naming the sample size needed, unless there is enough to detect `what`."""
    if not enough:
        raise ValueError(
            f"num = {num} is too few to detect {what} at these rates: need at least {needed()}, "
            "or raise `detect`"
        )
