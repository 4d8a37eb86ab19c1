"""What is measured: counts that agree with the library, times that add up, ratios with errors."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import redraft
from redraft.bench import Job, document, make_target, parse, run_bench
from redraft.bench.document import method_entry
from redraft.bench.runner import run_each
from redraft.bench.targets import default_chain

NAMES = ("sequential", "free+reflection", "frozen+reflection", "recycled+greedy")
METHODS = [parse(name, "chain:4") for name in NAMES]


def silent(title: str, done: int, total: int) -> None:
    assert 0 <= done <= total and title


def job(num: int = 6, steps: int = 12) -> Job:
    return Job(make_target("gaussian:3"), default_chain(steps), num, seed=5)


@pytest.fixture(scope="module")
def outcome():
    return run_bench(job(), METHODS, repeats=2, wall=True, report=silent)


def test_calls_are_those_of_the_library(outcome):
    work = outcome.job
    expected = redraft.sample(
        work.target.denoiser,
        work.chain,
        work.num,
        work.target.shape,
        seed=work.seed,
        drafter="recycled",
        verifier="greedy",
        tree="chain:4",
    )
    record = outcome.records[NAMES.index("recycled+greedy")]
    assert record.calls.tolist() == expected.calls.tolist()
    assert record.rows.tolist() == expected.rows.tolist()


def test_sequential_takes_every_call_the_terminal_one_included(outcome):
    entry = method_entry(outcome.records[0], outcome)
    assert (entry["calls_mean"], entry["rows_mean"], entry["calls_stderr"]) == (13.0, 13.0, 0.0)
    assert (entry["speedup_calls"], entry["acceptance_by_depth"]) == (1.0, [])


def test_a_timed_run_is_the_same_sample_drawn_alone(outcome):
    for record in outcome.records[1:]:
        for place, run in enumerate(record.runs[:4]):
            assert run.result.calls[0] == record.calls[place]
            assert len(run.call_rows) == len(run.call_seconds) == run.result.calls[0]
            assert sum(run.call_rows) == run.result.rows[0]
            assert 0 < run.own_share < 1


def test_every_method_is_timed_equally_often(outcome):
    assert {len(record.runs) for record in outcome.records} == {2 * 4}


def test_ideal_and_measured_speed_ups_agree_with_the_times(outcome):
    found = document(outcome, against="free+reflection", repeats=2)
    base = found["sequential_wall_s"]
    for method in found["methods"]:
        wall, ideal = method["wall_s_median"], method["ideal_s"]
        assert method["speedup_wall"] == pytest.approx(base / wall)
        assert method["ideal_speedup_wall"] == pytest.approx(base / ideal)
        assert method["fraction_of_ideal"] == pytest.approx(ideal / wall)
    assert found["sequential_overhead"] == pytest.approx(base / found["bare_loop_s"] - 1)
    assert set(found["latency_s"]) == {"1", "3", "4"}  # frozen asks the root, then the 3 others


def test_the_ideal_of_a_method_is_its_calls_times_the_latency_of_its_rows(outcome):
    found = document(outcome, against=None, repeats=2)
    latency = found["latency_s"]
    for method, record in zip(found["methods"], outcome.records, strict=True):
        calls = np.median([run.result.calls[0] for run in record.runs])
        per_call = latency[str(method["rows"])]
        if method["drafter"] == "frozen":
            per_call = (latency["1"] + latency["3"]) / 2
        assert method["ideal_s"] == pytest.approx(calls * per_call)


def test_the_standard_error_of_a_ratio_is_the_jackknife_one():
    found = run_bench(job(num=64, steps=30), METHODS[1:], repeats=1, wall=False, report=silent)
    ours, theirs = (found.records[place].calls.astype(float) for place in (2, 0))
    left_out = (ours.sum() - ours) / (theirs.sum() - theirs)
    jackknife = np.sqrt(63 / 64 * np.sum((left_out - left_out.mean()) ** 2))
    entry = document(found, against="free+reflection", repeats=1)["methods"][2]
    assert entry["calls_ratio"] == pytest.approx(ours.mean() / theirs.mean())
    assert entry["calls_ratio_stderr"] == pytest.approx(jackknife, rel=0.1)


def test_the_reference_is_one_times_itself_at_every_size():
    methods = [parse("free+reflection", f"chain:{rows}") for rows in (2, 4)]
    found = run_bench(job(), methods, repeats=1, wall=False, report=silent)
    entries = document(found, against="free+reflection", repeats=1)
    assert entries["rows"] == [2, 4]
    for entry in entries["methods"]:
        assert (entry["calls_ratio"], entry["calls_ratio_stderr"]) == (1.0, 0.0)


def test_without_timing_what_needs_it_is_null():
    found = run_bench(job(num=1), METHODS, repeats=1, wall=False, report=silent)
    entries = document(found, against="free+reflection", repeats=1)
    assert entries["latency_s"] is None and entries["sequential_overhead"] is None
    for method in entries["methods"]:
        for key in ("wall_s_median", "speedup_wall", "own_share", "ideal_s", "fraction_of_ideal"):
            assert method[key] is None
    assert entries["methods"][1]["calls_stderr"] is None  # one sample does not tell
    json.dumps(entries, allow_nan=False)


def test_the_baseline_is_timed_even_if_it_is_not_listed():
    found = run_bench(job(num=1), METHODS[1:2], repeats=1, wall=True, report=silent)
    (entry,) = document(found, against=None, repeats=1)["methods"]
    assert entry["name"] == "free+reflection" and entry["speedup_wall"] > 0


@pytest.mark.parametrize("stop", [2, 6, 12, 30])
def test_an_interruption_keeps_what_is_finished(stop):
    told = 0

    def interrupt(title: str, done: int, total: int) -> None:
        nonlocal told
        told += 1
        if told == stop:
            raise KeyboardInterrupt

    found = run_bench(job(), METHODS, repeats=3, wall=True, report=interrupt)
    assert found.interrupted
    assert all(len(record.counted) == 1 for record in found.records)
    entries = document(found, against="free+reflection", repeats=3)
    assert entries["interrupted"] is True
    json.dumps(entries, allow_nan=False)


def test_samples_drawn_in_turn_are_the_batch_of_the_library():
    work = job()
    found = run_each(work, METHODS[::3], report=silent)
    common = (work.target.denoiser, work.chain, work.num, work.target.shape)
    one_by_one = redraft.sequential(*common, seed=5)
    speculative = redraft.sample(*common, seed=5, tree="chain:4")
    for record, expected in zip(found.records, (one_by_one, speculative), strict=True):
        assert record.calls.tolist() == expected.calls.tolist()
        for run, sample in zip(record.runs, expected.samples, strict=True):
            np.testing.assert_allclose(run.result.samples[0], sample, rtol=1e-3, atol=1e-4)


def test_samples_are_dropped_that_not_every_method_has_finished(monkeypatch):
    run_once, count = Job.run_once, 0

    def stopped(self, method, which):
        nonlocal count
        count += 1
        if count == 2 + 2 * 3 + 2:  # warm-ups, three samples, the first half of the fourth
            raise KeyboardInterrupt
        return run_once(self, method, which)

    monkeypatch.setattr(Job, "run_once", stopped)
    found = run_each(job(), METHODS[::3], report=silent)
    assert found.interrupted
    assert [len(record.runs) for record in found.records] == [3, 3]
    assert [len(record.calls) for record in found.records] == [3, 3]


def warm_job(**changes) -> Job:
    return Job(make_target("gaussian:32"), default_chain(40), 24, seed=5, taught=8, **changes)


def test_a_warm_method_is_taught_once_on_other_samples_and_not_timed_or_counted():
    work = warm_job()
    methods = [parse(name, "chain:8") for name in ("free+greedy", "free:warm+greedy")]
    found = run_bench(work, methods, repeats=1, wall=True, report=silent)
    lesson = work.teach(methods[1])
    assert lesson is work.teach(parse("free:warm+greedy", "chain:8"))
    assert len(lesson.calibration.seeds) == 3 * 8
    assert not set(lesson.calibration.seeds) & set(work.seeds)
    expected = redraft.sample(
        work.target.denoiser,
        work.chain,
        work.num,
        work.target.shape,
        seed=work.seed,
        drafter=redraft.draft.Free(calibration=lesson.calibration),
        tree="chain:8",
    )
    assert found.records[1].calls.tolist() == expected.calls.tolist()
    cold, warm = document(found, against="free+greedy", repeats=1)["methods"]
    assert (cold["taught_s"], cold["warm"]) == (None, False)
    assert warm["taught_s"] == lesson.seconds > 0


def test_acceptance_by_step_sums_to_acceptance_by_depth():
    found = run_bench(warm_job(), METHODS, repeats=1, wall=False, report=silent)
    assert found.records[0].by_step is None  # sequential
    for record in found.records[1:]:
        assert record.by_step is not None
        (result,), (accepted, tried) = record.counted, record.by_step
        assert accepted.sum() == result.summary.accepted_per_depth.sum()
        assert tried.sum() == result.summary.tried_per_depth.sum()
        assert result.rounds is None


def test_a_reference_may_have_another_tree():
    methods = [parse("free+greedy", "chain:4"), parse("free+greedy", "kary:2,2")]
    found = run_bench(job(num=8), methods, repeats=1, wall=False, report=silent)
    entries = document(found, against=None, repeats=1, reference=found.records[0])
    assert entries["against"] == "free+greedy chain:4"
    ratio = found.records[1].calls.mean() / found.records[0].calls.mean()
    assert entries["methods"][1]["calls_ratio"] == pytest.approx(ratio)


def test_the_warm_up_call_is_counted_and_can_be_timed():
    work = replace(job(num=3), warm_up=True)
    method = parse("free+greedy", "chain:1")
    found = run_bench(work, [method], repeats=1, wall=True, report=silent)
    assert found.records[0].calls.tolist() == 3 * [work.chain.calls_sequential + 1]
    assert found.records[0].runs[0].call_rows == (work.chain.calls_sequential + 1) * [1]
