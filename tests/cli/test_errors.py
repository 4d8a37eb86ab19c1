"""Bad input: one line on stderr that names the option, exit status 2, nothing written."""

from __future__ import annotations

import pytest
import torch
from typer.testing import CliRunner

from redraft.bench import targets
from redraft.cli.app import app

CASES = [
    ("sample digit", "unknown target 'digit'. Did you mean 'digits'"),
    ("sample gaussian:0", "DIM at least 1"),
    ("sample --drafter recicled", "Did you mean 'recycled'"),
    ("sample --verifier gready", "Did you mean 'greedy'"),
    ("sample --tree chian:16", "Did you mean 'chain'"),
    ("sample --tree chain:x", "does not read as chain:M"),
    ("sample --tree kary:2,3 --verifier reflection", "one child per node only"),
    ("sample --verifier traversal", "Use drafter='free'"),
    ("sample --rows 0", "--rows must be at least 1, got 0"),
    ("sample --rows 8 --tree chain:8", "not both"),
    ("sample --steps 0", "--steps must be at least 1, got 0"),
    ("sample --num 0", "--num must be at least 1, got 0"),
    ("sample --seed -1", "--seed must be"),
    ("sample --threads 0", "--threads must be at least 1, got 0"),
    ("sample --label 10", "--label must be in 0..9, got 10"),
    ("sample --label -1", "--label must be in 0..9, got -1"),
    ("sample --label seven", "--label must be a digit"),
    ("sample --guidance 2", "give --label too"),
    ("sample --label 1 --guidance nan", "finite"),
    ("sample mixture --label 1", "has no classes"),
    ("sample mixture --guidance 2", "has no guidance"),
    ("sample mixture --drafter model", "needs a cheap model"),
    ("sample --out nowhere/digits.png", "folder nowhere does not exist"),
    ("sample --out digits.gif", "unknown ending of --out '.gif'"),
    ("sample --json nowhere/run.json", "folder nowhere does not exist"),
    ("sample --json .", "is a folder"),
    ("sample --device warp", "--device 'warp' cannot be used here"),
    ("sample --dtype float31", "Did you mean 'float32'"),
    ("sample --dtype int64", "unknown dtype"),
    ("bench --methods free", "unknown method 'free'"),
    ("bench --methods ,", "--methods is empty"),
    ("bench --methods recycled+traversal", "Use drafter='free'"),
    ("bench --methods free:esp+greedy", "Did you mean 'eps'"),
    ("bench gaussian --methods corrected+greedy", "needs a cheap model"),
    ("bench --rows 8,x", "--rows must be integers"),
    ("bench --rows 8,0", "--rows must be at least 1, got 0"),
    ("bench --rows 100000", "use at most"),
    ("bench --repeats 0", "--repeats must be at least 1"),
    ("bench --against free+greedy", "is not among the methods"),
    ("bench --suite digist", "unknown suite 'digist'. Did you mean 'digits'"),
    ("bench --suite digits --rows 8", "--rows cannot be used here: a suite brings its own"),
    ("bench --suite digits --only steps=51", "unknown steps of this suite '51'"),
    ("bench --suite digits --only step=50", "Did you mean 'steps'"),
    ("bench gaussian --suite digits", "unknown target of this suite 'gaussian'"),
    ("bench --suite digits --num 0", "--num must be at least 1, got 0"),
    ("bench --suite digits --taught 0", "--taught must be at least 1, got 0"),
    ("bench --suite digits --device warp", "--device 'warp' cannot be used here"),
    ("bench --only steps=50", "--only cannot be used here: it goes with --suite"),
    ("bench --out folder", "--out cannot be used here: it goes with --suite"),
    ("bench --methods frozen:warm+greedy", "'frozen' cannot be taught"),
    ("report nowhere", "nowhere holds no suite"),
    ("report . --out page.pdf", "must end in .html"),
    ("report . --out nowhere/page.html", "folder nowhere does not exist"),
    ("bench --json nowhere/bench.json", "folder nowhere does not exist"),
]


@pytest.mark.parametrize(("line", "message"), CASES, ids=[line for line, _ in CASES])
def test_bad_input_is_answered_in_one_line(line, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, line.split())
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.startswith("redraft: ") and result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("line", "word"), [("sample --num x", "--num"), ("smaple", "sample")])
def test_the_parser_too_returns_2_and_names_the_culprit(line, word):
    result = CliRunner().invoke(app, line.split())
    assert result.exit_code == 2
    assert word in result.stderr and "Traceback" not in result.output


@pytest.mark.parametrize("fault", ["nan", "raises"])
@pytest.mark.parametrize("command", ["sample", "bench"])
def test_a_model_that_fails_is_named_in_one_line(command, fault, monkeypatch, tmp_path):
    def broken(x, level):
        if fault == "raises":
            raise RuntimeError("out of luck")
        return torch.full_like(x, float("nan"))

    def make(spec, dim, device, dtype, guidance):
        return targets.Target(spec, (2,), broken)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(targets.TARGETS, "gaussian", make)
    line = f"{command} gaussian --steps 4 --num 2".split()
    line += ["--no-baseline"] if command == "sample" else ["--methods", "free+greedy"]
    result = CliRunner().invoke(app, line)
    assert result.exit_code == 2
    assert ("not finite" if fault == "nan" else "out of luck") in result.stderr
    assert result.stderr.count("\n") == 1
