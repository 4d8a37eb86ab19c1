"""Statistical asserts that state both of their error rates, and refuse samples too small for them.

`samples` are i.i.d. rows; each column is one scalar functional of a row, and an assert speaks about
all its columns together. It

1. raises ValueError, naming the number needed, if the sample could miss a discrepancy of `detect`
   (in any one column) with a probability above `false_pass`;
2. raises `Discrepancy`, an AssertionError, if a column leaves a band that a correct sampler leaves
   with probability at most `false_fail` in total (Bonferroni: `false_fail / columns` each);
3. otherwise returns the `Check`, and enters its risk into the suite's budget.

What the rows were chosen for must not depend on their values: directions of projections, sample
sizes and scales are fixed before.

References:
    Massart, "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Ann. Probab. 18
    (1990).
    TensorFlow Probability, `statistical_testing.py`
    (`assert_true_cdf_equal_by_dkwm`, `assert_true_cdf_equal_by_dkwm_two_sample`).
"""

from collections.abc import Callable

from torch import Tensor

from redraft.audit.bounds import (
    detectable_ks,
    dkwm_epsilon,
    min_num_samples_for_ks,
)
from redraft.audit.budget import FALSE_FAIL_PER_ASSERT
from redraft.audit.check import Check
from redraft.audit.columns import Columns, as_columns, same_columns
from redraft.audit.judge import conclude, require_enough
from redraft.audit.ks import ks_one_sample, ks_two_sample

__all__ = ["assert_same_cdf", "assert_same_law"]


def assert_same_cdf(
    samples: Tensor | Columns,
    cdf: Callable[[Tensor], Tensor],
    *,
    detect: float,
    false_fail: float = FALSE_FAIL_PER_ASSERT,
    false_pass: float = FALSE_FAIL_PER_ASSERT,
) -> Check:
    """Assert that every column has the given cdf: sup |F_n - F| <= sqrt(ln(2 C / rate) / (2 n)).

    Args:
        samples: (num, C) i.i.d. rows, or (num,) for one column.
        cdf: Maps float64 (num, C) values to P(X <= value), column by column; exact at atoms.
        detect: KS distance of a column that must be found with probability 1 - false_pass.
        false_fail: Probability of rejecting a correct sampler, total over the columns.
        false_pass: Probability of accepting one that is `detect` or more away.

    Raises:
        ValueError: If there are too few samples, or they are not finite.
        Discrepancy: If a column leaves its band.
    """
    columns = as_columns("samples", samples)
    num, width = columns.values.shape
    rate = false_fail / width
    rates = {"false_fail": rate, "false_pass": false_pass}
    require_enough(
        detectable_ks(num, **rates, other=None) <= detect,
        num,
        lambda: min_num_samples_for_ks(detect, **rates, two_sample=False),
        f"{detect} in one of {width} columns",
    )
    return conclude(
        "same cdf",
        ks_one_sample(columns.values, cdf).tolist(),
        [dkwm_epsilon(num, rate)] * width,
        columns.labels,
        f"{num}",
        (false_fail, false_pass, detect),
    )


def assert_same_law(
    a: Tensor | Columns,
    b: Tensor | Columns,
    *,
    detect: float,
    false_fail: float = FALSE_FAIL_PER_ASSERT,
    false_pass: float = FALSE_FAIL_PER_ASSERT,
) -> Check:
    """Assert that two independent samples have the same law in every column: sup |F_n - G_m| small.

    Args:
        a: (n, C) i.i.d. rows, or (n,) for one column.
        b: (m, C) i.i.d. rows, independent of `a`; atoms of both must be equal bit by bit.
        detect: KS distance of a column that must be found with probability 1 - false_pass.
        false_fail: Probability of rejecting equal laws, total over the columns.
        false_pass: Probability of accepting laws that are `detect` or more apart.

    Raises:
        ValueError: If there are too few samples, they are not finite, or the columns differ.
        Discrepancy: If a column leaves its band.
    """
    left, right = as_columns("a", a), as_columns("b", b)
    same_columns(left, right)
    (n, width), m = left.values.shape, right.values.shape[0]
    rate = false_fail / width
    rates = {"false_fail": rate, "false_pass": false_pass}
    require_enough(
        detectable_ks(n, **rates, other=m) <= detect,
        f"{n} against {m}",
        lambda: min_num_samples_for_ks(detect, **rates, two_sample=True),
        f"{detect} in one of {width} columns",
    )
    return conclude(
        "same law",
        ks_two_sample(left.values, right.values).tolist(),
        [dkwm_epsilon(n, rate, m)] * width,
        left.labels,
        f"{n} against {m}",
        (false_fail, false_pass, detect),
    )
