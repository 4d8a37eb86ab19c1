"""Pytest hooks of the budget.

Enable with `pytest_plugins = ["redraft.audit.pytest_plugin"]` in the root conftest. Under
pytest-xdist each worker sends its ledger to the controller when it goes down, so that the total is
that of the whole run.
"""

from typing import Any

import pytest

from redraft.audit.budget import BUDGET, LEDGER, MAX_ASSERTS

__all__ = [
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "pytest_testnodedown",
]

_KEY = "redraft_ledger"


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Add the ledger of a finished xdist worker."""
    sent = getattr(node, "workeroutput", {}).get(_KEY)
    if sent is not None:
        LEDGER.add(*sent)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send this worker's ledger, or fail the session if the whole run overdrew the budget."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_KEY] = (LEDGER.asserts, LEDGER.spent)
    elif LEDGER.overdrawn:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the ledger, and what to do when it is overdrawn."""
    if not LEDGER.asserts:
        return
    terminalreporter.write_line(f"redraft audit: {LEDGER}")
    if LEDGER.overdrawn:
        terminalreporter.write_line(
            f"FAILED: more than the false-fail budget {BUDGET} was spent; keep the default rate "
            f"and at most {MAX_ASSERTS} asserts, or test more columns in one assert",
            red=True,
        )
