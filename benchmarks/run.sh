#!/usr/bin/env bash
# Run the benchmarks that README.md and docs/benchmarks.md quote; leaves one JSON each in benchmarks/results.
set -euo pipefail
cd "$(dirname "$0")/.."
redraft=${REDRAFT:-.venv/bin/redraft}
out=benchmarks/results
mkdir -p "$out"
ours=sequential,frozen+reflection,free+reflection,free+traversal,recycled+greedy
frozen=free:eps+reflection,free:v+reflection,free:parent+reflection,free:eps:parent+reflection,frozen:eps+reflection
"$redraft" bench digits --steps 250 --rows 32 --num 256 --no-wall --methods "$ours,$frozen" --json "$out/250-32.json"
"$redraft" bench digits --steps 50 --rows 16 --num 256 --no-wall --methods "$ours" --json "$out/50-16.json"
"$redraft" bench digits --steps 1000 --rows 32 --num 256 --no-wall --methods sequential,recycled+greedy --json "$out/1000-32.json"
"$redraft" bench digits --steps 250 --rows 8,12,16,24,32 --num 32 --repeats 3 --methods sequential,recycled+greedy --json "$out/wall.json"
"${PYTHON:-.venv/bin/python}" benchmarks/own_time.py
