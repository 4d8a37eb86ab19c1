"""Settings of every test: one thread, fresh seeds that a failure prints, no deadlines."""

from __future__ import annotations

import os

# Read once, when torch loads: must stand above its import.
os.environ["OMP_NUM_THREADS"] = "1"

from collections.abc import Generator

import pytest
import torch
from hypothesis import HealthCheck, settings

torch.set_num_threads(1)

# Adds up the false-fail rates of all statistical asserts, over the workers.
pytest_plugins = ["redraft.audit.pytest_plugin"]

# Hypothesis would repeat the same examples in every CI run, and fail tests on slow machines.
settings.register_profile(
    "redraft",
    deadline=None,
    derandomize=False,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("redraft")

SEED_VARIABLE = "REDRAFT_TEST_SEED"
SEED = pytest.StashKey[int]()


@pytest.fixture
def fresh_seed(request: pytest.FixtureRequest) -> int:
    """A new 63-bit seed, or the one in ``REDRAFT_TEST_SEED``; printed if the test fails."""
    given = os.environ.get(SEED_VARIABLE)
    seed = int(given) if given else int.from_bytes(os.urandom(8), "little") >> 1
    request.node.stash[SEED] = seed
    return seed


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    seed = item.stash.get(SEED, None)
    if report.failed and seed is not None:
        report.sections.append(("fresh seed", f"to repeat this run: {SEED_VARIABLE}={seed}"))
    return report
