"""Methods side by side on one target: calls, rows and wall-clock, as ratios.

`Job` says what is sampled, `parse` reads a method's name, `run_bench` measures and `document` makes
the JSON of ``redraft bench``.
"""

from redraft.bench.document import document
from redraft.bench.job import Job
from redraft.bench.methods import Method, parse
from redraft.bench.runner import run_bench
from redraft.bench.targets import TARGETS, Target, make_target

__all__ = ["TARGETS", "Job", "Method", "Target", "document", "make_target", "parse", "run_bench"]
