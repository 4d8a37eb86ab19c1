"""The commands as a user types them: what they print, write and return."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from matplotlib.image import imread
from typer.testing import CliRunner

from redraft.bench import Job
from redraft.cli.app import app

SETTINGS = {
    "target": str,
    "steps": int,
    "rows": int,
    "num": int,
    "seed": int,
    "threads": int,
    "device": str,
    "dtype": str,
    "versions": dict,
    "methods": list,
}
METHOD = {
    "name": str,
    "drafter": str,
    "verifier": str,
    "tree": str,
    "freeze": str,
    "calls_mean": float,
    "calls_stderr": float,
    "rows_mean": float,
    "wall_s_median": float,
    "speedup_calls": float,
    "speedup_wall": float,
    "own_share": float,
    "acceptance_by_depth": list,
    "committed_per_round": float,
}
ABSENT = {"drafter", "verifier", "tree", "freeze"}  # null for the sequential sampler
BENCH = ["bench", "gaussian:3", "--steps", "8", "--num", "3", "--repeats", "1", "--rows", "4"]
SAMPLE = ["sample", "mixture", "--steps", "8", "--num", "5", "--rows", "4"]


def run(*arguments: str, status: int = 0):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == status, result.output
    return result


def check_schema(found: dict) -> None:
    for key, kind in SETTINGS.items():
        assert isinstance(found[key], kind), key
    assert {"redraft", "torch", "python", "numpy"} <= set(found["versions"])
    for method in found["methods"]:
        for key, kind in METHOD.items():
            if method["name"] == "sequential" and key in ABSENT:
                assert method[key] is None
            else:
                assert isinstance(method[key], kind), key
        assert all(0 <= share <= 1 for share in method["acceptance_by_depth"] if share is not None)


def test_bench_json_on_stdout_is_json_only_and_has_the_schema():
    result = run(*BENCH, "--json", "-")
    found = json.loads(result.stdout)
    check_schema(found)
    assert [method["name"] for method in found["methods"]] == [
        "sequential",
        "frozen+reflection",
        "free+reflection",
        "free+traversal",
        "recycled+greedy",
    ]
    assert (found["target"], found["steps"], found["rows"]) == ("gaussian:3", 8, 4)
    assert (found["num"], found["seed"], found["threads"]) == (3, 0, 1)
    assert "Target calls per sample" in result.stderr


def test_bench_writes_json_to_a_file_and_tables_to_stdout(tmp_path):
    file = tmp_path / "bench.json"
    result = run(*BENCH, "--methods", "free:eps+greedy", "--json", str(file))
    check_schema(found := json.loads(file.read_text(encoding="utf-8")))
    assert [method["freeze"] for method in found["methods"]] == ["eps"]
    for word in ("free:eps+greedy", "chain:4", "Accepted", "Wall-clock", "ideal", "Fastest here"):
        assert word in result.stdout


def test_bench_runs_every_size_and_prints_ratios_without_timing():
    result = run(*BENCH[:-1], "2,4", "--no-wall", "--json", "-")
    found = json.loads(result.stdout)
    assert found["rows"] == [2, 4]
    assert [m["tree"] for m in found["methods"]] == [None] + 4 * ["chain:2"] + 4 * ["chain:4"]
    assert "Wall-clock" not in result.stderr and "ratio to free+reflection" in result.stderr


def test_bench_takes_trees_with_several_children():
    trees = ["--tree", "kary:2,2", "--tree", "chain:3", "--methods", "free+traversal"]
    found = json.loads(run(*BENCH[:-2], *trees, "--no-wall", "--json", "-").stdout)
    assert [m["tree"] for m in found["methods"]] == ["kary:2,2", "chain:3"]


def test_bench_runs_the_drafters_with_a_cheap_model_on_digits():
    names = "model+greedy,corrected+traversal"
    options = ["--methods", names, "--steps", "6", "--num", "2", "--rows", "4", "--no-wall"]
    found = json.loads(run("bench", "digits", *options, "--json", "-").stdout)
    assert [m["drafter"] for m in found["methods"]] == ["model", "corrected"]
    assert [m["freeze"] for m in found["methods"]] == [None, None]


def test_bench_stopped_by_the_user_reports_what_is_finished(monkeypatch, tmp_path):
    def stop(self, method, which):
        raise KeyboardInterrupt

    monkeypatch.setattr(Job, "run_once", stop)
    file = tmp_path / "bench.json"
    result = run(*BENCH, "--json", str(file), status=130)
    assert "Interrupted" in result.stdout
    found = json.loads(file.read_text(encoding="utf-8"))
    assert found["interrupted"] is True and len(found["methods"]) == 5


def test_sample_prints_both_methods_and_one_sentence_and_writes_a_picture(tmp_path):
    out = tmp_path / "points.png"
    result = run(*SAMPLE, "--out", str(out))
    for word in ("sequential", "recycled+greedy", "chain:4", "faster", "Accepted", "fewer calls"):
        assert word in result.stdout
    height, width, _ = imread(out).shape
    assert (width, height) == (1200, 660)


def test_sample_json_is_json_only_has_the_schema_and_is_determined_by_the_seed(tmp_path):
    command = [*SAMPLE, "--json", "-", "--out", str(tmp_path / "points.png")]
    first, again = (json.loads(run(*command, "--seed", "3").stdout) for _ in range(2))
    check_schema(first)
    other = json.loads(run(*command, "--seed", "4").stdout)
    calls = [[method["calls"] for method in found["methods"]] for found in (first, again, other)]
    assert calls[0] == calls[1] != calls[2]
    assert calls[0][0] == 5 * [9]
    for method in first["methods"]:
        assert method["calls_mean"] == pytest.approx(sum(method["calls"]) / 5)


def test_sample_without_baseline_draws_one_panel_and_claims_no_speed(tmp_path):
    out = tmp_path / "points.png"
    found = json.loads(run(*SAMPLE, "--no-baseline", "--out", str(out), "--json", "-").stdout)
    assert [method["name"] for method in found["methods"]] == ["recycled+greedy"]
    assert found["methods"][0]["speedup_wall"] is None
    assert "only the baseline tells" in found["meaning"]
    assert imread(out).shape[:2] == (660, 600)


@pytest.mark.parametrize("target", ["gaussian:1", "gaussian:5"])
def test_sample_draws_vectors_of_any_dimension(target, tmp_path):
    out = tmp_path / "points.svg"
    run("sample", target, "--steps", "4", "--num", "3", "--out", str(out))
    assert out.read_bytes().startswith(b"<?xml")


def test_sample_draws_digits_of_the_classes_asked_for(tmp_path):
    out = tmp_path / "digits.png"
    options = ["--steps", "6", "--num", "3", "--rows", "4", "--out", str(out), "--json", "-"]
    found = json.loads(run("sample", *options, "--label", "3,7", "--guidance", "1.5").stdout)
    assert (found["label"], found["guidance"], found["target"]) == ([3, 7, 3], 1.5, "digits")
    assert imread(out).shape[:2] == (660, 1200)


def test_sample_stopped_by_the_user_draws_the_finished_samples(monkeypatch, tmp_path):
    run_once, left = Job.run_once, 2 + 2 * 3

    def stopped(self, method, which):
        nonlocal left
        left -= 1
        if left < 0:
            raise KeyboardInterrupt
        return run_once(self, method, which)

    monkeypatch.setattr(Job, "run_once", stopped)
    out = tmp_path / "points.png"
    result = run(*SAMPLE, "--out", str(out), "--json", "-", status=130)
    found = json.loads(result.stdout)
    assert (found["num"], found["interrupted"]) == (3, True)
    assert out.exists()


def test_ls_and_env_print_tables_and_json():
    listed = json.loads(run("ls", "--json").stdout)
    assert set(listed) == {"targets", "drafters", "verifiers", "trees", "methods"}
    table = run("ls").stdout
    for entries in listed.values():
        for name, line in entries.items():
            assert name in table and line
    found = json.loads(run("env", "--json").stdout)
    assert {"versions", "platform", "cpu", "threads", "cuda"} <= set(found)
    assert found["versions"]["torch"] in run("env").stdout


def test_a_suite_is_measured_resumed_and_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ["--only", "steps=50,rows=4", "--num", "2", "--taught", "2"]
    command = ["bench", "--suite", "digits", *options, "--json", "suite.json"]
    first = run(*command)
    assert "free+traversal chain:4" in first.stdout
    assert "redraft report redraft-suite-digits" in first.stderr
    again = run(*command)
    assert again.stdout == first.stdout and "1 of 1 cells were there already" in again.stderr
    found = json.loads((tmp_path / "suite.json").read_text())
    assert [kept["slug"] for kept in found["cells"]] == ["digits_50_4"]
    (cell,) = (tmp_path / "redraft-suite-digits" / "cells").iterdir()
    cell.with_name("digits_50_4_broken.json").write_text("{")
    assert "ignored 1 kept cell" in run(*command).stderr
    done = run("report", "redraft-suite-digits")
    assert done.stdout.startswith("redraft-suite-digits/report.html")
    assert "digits, 50 steps" in (tmp_path / "redraft-suite-digits/report.html").read_text()


def test_an_interrupted_suite_says_how_to_go_on(tmp_path, monkeypatch):
    def stop(self, *arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(Job, "sample", stop)
    command = ["bench", "--suite", "digits", "--only", "steps=50", "--out", str(tmp_path)]
    result = run(*command, status=130)
    assert "interrupted, 5 cells are left" in result.stderr


@pytest.mark.parametrize("command", ["sample", "bench", "report", "ls", "env"])
def test_help_shows_examples(command):
    text = run(command, "--help").stdout
    assert "Examples:" in text
    assert f"\n    redraft {command}" in text


def test_module_and_entry_point_are_the_same_command():
    line = [sys.executable, "-m", "redraft", "--version"]
    result = subprocess.run(line, capture_output=True, text=True, check=True)
    assert result.stdout.startswith("redraft ")


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_its_extra_the_command_says_what_to_install(missing):
    code = f"import sys; sys.modules[{missing!r}] = None; from redraft.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 2
    assert f"needs {missing}" in result.stderr and "redraft[cli]" in result.stderr
    assert "Traceback" not in result.stderr
