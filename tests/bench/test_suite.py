"""Suites: what they hold, how they are narrowed, kept and resumed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from redraft.bench.methods import parse
from redraft.bench.published import CELLS
from redraft.bench.suite import SUITES, Cell, Settings, Store, narrow, run_suite
from redraft.bench.suite.best import is_baseline, is_ours

PAIRS = (("sequential", ""), ("free+greedy", "chain:3"), ("recycled:warm+greedy", "chain:4"))
SMALL = [Cell("gaussian:3", steps, 4, PAIRS, PAIRS[1:2]) for steps in (6, 9)]
SETTINGS = Settings(num=3, taught=2)


def run(folder, cells=SMALL, settings=SETTINGS, tell=lambda title, done, total: None):
    store = Store(folder)
    outcome = run_suite("small", cells, settings, store, command="redraft", tell=tell)
    return outcome, store


@pytest.mark.parametrize("name", SUITES)
def test_every_method_of_every_cell_exists_and_keeps_within_its_rows(name):
    cells = SUITES[name]()
    assert len({cell.slug for cell in cells}) == len(cells)
    for cell in cells:
        assert len(set(cell.methods)) == len(cell.methods)
        assert set(cell.baselines) <= set(cell.methods) and cell.baselines
        for method in cell.parsed():
            assert method.rows <= cell.rows
            if method.verifier == "reflection":
                assert method.tree == f"chain:{method.rows}"


def test_digits_is_the_whole_grid():
    grid = {(cell.steps, cell.rows) for cell in SUITES["digits"]()}
    assert grid == {(n, r) for n in (50, 100, 250, 1000) for r in (4, 8, 16, 32, 64)}


def test_papers_holds_every_published_number():
    measured = {
        (name, tree, float(cell.target.partition(":")[2]))
        for cell in SUITES["papers"]()
        for name, tree in cell.methods
    }
    assert {(cell.method, cell.tree, cell.churn) for cell in CELLS} <= measured


def test_what_is_finished_is_not_measured_again(tmp_path):
    first, _ = run(tmp_path, SMALL[:1])
    again, store = run(tmp_path)
    assert (first.resumed, len(first.finished)) == ([], 1)
    assert (again.resumed, again.finished) == ([SMALL[0].title], [SMALL[1].title])
    assert not store.notes
    found = store.load()
    assert [kept["cell"]["steps"] for kept in found["cells"]] == [6, 9]
    assert found["missing"] == []
    assert all(kept["settings"]["num"] == 3 for kept in found["cells"])


def test_an_interrupted_suite_goes_on_where_it_stopped(tmp_path):
    def interrupt(title, done, total):
        if title.startswith(SMALL[1].title):
            raise KeyboardInterrupt

    stopped, store = run(tmp_path, tell=interrupt)
    assert stopped.interrupted and stopped.finished == [SMALL[0].title]
    assert store.load()["missing"] == [SMALL[1].slug]
    outcome, _ = run(tmp_path)
    assert (outcome.resumed, outcome.finished) == ([SMALL[0].title], [SMALL[1].title])
    assert not outcome.interrupted


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"num": 4}, "num"),
        ({"seed": 1}, "seed"),
        ({"taught": 3}, "taught"),
        ({"hardware": "abacus"}, "hardware"),
        ({"versions": {"redraft": "0.0.1"}}, "versions"),
        ({"source": "0"}, "source"),
    ],
)
def test_cells_measured_otherwise_are_ignored_with_a_note(change, reason, tmp_path, monkeypatch):
    run(tmp_path, SMALL[:1])
    key = {**SETTINGS.key(), **change}
    monkeypatch.setattr(Settings, "key", lambda self: key)
    outcome, store = run(tmp_path, SMALL[:1])
    assert outcome.finished == [SMALL[0].title]
    assert store.notes == [
        f"ignored 1 kept cell in {tmp_path}: measured with other {reason}",
    ]
    assert len(list((tmp_path / "cells").iterdir())) == 2  # nothing is thrown away
    assert len(store.load()["cells"]) == 1


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', '{"format": 0, "found": {}}'])
def test_a_broken_cell_is_ignored_with_a_note_and_measured_again(text, tmp_path):
    run(tmp_path, SMALL[:1])
    (file,) = (tmp_path / "cells").iterdir()
    file.write_text(text)
    outcome, store = run(tmp_path, SMALL[:1])
    assert outcome.finished == [SMALL[0].title]
    assert store.notes == [f"ignored 1 kept cell in {tmp_path}: not readable"]
    assert json.loads(file.read_text())["slug"] == SMALL[0].slug


def test_other_methods_are_another_cell(tmp_path):
    run(tmp_path, SMALL[:1])
    outcome, store = run(tmp_path, [replace(SMALL[0], methods=PAIRS[:2])])
    assert outcome.finished and "other methods" in store.notes[0]


def test_a_folder_without_a_suite_says_how_to_make_one(tmp_path):
    with pytest.raises(ValueError, match="redraft bench --suite"):
        Store(tmp_path).load()


def test_calls_are_divided_by_those_of_the_best_published_method(tmp_path):
    pairs = (*PAIRS, ("free+greedy", "chain:1"))
    cell = replace(SMALL[0], methods=pairs, baselines=(pairs[1], pairs[3]))
    _, store = run(tmp_path, [cell])
    (kept,) = store.load()["cells"]
    found = kept["found"]
    assert found["against"] == "free+greedy chain:3"  # one row a call cannot have fewer calls
    by_title = {(m["name"], m["tree"]): m for m in found["methods"]}
    assert by_title["free+greedy", "chain:3"]["calls_ratio"] == 1.0
    assert by_title["free+greedy", "chain:1"]["calls_ratio"] > 1.0
    assert [is_baseline(kept["cell"], m) for m in found["methods"]] == [False, True, False, True]
    assert [is_ours(m) for m in found["methods"]] == [False, False, True, False]


def test_a_method_that_fails_is_told_and_the_rest_is_kept(tmp_path, monkeypatch):
    from redraft import NonFiniteError
    from redraft.bench import Job

    def fail(self, method):
        raise NonFiniteError("the prediction", 0, 3, 0.5)

    monkeypatch.setattr(Job, "teach", fail)
    outcome, store = run(tmp_path, SMALL[:1])
    (what,) = outcome.failed
    assert "recycled:warm+greedy" in what
    (kept,) = store.load()["cells"]
    assert [m["name"] for m in kept["found"]["methods"]] == ["sequential", "free+greedy"]
    assert list(kept["found"]["failed"]) == ["recycled:warm+greedy chain:4"]


def test_progress_grows_from_nothing_to_all(tmp_path):
    told = []
    run(tmp_path, tell=lambda title, done, total: told.append((done, total)))
    assert all(0 <= done <= total * (1 + 1e-9) for done, total in told)
    done = [one for one, _ in told]
    assert done == sorted(done) and done[-1] == pytest.approx(told[-1][1])


def test_a_suite_is_narrowed_by_steps_rows_target_and_methods():
    digits, papers = SUITES["digits"](), SUITES["papers"]()
    cells = narrow(digits, only="steps=50,rows=4,rows=64")
    assert [(cell.steps, cell.rows) for cell in cells] == [(50, 4), (50, 64)]
    assert {cell.target for cell in narrow(papers, target="gm:0.3")} == {"gm:0.3"}
    cells = narrow(papers, methods="recycled+greedy")
    assert {name for cell in cells for name, _ in cell.methods} == {"sequential", "recycled+greedy"}
    assert {cell.rows for cell in cells} == {31}
    assert all(len(parse(*pair).title) for cell in cells for pair in cell.methods[1:])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"only": "stpes=50"}, "unknown key of --only 'stpes'. Did you mean 'steps'"),
        ({"only": "steps"}, "does not read as steps=VALUE"),
        ({"only": "steps=fifty"}, "does not read as steps=VALUE"),
        ({"only": "steps=51"}, "unknown steps of this suite '51'. Did you mean '50'"),
        ({"target": "digit"}, "unknown target of this suite 'digit'. Did you mean 'digits'"),
        ({"methods": "recicled+greedy"}, "Did you mean 'recycled[+]greedy'"),
    ],
)
def test_what_a_suite_does_not_hold_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        narrow(SUITES["digits"](), **options)
