r"""A sampler written as a table.

Every sampler that redraft speeds up exactly is a Markov chain whose kernels are Gaussian, isotropic
and affine in one model output f, the *prediction* (for a denoising chain f = x̂0, the estimate of
E[x_0 | x_n]):

    x_0 ~ N(0, init_std² I)
    x_{n+1} | x_n ~ N( a_n x_n + b_n f(x_n, level_n), std_n² I ),       n = 0..N-1

and, when a terminal level is given, one last call maps the last state to the sample:
f(x_N, terminal). Everything a sampler decides (noise schedule, spacing, eta, variance type) is then
four numbers per step. Drafting and verification need no more: a draft replaces f by a guess g, so
the two means differ by b_n (f - g), whatever x_n is.

A step with std_n = 0 is deterministic. Two different means then never meet, so no draft reaches
across it.

Where the marginals are known, x_n = alpha_n x_0 + sigma_n eps, the table also holds alpha and
sigma. They convert models that predict eps, v, a score or a velocity (`redraft.chain.prediction`);
the kernels themselves do not use them. (In this one formula x_0 is the data, as in the papers.)

References:
    - Score-Based Generative Modeling through Stochastic Differential Equations,
      https://arxiv.org/abs/2011.13456
    - Accelerated Diffusion Models via Speculative Sampling, https://arxiv.org/abs/2501.05370
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite, isnan

import torch
from torch import Tensor

from redraft.chain.levels import LevelTable
from redraft.chain.schedule import check_each

CPU = torch.device("cpu")


@dataclass(frozen=True, eq=False)
class Chain:
    """N Gaussian steps x_{n+1} ~ N(a_n x_n + b_n f(x_n, level_n), std_n² I).

    The tensors are float64 on the CPU. Never write to them: tables are derived from them.

    Attributes:
        level: (N,) what the model is told at step n (a noise level for `ancestral`, a timestep for
            `ddpm`).
        a: (N,) factor of the state.
        b: (N,) factor of the prediction.
        std: (N,) standard deviation of the step's noise, in units of x; 0 marks a deterministic
            step.
        init_std: Standard deviation of x_0.
        terminal: Level of the last call, whose prediction is the sample. None: the sample is x_N
            itself.
        alpha: Signal scale at every level, (N,), or (N+1,) with the terminal level last; None if
            there is none (Langevin).
        sigma: Noise scale, as `alpha`.
        name: Shown by `describe` and in errors.

    Raises:
        ValueError: If a tensor is not 1-D float64 on the CPU, if lengths differ, if N = 0, if a
            value is not finite, if `std`, `init_std`, `alpha` or `sigma` is negative, or if two
            equal levels have different scales.
    """

    level: Tensor
    a: Tensor
    b: Tensor
    std: Tensor
    init_std: float
    terminal: float | None = None
    alpha: Tensor | None = None
    sigma: Tensor | None = None
    name: str = "chain"
    _tables: dict[torch.device, LevelTable] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        _check_column("level", self.level, len(self.level) if self.level.ndim else 0)
        if self.num_steps == 0:
            raise ValueError("level is empty: a chain needs at least one step")
        for name in ("a", "b", "std"):
            _check_column(name, getattr(self, name), self.num_steps)
        check_each(self.std, self.std >= 0, "std", "be >= 0")
        if not isfinite(self.init_std) or self.init_std < 0:
            raise ValueError(f"init_std must be finite and >= 0, got {self.init_std}")
        if self.terminal is not None and not isfinite(self.terminal):
            raise ValueError(f"terminal must be a finite level or None, got {self.terminal}")
        if (self.alpha is None) != (self.sigma is None):
            missing = "alpha" if self.alpha is None else "sigma"
            raise ValueError(f"{missing} is None: give both alpha and sigma, or neither")
        if self.alpha is not None and self.sigma is not None:
            for name, scale in (("alpha", self.alpha), ("sigma", self.sigma)):
                _check_column(name, scale, self.calls_sequential)
                check_each(scale, scale >= 0, name, "be >= 0")
            self._tables[CPU] = LevelTable.build(self.call_levels, self.alpha, self.sigma)

    def __getstate__(self) -> dict[str, object]:
        """State for copies and pickles: the process that loads them may lack our other devices."""
        tables = {device: table for device, table in self._tables.items() if device == CPU}
        return {**self.__dict__, "_tables": tables}

    @property
    def num_steps(self) -> int:
        """N, the number of steps."""
        return len(self.level)

    @property
    def calls_sequential(self) -> int:
        """Model calls of plain sampling: N, and one more if there is a terminal level."""
        return self.num_steps + (self.terminal is not None)

    @property
    def call_levels(self) -> Tensor:
        """Level of every sequential call, (calls_sequential,) float64, the terminal one last."""
        if self.terminal is None:
            return self.level
        return torch.cat([self.level, torch.tensor([self.terminal], dtype=torch.float64)])

    def scales(self, level: Tensor) -> tuple[Tensor, Tensor]:
        """Signal and noise scale of each row's level: x = alpha x_0 + sigma eps.

        On an accelerator nothing is copied to the host, so a level that is not in the table cannot
        raise there: its scales are NaN, and so is what is computed from them.

        Args:
            level: Levels of this chain, any shape (one per row), any device and dtype; matched
                within 1e-6 relative.

        Returns:
            (alpha, sigma), float64, of `level`'s shape and on its device.

        Raises:
            ValueError: If the chain has no scales, or (on the CPU) if a level is none of the
                chain's.
        """
        if self.alpha is None or self.sigma is None:
            raise ValueError(
                f"chain {self.name!r} has no alpha and sigma: use a model of f, unconverted"
            )
        table = self._tables.get(level.device)
        if table is None:
            table = self._tables[level.device] = self._tables[CPU].to(level.device)
        alpha, sigma = table.find(level)
        if level.device.type == "cpu" and isnan(alpha.sum().item()):
            row = int(alpha.flatten().isnan().nonzero()[0])
            seen = level.flatten()[row].item()
            near = self.call_levels[(self.call_levels - seen).abs().argmin()].item()
            raise ValueError(
                f"level {seen:.9g} (row {row}) is not a level of chain {self.name!r}; the nearest "
                f"is {near:.9g}. Pass the chain's own levels, in float32 or float64."
            )
        return alpha, sigma

    def describe(self) -> str:
        """The chain as a plain-text table; the middle of a long one is left out."""
        noisy = int((self.std > 0).sum())
        fixed = self.num_steps - noisy
        head = [
            f"{self.name}: {self.num_steps} steps ({noisy} noisy, {fixed} deterministic), "
            f"{self.calls_sequential} sequential calls",
            f"x_0 ~ N(0, {self.init_std:.6g}^2 I),  x_(n+1) ~ N(a x_n + b f(x_n, level), std^2 I)",
        ]
        if noisy == 0:
            head.append("every step is deterministic: there is nothing to speculate on")
        columns = {"level": self.call_levels, "a": self.a, "b": self.b, "std": self.std}
        if self.alpha is not None and self.sigma is not None:
            columns |= {"alpha": self.alpha, "sigma": self.sigma}
        names = [str(n) for n in range(self.num_steps)] + ["terminal"] * (self.terminal is not None)
        rows = [
            [name] + [f"{c[n].item():.6g}" if n < len(c) else "-" for c in columns.values()]
            for n, name in enumerate(names)
        ]
        if len(rows) > 14:
            rows[6:-6] = [["..."] * (1 + len(columns))]
        table = [["step", *columns], *rows]
        return "\n".join(head + ["".join(f"{cell:>13}" for cell in row)[4:] for row in table])


def _check_column(name: str, column: Tensor, length: int) -> None:
    if column.ndim != 1 or column.dtype != torch.float64 or column.device.type != "cpu":
        raise ValueError(
            f"{name} must be a 1-D float64 tensor on the CPU, "
            f"got shape {tuple(column.shape)}, {column.dtype}, {column.device}"
        )
    if len(column) != length:
        raise ValueError(
            f"{name} must have {length} entries, got {len(column)}: a, b and std have one per "
            "step, alpha and sigma one per call"
        )
    check_each(column, column.isfinite(), name, "be finite")
