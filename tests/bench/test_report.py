"""The page of a suite: complete, self-contained, true to its numbers, readable by everyone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.image import imread

from redraft.bench.report import draw_tree, write_report
from redraft.bench.report.figures import draw
from redraft.bench.report.published import compared
from redraft.bench.report.tables import all_cells, auto_table, summary
from redraft.bench.report.trees import reach_by_depth
from redraft.bench.report.write import load
from redraft.bench.report.write import page as render
from redraft.bench.suite import SUITES, Cell, Settings, Store, narrow, run_suite
from redraft.tree import Tree, grow

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
VOID = {"meta", "br", "img", "source"}
PAIRS = (
    ("sequential", ""),
    ("free+reflection", "chain:3"),
    ("free+greedy", "kary:2,2"),
    ("recycled+greedy", "chain:4"),
    ("free:warm+traversal", "kary:2,2"),
)
CELLS = [Cell("gaussian:3", steps, 4, PAIRS, PAIRS[1:3], wall=steps == 9) for steps in (6, 9)]
PLOTS = {"calls", "speedup", "acceptance", "wall", "cost", "tree"}


class Reader(HTMLParser):
    """Checks that tags nest, and collects them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, {key: value or "" for key, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def measure(folder, cells):
    store, settings = Store(folder), Settings(num=4, taught=3, repeats=1)
    run_suite("small", cells, settings, store, command="", tell=lambda *told: None)
    return store.load()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return measure(tmp_path_factory.mktemp("small"), CELLS)


@pytest.fixture(scope="module")
def papers(tmp_path_factory):
    cells = narrow(SUITES["papers"](), only="rows=7,target=gm:0.3")
    return measure(tmp_path_factory.mktemp("papers"), cells)


@pytest.fixture(scope="module")
def page(small, tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "report.html"
    write_report(small, file)
    return file


@pytest.fixture(scope="module")
def papers_page(papers, tmp_path_factory):
    file = tmp_path_factory.mktemp("papers-page") / "report.html"
    write_report(papers, file)
    return file


def test_the_page_its_plots_and_its_numbers_are_written(page):
    names = {path.name for path in page.parent.iterdir()}
    plots = {f"report-{slug}.png" for slug in PLOTS}
    assert names == {"report.html", "report.json"} | plots
    for name in plots:
        pixels = imread(page.parent / name)
        assert pixels.shape[1] > 1000 and pixels.std() > 0.01  # not blank
        assert (page.parent / name).stat().st_size < 100_000


def test_the_page_is_well_formed_and_every_figure_is_described(page):
    reader = Reader(page.read_text(encoding="utf-8"))
    images = [found for tag, found in reader.tags if tag == "img"]
    assert len(images) == len(PLOTS)
    for image in images:
        assert len(image["alt"]) > 30 and image["src"].startswith("data:image/png;base64,")
    anchors = {found["id"] for _, found in reader.tags if "id" in found}
    links = [found["href"] for tag, found in reader.tags if tag == "a"]
    assert {link[1:] for link in links if link.startswith("#")} <= anchors
    assert [found["lang"] for tag, found in reader.tags if tag == "html"] == ["en"]
    headers = [found for tag, found in reader.tags if tag == "th"]
    assert headers and all("scope" in found for found in headers)


@pytest.mark.parametrize("name", ["page", "papers_page"])
def test_the_page_needs_no_network(name, request):
    text = request.getfixturevalue(name).read_text(encoding="utf-8")
    for tag, found in Reader(text).tags:
        assert tag not in {"script", "link", "iframe", "object", "embed"}
        for key, value in found.items():
            if key != "href" and not value.startswith("data:image/png;base64,"):
                assert "//" not in value, (tag, key)
    assert not re.search(r"url\(|@import", text)


def test_the_tables_hold_what_was_measured(small, page):
    text = page.read_text(encoding="utf-8")
    cells = [kept["found"]["methods"] for kept in small["cells"]]
    for method in (method for methods in cells for method in methods):
        assert f"{method['calls_mean']:.1f}" in text and method["name"] in text
    assert sum(len(table.rows) for table in all_cells(small)) == 2 * len(PAIRS)
    (first, second) = summary(small).rows
    assert (first[0], second[0]) == ("gaussian:3, 6 steps", "gaussian:3, 9 steps")
    best = min((m for m in cells[1][1:3]), key=lambda method: method["calls_mean"])
    assert second[2] == (f"{best['calls_mean']:.1f}", f"{best['name']} {best['tree']}")


def test_few_samples_are_admitted_and_what_is_missing_is_named(small):
    text = render({**small, "missing": ["gaussian-3_12_4"]}, [], "report.json")
    assert "Made with few samples (4)" in text and "gaussian-3_12_4" in text
    settings = {**small["settings"], "num": 1000}
    assert "few samples" not in render({**small, "settings": settings}, [], "report.json")


def test_the_json_makes_the_same_page(page, tmp_path):
    found, notes = load(page.with_suffix(".json"))
    assert not notes
    write_report(found, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == page.read_text()


def test_published_numbers_stand_beside_ours(papers, papers_page):
    pairs = compared(papers)
    assert {pair.cell.churn for pair in pairs} == {0.3}
    methods = papers["cells"][0]["found"]["methods"]
    for pair in pairs:
        (ours,) = (
            m for m in methods if (m["name"], m["tree"]) == (pair.cell.method, pair.cell.tree)
        )
        assert pair.stderr is not None
        assert pair.speedup == pytest.approx(28 / ours["calls_mean"])
        assert pair.stderr == pytest.approx(
            pair.speedup * ours["calls_stderr"] / ours["calls_mean"]
        )
        apart = (pair.speedup - pair.cell.speedup) / np.hypot(pair.stderr, pair.cell.stderr)
        assert pair.apart == pytest.approx(apart)
    assert "reimplementation" in papers_page.read_text(encoding="utf-8")
    assert papers_page.with_name("report-published.png").exists()


def test_text_is_escaped(small):
    settings = {**small["settings"], "hardware": "<b>fast & cheap</b>"}
    assert "&lt;b&gt;fast &amp; cheap" in render({**small, "settings": settings}, [], "a.json")


@pytest.mark.parametrize("spec", ["chain:1", "chain:6", "kary:2,4", "kary:3,3"])
def test_reach_by_depth_shares_a_level_among_its_nodes(spec):
    tree = grow(spec)
    acceptance = [0.9, 0.8, None, 0.5, 0.4][: tree.height]
    reach = reach_by_depth(tree, acceptance)
    level = np.bincount(tree.depth, reach)
    expected = np.cumprod([1.0, *(share or 0.0 for share in acceptance)])
    np.testing.assert_allclose(level, expected)
    assert draw_tree(tree, reach).axes


def test_any_tree_is_drawn_with_the_reach_of_each_edge():
    tree = Tree(np.array([-1, 0, 0, 1, 1, 3]), "grown")
    figure = draw_tree(tree, [1.0, 0.7, 0.2, 0.4, 0.1, 0.3])
    (axis,) = figure.axes
    assert sorted(text.get_text() for text in axis.texts) == ["10", "20", "30", "40", "70"]
    assert len(axis.lines) == len(tree) - 1
    assert axis.get_title() == "grown"


@pytest.mark.parametrize("reach", [[1.0], [1.0, 0.5, 1.5], [1.0, -0.1, 0.5]])
def test_a_reach_that_does_not_fit_its_tree_is_refused(reach):
    with pytest.raises(ValueError, match="a probability for each of the tree's 3 nodes"):
        draw_tree(grow("chain:3"), reach)


def test_a_suite_without_timing_has_no_wall_clock(tmp_path):
    found = measure(tmp_path, [replace(CELLS[0], wall=False)])
    written = {path.name for path in write_report(found, tmp_path / "page.html")}
    assert {"page-wall.png", "page-cost.png", "page-speedup.png"}.isdisjoint(written)
    assert "page-calls.png" in written


@pytest.mark.parametrize("text", ["nonsense", "[]", json.dumps({"suite": "digits"})])
def test_a_file_that_is_no_suite_is_refused(text, tmp_path):
    file = tmp_path / "report.json"
    file.write_text(text)
    with pytest.raises(ValueError, match="give (a suite's|the) folder"):
        load(file)


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here")
@pytest.mark.slow
def test_a_browser_shows_the_page(page, tmp_path):
    picture = tmp_path / "page.png"
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1000,3000"]
    command += ["--enable-logging=stderr", f"--screenshot={picture}", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "CONSOLE" not in done.stderr
    pixels = imread(picture)[..., :3]
    assert pixels.shape[:2] == (3000, 1000)
    for part in np.split(pixels, 5):  # text or plots all the way down
        assert part.std() > 0.02


def test_auto_stands_beside_the_best_fixed_configuration(small):
    kept = json.loads(json.dumps(small["cells"][0]))
    methods = kept["found"]["methods"]
    fixed = min(methods[1:], key=lambda method: method["calls_mean"])
    auto = {**fixed, "name": "auto", "calls_mean": 2 * fixed["calls_mean"], "taught_s": 1.0}
    methods.append(auto)
    (row,) = auto_table({**small, "cells": [kept]}).rows
    assert row[2][1] == f"{fixed['drafter']} {fixed['verifier']} {fixed['tree']}"
    assert row[3] == (f"{fixed['calls_mean']:.1f}", f"{fixed['name']} {fixed['tree']}")
    assert row[4] == "2.000"
    plain = {**methods[0], "name": "auto", "taught_s": 1.0}  # speculation did not pay
    methods[-1] = plain
    text = render({**small, "cells": [kept]}, draw({**small, "cells": [kept]}), "report.json")
    assert "Auto against the best fixed configuration" in text
