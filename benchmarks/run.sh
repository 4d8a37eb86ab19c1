#!/usr/bin/env bash
# Measure what README.md and docs quote: one JSON each in benchmarks/results, a page for each suite in docs/report.
# NUM: samples (default 256; 128 for the suite digits, 1000 for papers). Suites resume from build/suite-*.
set -euo pipefail
cd "$(dirname "$0")/.."
redraft=${REDRAFT:-.venv/bin/redraft}
num=${NUM:-256}
out=benchmarks/results
mkdir -p "$out" build docs/report
ours=sequential,frozen+reflection,free+reflection,free+traversal,recycled+greedy,free:warm+traversal,recycled:warm+greedy
frozen=free:eps+reflection,free:v+reflection,free:parent+reflection,free:eps:parent+reflection,frozen:eps+reflection
"$redraft" bench digits --steps 250 --rows 32 --num "$num" --no-wall --methods "$ours,$frozen" --json "$out/250-32.json"
"$redraft" bench digits --steps 50 --rows 16 --num "$num" --no-wall --methods "$ours" --json "$out/50-16.json"
"$redraft" bench digits --steps 1000 --rows 32 --num "$num" --no-wall --methods sequential,recycled+greedy --json "$out/1000-32.json"
"$redraft" bench digits --steps 250 --rows 8,16,24,32 --num 16 --taught 24 --repeats 3 --methods sequential,recycled+greedy,recycled:warm+greedy,auto:time --json "$out/wall.json"
"${PYTHON:-.venv/bin/python}" benchmarks/own_time.py
suite() { # name, samples
  "$redraft" bench --suite "$1" --num "$2" --out "build/suite-$1"
  "$redraft" report "build/suite-$1" --out "docs/report/$1.html"
}
suite digits "${NUM:-128}"
suite papers "${NUM:-1000}"
