"""Rates of events: how far an observed rate may be from its probability.

For n independent trials of probability p (Chernoff; it bounds the exact binomial tail)

    P(rate >= p + t) <= exp(-n KL(p + t || p)),      P(rate <= p - t) <= exp(-n KL(p - t || p)),

with KL(q || p) = q ln(q / p) + (1 - q) ln((1 - q) / (1 - p)). For p = 0 or 1 a single exception is
proof. A probability `detect` away is found with probability 1 - false_pass when the same bound,
taken at that probability, makes a rate inside the band rarer than `false_pass`.

References:
    Chernoff, "A measure of asymptotic efficiency for tests of a hypothesis based on the sum of
    observations", Ann. Math. Stat. 23 (1952).
    Hoeffding, "Probability inequalities for sums of bounded random variables", JASA 58 (1963).
"""

import math
from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor

from redraft.audit.bounds import least_integer, least_point, require_count, require_rate
from redraft.audit.budget import FALSE_FAIL_PER_ASSERT
from redraft.audit.check import Check
from redraft.audit.judge import conclude, require_enough

__all__ = ["assert_event_rate", "event_epsilon", "min_num_samples_for_event"]


def assert_event_rate(
    hits: int | Sequence[int] | Tensor,
    num: int | Sequence[int] | Tensor,
    prob: float | Sequence[float] | Tensor,
    *,
    detect: float,
    labels: Sequence[str] | None = None,
    false_fail: float = FALSE_FAIL_PER_ASSERT,
    false_pass: float = FALSE_FAIL_PER_ASSERT,
) -> Check:
    """Assert that each event has its probability: hits / num in [prob - below, prob + above].

    Args:
        hits: How often each event occurred; one integer, or one per event.
        num: Independent trials, fixed beforehand; one integer for all events, or one per event.
        prob: Probability; one for all events, or one per event. 0 and 1 are tested exactly.
        detect: Difference from `prob` that must be found with probability 1 - false_pass.
        labels: Name of each event.
        false_fail: Probability of rejecting correct rates, total over the events.
        false_pass: Probability of accepting a rate that is `detect` or more away.

    Raises:
        ValueError: If there are too few trials, or the arguments do not fit together.
        Discrepancy: If a rate leaves its band.
    """
    counts = torch.as_tensor(hits).reshape(-1).tolist()
    trials = _per_event("num", torch.as_tensor(num), len(counts))
    probs = _per_event("prob", torch.as_tensor(prob, dtype=torch.float64), len(counts))
    names = [f"event {i}" for i in range(len(counts))] if labels is None else list(labels)
    if not counts or len(names) != len(counts):
        raise ValueError(f"need hits and as many labels, got {len(counts)} and {len(names)}")
    rates = {"false_fail": false_fail / len(counts), "false_pass": false_pass}
    gaps, bounds = [], []
    for hit, n, p, name in zip(counts, trials, probs, names, strict=True):
        if not 0 <= hit <= n:
            raise ValueError(f"hits must be between 0 and num={n}, got {hit} for {name}")
        needed = partial(min_num_samples_for_event, detect, p, **rates)
        require_enough(_reveals(n, p, detect, **rates), n, needed, f"{detect} at {name}")
        below, above = event_epsilon(n, p, rates["false_fail"])
        gaps.append(abs(hit / n - p))
        bounds.append(above if hit > n * p else below)
    sizes = f"{min(trials)}" if len(set(trials)) == 1 else f"{min(trials)} to {max(trials)}"
    return conclude("event rate", gaps, bounds, names, sizes, (false_fail, false_pass, detect))


def event_epsilon(num: int, prob: float, fail_rate: float) -> tuple[float, float]:
    """Two-sided Chernoff bounds of an observed rate.

    Args:
        num: Number of independent trials.
        prob: Probability of the event in [0, 1].
        fail_rate: Probability of leaving the band, half on either side.

    Returns:
        (below, above): the rate leaves [prob - below, prob + above] at most at `fail_rate`.

    Raises:
        ValueError: If `num` is below 1, `prob` outside [0, 1] or the rate outside (0, 1).
    """
    require_count("num", num)
    require_rate("fail_rate", fail_rate)
    if not 0 <= prob <= 1:
        raise ValueError(f"prob must be in [0, 1], got {prob!r}")
    nats = math.log(2 / fail_rate) / num
    above = least_point(lambda t: _kl(prob + t, prob) >= nats, 0.0, 1 - prob)
    below = least_point(lambda t: _kl(prob - t, prob) >= nats, 0.0, prob)
    return below, above


def min_num_samples_for_event(
    discrepancy: float, prob: float, *, false_fail: float, false_pass: float
) -> int:
    """Fewest trials that reveal a probability at least `discrepancy` away from `prob`.

    Raises:
        ValueError: If no other probability is that far away, or a rate is outside (0, 1).
    """
    rates = {"false_fail": false_fail, "false_pass": false_pass}
    return least_integer(lambda num: _reveals(num, prob, discrepancy, **rates))


def _reveals(
    num: int, prob: float, discrepancy: float, *, false_fail: float, false_pass: float
) -> bool:
    require_rate("false_pass", false_pass)
    others = [q for q in (prob - discrepancy, prob + discrepancy) if 0 <= q <= 1]
    if discrepancy <= 0 or not others:
        raise ValueError(f"no probability is {discrepancy!r} away from prob={prob!r}; lower it")
    below, above = event_epsilon(num, prob, false_fail)
    edges = [prob - below if q < prob else prob + above for q in others]
    inside = [(e - prob) / (q - prob) < 1 for e, q in zip(edges, others, strict=True)]
    nats = [num * _kl(e, q) for e, q in zip(edges, others, strict=True)]
    return all(inside) and min(nats) >= math.log(1 / false_pass)


def _per_event(name: str, given: Tensor, count: int) -> list:
    if given.numel() not in (1, count):
        raise ValueError(
            f"{name} must be one number or one per event ({count}), got {given.numel()}"
        )
    return given.reshape(-1).expand(count).tolist()


def _kl(q: float, p: float) -> float:
    """KL(Bernoulli(q) || Bernoulli(p)) in nats; q is clamped to [0, 1] against rounding."""
    q = min(1.0, max(0.0, q))
    if q == p:
        return 0.0
    if p <= 0 or p >= 1:
        return math.inf
    hit = q * math.log(q / p) if q > 0 else 0.0
    miss = (1 - q) * math.log((1 - q) / (1 - p)) if q < 1 else 0.0
    return hit + miss
