"""Progress in committed steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Progress", "reporting"]

Progress = bool | Callable[[int, int], None] | None
"""None or False: silent. True: a bar. A callable: told (committed steps, all steps)."""


@contextmanager
def reporting(progress: Progress, total: int) -> Iterator[Callable[[int], None]]:
    """Yield a function that is told how many steps are committed so far.

    Raises:
        ImportError: If a bar is wanted and `rich` is not installed.
        TypeError: If ``progress`` is none of the accepted kinds.
    """
    if progress is None or progress is False:
        yield lambda done: None
    elif callable(progress):
        report = progress
        yield lambda done: report(done, total)
    elif progress is True:
        try:
            from rich.progress import Progress as Bar
        except ImportError as error:
            raise ImportError(
                "progress=True draws a bar with rich; install redraft[cli], "
                "or pass a callable progress(done, total)"
            ) from error
        with Bar(transient=True) as bar:
            task = bar.add_task("sampling", total=total)
            yield lambda done: bar.update(task, completed=done)
    else:
        raise TypeError(f"progress must be a bool, a callable or None, got {progress!r}")
