"""Suites: many benchmarks that belong together, kept cell by cell, so that they can be resumed.

`suites` lists what is measured, `store` keeps what is finished, `run_suite` does the rest.
"""

from redraft.bench.suite.cell import Cell
from redraft.bench.suite.narrow import narrow
from redraft.bench.suite.run import Settings, run_suite
from redraft.bench.suite.store import Store
from redraft.bench.suite.suites import SUITES

__all__ = ["SUITES", "Cell", "Settings", "Store", "narrow", "run_suite"]
