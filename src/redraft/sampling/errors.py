"""Errors of a run."""

from __future__ import annotations

from redraft.sampling.state import Rows, State

__all__ = ["NonFiniteError", "TargetError"]


class NonFiniteError(ArithmeticError):
    """A prediction on the committed path is NaN or infinite.

    Attributes:
        sample: Index of the sample in the run.
        step: Chain step of the row.
        level: Level of the row.
    """

    def __init__(self, source: str, sample: int, step: int, level: float) -> None:
        self.sample, self.step, self.level = sample, step, level
        super().__init__(
            f"{source} is not finite for sample {sample} at step {step} (level {level:g}). "
            "Check the model there (overflow in half precision? a level outside its training?)."
        )


class TargetError(RuntimeError):
    """The target raised in the middle of a run; nothing that was committed is lost.

    The original exception is the cause. `redraft.sample(...)`'s run continues with
    ``error.run.finish()`` once the target works again.

    Attributes:
        state: State before the round that failed; still valid.
        rows: Rows the target was asked for.
        run: The run, which can be continued.
    """

    def __init__(self, cause: BaseException, state: State, rows: Rows, run: object) -> None:
        self.state, self.rows, self.run = state, rows, run
        steps = f"{int(rows.step.min())}..{int(rows.step.max())}"
        super().__init__(
            f"the target raised {type(cause).__name__} on {len(rows)} rows (steps {steps}): "
            f"{cause}. The run is intact: catch this error and call error.run.finish() to go on."
        )
