"""The round as a state machine, its driver, and the sequential baseline."""

from redraft.sampling.calibrate import calibrate
from redraft.sampling.driver import Run
from redraft.sampling.errors import NonFiniteError, TargetError
from redraft.sampling.info import Info
from redraft.sampling.result import Result, Summary
from redraft.sampling.sample import sample
from redraft.sampling.sampler import Sampler
from redraft.sampling.sequential import sequential
from redraft.sampling.state import Rows, State
from redraft.sampling.strategy import Strategy
from redraft.sampling.tune import tune

__all__ = [
    "Info",
    "NonFiniteError",
    "Result",
    "Rows",
    "Run",
    "Sampler",
    "State",
    "Strategy",
    "Summary",
    "TargetError",
    "calibrate",
    "sample",
    "sequential",
    "tune",
]
