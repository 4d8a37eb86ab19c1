"""The suite-wide budget: what is charged, and that a run which overdraws it fails."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from redraft.audit import (
    assert_event_rate,
    assert_same_law,
    expect_caught,
    pytest_plugin,
    uncharged,
)
from redraft.audit.budget import BUDGET, FALSE_FAIL_PER_ASSERT, LEDGER, MAX_ASSERTS, Ledger


@pytest.fixture
def ledger(monkeypatch):
    fresh = Ledger()
    for place in ("redraft.audit.budget.LEDGER", "redraft.audit.judge.LEDGER"):
        monkeypatch.setattr(place, fresh)
    return fresh


def passing(**rates):
    assert_event_rate(500, 1000, 0.5, detect=0.3, **rates)


def failing(**rates):
    assert_event_rate(900, 1000, 0.5, detect=0.3, **rates)


def test_defaults_fit_the_budget_exactly():
    ledger = Ledger()
    for _ in range(MAX_ASSERTS):
        ledger.charge(FALSE_FAIL_PER_ASSERT, 1.0)
    assert ledger.spent == pytest.approx(BUDGET) and not ledger.overdrawn
    ledger.charge(FALSE_FAIL_PER_ASSERT, 1.0)
    assert ledger.overdrawn


def test_an_assert_expected_to_pass_risks_its_false_fail(ledger):
    passing(false_fail=1e-4, false_pass=1e-3)
    assert (ledger.asserts, ledger.spent) == (1, 1e-4)


def test_an_assert_expected_to_catch_risks_its_false_pass(ledger):
    with expect_caught("bug"):
        failing(false_fail=1e-4, false_pass=1e-3)
    passing(false_fail=1e-4, false_pass=1e-3)
    assert (ledger.asserts, ledger.spent) == (2, pytest.approx(1e-3 + 1e-4))


def test_calibration_is_not_charged_and_a_refusal_costs_nothing(ledger):
    with uncharged():
        passing(false_fail=0.1, false_pass=0.1)
    with pytest.raises(ValueError, match="too few"):
        assert_same_law(torch.zeros(3), torch.zeros(3), detect=0.1)
    assert (ledger.asserts, ledger.spent) == (0, 0.0)


def test_expect_caught_fails_without_a_discrepancy(ledger):
    with pytest.raises(AssertionError, match="planted bug not caught: bug"):
        with expect_caught("bug"):
            passing()


@pytest.mark.parametrize("error", [AssertionError, ValueError])
def test_expect_caught_lets_other_errors_pass(ledger, error):
    with pytest.raises(error, match="unrelated"):
        with expect_caught("bug"):
            raise error("unrelated")
    assert ledger._mode == "pass"


def test_the_session_ledger_is_the_one_that_asserts_charge():
    before = LEDGER.asserts
    passing()
    assert LEDGER.asserts == before + 1


def test_ledgers_of_workers_add_up_and_an_overdrawn_run_fails(ledger, monkeypatch):
    monkeypatch.setattr("redraft.audit.pytest_plugin.LEDGER", ledger)
    ledger.charge(0.6 * BUDGET, 1.0)
    worker = SimpleNamespace(config=SimpleNamespace(workeroutput={}), exitstatus=0)
    pytest_plugin.pytest_sessionfinish(cast(Any, worker))
    controller = SimpleNamespace(config=SimpleNamespace(), exitstatus=0)
    pytest_plugin.pytest_sessionfinish(cast(Any, controller))
    assert (worker.exitstatus, controller.exitstatus) == (0, 0)
    finished = SimpleNamespace(workeroutput=worker.config.workeroutput)
    pytest_plugin.pytest_testnodedown(finished, None)
    pytest_plugin.pytest_testnodedown(SimpleNamespace(), "crashed before it could report")
    assert (ledger.asserts, ledger.spent) == (2, pytest.approx(1.2 * BUDGET))
    pytest_plugin.pytest_sessionfinish(cast(Any, controller))
    assert controller.exitstatus == pytest.ExitCode.TESTS_FAILED


# Bare packages stand in for `redraft`: adding up ledgers needs no torch, which loads slowly.
CONFTEST = """
import sys, types

for name, folder in {packages}.items():
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [folder]
pytest_plugins = ["redraft.audit.pytest_plugin"]
"""
SUITE = """
import pytest
from redraft.audit.budget import BUDGET, LEDGER

@pytest.mark.parametrize("part", range(4))
def test_part(part):
    LEDGER.charge(0.3 * BUDGET, BUDGET)
"""


def test_passing_tests_above_the_budget_fail_the_run_with_xdist(tmp_path):
    audit = Path(pytest_plugin.__file__).parent
    packages = {"redraft": str(audit.parent), "redraft.audit": str(audit)}
    (tmp_path / "conftest.py").write_text(CONFTEST.format(packages=packages))
    (tmp_path / "test_suite.py").write_text(SUITE)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", "."]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "4 passed" in run.stdout and run.returncode == 1, run.stdout + run.stderr
    assert "4 statistical asserts, false-fail <= 1.2e-06 of 1e-06" in run.stdout
    assert "FAILED: more than the false-fail budget 1e-06 was spent" in run.stdout
