"""Statistical evidence that a sampler has the law it should have, with both error rates stated.

Turn paths into scalar columns (`projections`), then assert that two samples have one law
(`assert_same_law`), that columns have a known cdf (`assert_same_cdf`), that paths are a known
Gaussian (`assert_gaussian_law`, `assert_gaussian_moments`) or that events have their probabilities
(`assert_event_rate`). The false-fail rates of a whole CI run add up to `budget.BUDGET` at most.
"""

from redraft.audit.asserts import assert_same_cdf, assert_same_law
from redraft.audit.budget import expect_caught, uncharged
from redraft.audit.check import Check, Discrepancy
from redraft.audit.columns import Columns
from redraft.audit.events import assert_event_rate
from redraft.audit.gaussian import assert_gaussian_law
from redraft.audit.moments import assert_gaussian_moments
from redraft.audit.projections import projections

__all__ = [
    "Check",
    "Columns",
    "Discrepancy",
    "assert_event_rate",
    "assert_gaussian_law",
    "assert_gaussian_moments",
    "assert_same_cdf",
    "assert_same_law",
    "expect_caught",
    "projections",
    "uncharged",
]
