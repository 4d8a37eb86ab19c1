"""Write the tables of README.md and docs/benchmarks.md from benchmarks/results and docs/report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from redraft.bench.report.tables import summary

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGES = ROOT / "docs" / "report"
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"


def read(name: str) -> dict[str, Any]:
    """Return one benchmark's JSON."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def table(columns: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def calls_table(found: dict[str, Any]) -> str:
    """Return calls and rows of each method."""
    rows = []
    for method in found["methods"]:
        error = 2.0 * method["calls_stderr"]
        calls = f"{method['calls_mean']:.1f}" + (f" ± {error:.1f}" if error else "")
        fewer = f"{method['speedup_calls']:.1f} ×"
        ratio = method.get("calls_ratio")
        against = f"{ratio:.3f} ± {2 * method['calls_ratio_stderr']:.3f}" if ratio else ""
        rows.append([method["name"], calls, fewer, f"{method['rows_mean']:.0f}", against])
    columns = ["method", "calls per sample", "fewer", "rows per sample"]
    if found.get("against"):
        columns.append(f"calls / {found['against']}")
    return table(columns, [row[: len(columns)] for row in rows])


def wall_table(found: dict[str, Any]) -> str:
    """Return wall-clock of each method, beside what the device allows."""
    rows = []
    for method in found["methods"]:
        if method["wall_s_median"] is None:
            continue
        ideal = method.get("ideal_speedup_wall")
        rows.append(
            [
                method["name"],
                str(method["tree"] or "-"),
                f"{method['calls_mean']:.1f}",
                f"{1e3 * method['wall_s_median']:.0f} ms",
                f"{method['speedup_wall']:.2f} ×",
                f"{ideal:.2f} ×" if ideal else "-",
                f"{method['fraction_of_ideal']:.2f}" if ideal else "-",
                f"{100 * method['own_share']:.0f} %",
            ]
        )
    columns = ["method", "tree", "calls", "one sample", "faster", "ideal", "of ideal", "own work"]
    return table(columns, rows)


def own_table(found: dict[str, Any]) -> str:
    """Return a round's own work for models of several speeds."""
    rows = [
        [f"{m['call_ms']:.2f} ms", f"{m['own_ms']:.3f} ms", f"{100 * m['own_share']:.0f} %"]
        for m in found["models"]
    ]
    return table([f"a call of {found['rows']} rows", "a round's own work", "share"], rows)


def suite_table(name: str) -> str:
    """Return a suite's best against best, and where all of it is."""
    path = PAGES / f"{name}.json"
    found = json.loads(path.read_text())
    best = summary(found)
    rows = [
        [cell if isinstance(cell, str) else f"{cell[0]} {cell[1]}" for cell in row]
        for row in best.rows
    ]
    settings, date = found["settings"], max(kept["date"] for kept in found["cells"])
    few = " A first version, made with few samples." if settings["num"] < 128 else ""
    missing = f" Not measured: {', '.join(found['missing'])}." if found["missing"] else ""
    return f"""## Suite {name}

`{found["command"]}`, then `redraft report`; {date} UTC,
{settings["num"]} samples per cell, {settings["device"]}.{few}{missing} All figures and plots:
[report/{name}.html](report/{name}.html) (open it from a checkout),
[report/{name}.json](report/{name}.json).

![Target calls against rows]({PAGES.name}/{name}-calls.png)

{table(list(best.columns), rows)}"""


def environment(found: dict[str, Any]) -> str:
    """Return where the numbers were measured, in a line."""
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    return f"{found['threads']} thread, {found['device']}, {found['dtype']}; {versions}"


def main() -> None:
    """Write both files."""
    long, short, longest, wall = (read(name) for name in ("250-32", "50-16", "1000-32", "wall"))
    own = read("own-time")
    latency = dict(sorted((int(rows), time) for rows, time in wall["latency_s"].items()))
    ratios = ", ".join(
        f"{rows} rows {latency[rows] / latency[1]:.2f} ×" for rows in sorted(latency)
    )
    overhead = 100.0 * wall["sequential_overhead"]
    both = {
        *("sequential", "free+reflection", "free+traversal"),
        *("recycled+greedy", "recycled:warm+greedy"),
    }
    head = [method for method in long["methods"] if method["name"] in both]
    summary = f"""Target calls per sample on the shipped `digits` (250 steps, 32 rows per call, 256
samples, ± 2 standard errors):

{calls_table({**long, "methods": head})}
Wall-clock of one sample drawn alone, on one CPU thread. *Ideal* is calls × the latency of one call
at that many rows, measured in the same run; *own work* is all of a run that is not the target;
`:warm` drafters were taught on other samples, `auto:time` is what `redraft.tune` chose with at most
as many rows as the lines above it have:

{wall_table(wall)}
Made by `make bench`; all figures: [docs/benchmarks.md](docs/benchmarks.md).
"""
    readme = (ROOT / "README.md").read_text()
    before, after = readme.split(BEGIN)[0], readme.split(END)[1]
    (ROOT / "README.md").write_text(f"{before}{BEGIN}\n{summary}{END}{after}")
    calls = {method["name"]: method["calls_mean"] for method in long["methods"]}
    x0 = calls["free:parent+reflection"] / calls["free:eps:parent+reflection"]
    near = calls["free+reflection"] / calls["free:eps+reflection"]
    page = f"""# Benchmarks

Written by `make bench` (`benchmarks/run.sh`, then `benchmarks/report.py`); the JSON is in
`benchmarks/results`. {environment(long)}.

Speed is stated as ratios of things measured side by side in one run. Calls count every sequential
target call, the first and the terminal one included. Names: `free:eps` freezes the noise
prediction, `free:parent` takes the prediction where the round stopped, as older papers do. Freezing
x0 takes {x0:.2f} of the calls that freezing eps takes with `parent`, {near:.2f} with the nearest
prediction, which helps eps more.

## 250 steps, 32 rows

{calls_table(long)}
## 50 steps, 16 rows

{calls_table(short)}
## 1000 steps, 32 rows

{calls_table(longest)}
## Wall-clock, 250 steps, one sample at a time

{wall_table(wall)}
One call on more rows, relative to one row: {ratios}.

The sequential sampler takes {overhead:.0f} % longer than a bare loop over the model. *Own work* is
all of a run that is not the target.

## Own work of a round

One sample, recycled drafts on a chain of {own["rows"]}, for models of several speeds
(`benchmarks/own_time.py`): all that happens between two calls, noise included.

{own_table(own)}
# Suites

Calls per sample of the best method at most so many rows a call; ratios are to the best published
method there, ± 2 standard errors. *Taught* methods (`:warm`) learnt from other samples beforehand,
which the calls do not count.

{suite_table("digits")}
{suite_table("papers")}"""
    (ROOT / "docs" / "benchmarks.md").write_text(page)


if __name__ == "__main__":
    main()
