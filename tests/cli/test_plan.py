"""``redraft plan``: what it prints, keeps and refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import redraft
from redraft.cli.app import app

SMALL = ["plan", "gaussian:4", "--steps", "20", "--num", "4", "--max-rows", "4", "--check", "1"]


def run(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


def test_it_says_what_is_best_and_keeps_it(tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    found = run(*SMALL, "--goal", "calls", "--save", str(file), "--json", "-")
    assert found.exit_code == 0, found.output
    document = json.loads(found.stdout)
    assert document["steps"] == 20 and document["chosen"]["rows"] == 4
    assert document["expected_speedup"] > 0 and len(document["options"]) == 3
    made = redraft.Strategy.load(file)
    assert made.chosen.name == document["chosen"]["name"]


def test_tables_show_cost_acceptance_and_ways() -> None:
    found = run(*SMALL, "--goal", "calls")
    assert found.exit_code == 0, found.output
    for text in ("Cost of a call here", "accepted of those tried", "sequential", "Expected:"):
        assert text in found.output


def test_a_cheap_model_is_not_worth_it() -> None:
    """A closed-form target takes less time than a round's own work."""
    found = run(*SMALL)
    assert found.exit_code == 0, found.output
    assert "does not pay" in found.output and "would change that" in found.output


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--goal", "fast"], "goal must be 'time' or 'calls'"),
        (["--max-rows", "0"], "max_rows >= 1"),
        (["--check", "-1"], "--check must be at least 0"),
        (["--save", "/no/such/folder/plan.json"], "does not exist"),
    ],
)
def test_errors_are_one_line(words: list[str], text: str) -> None:
    found = run(*SMALL, *words)
    assert found.exit_code == 2 and text in found.output
