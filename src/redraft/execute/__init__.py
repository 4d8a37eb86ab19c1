"""Where rows are evaluated."""

from redraft.execute.local import Executor, Local

__all__ = ["Executor", "Local"]
