"""Scalar columns of sample paths, in which a wrong law has nowhere to hide.

Two laws on R^d are equal if and only if all their one-dimensional projections are (Cramer and
Wold), and one random projection already separates two laws almost surely, if their moments do not
grow too fast. For a path x_0 .. x_N with states of d entries, divided by `scale`, the columns are

    u . x_n                       at each chosen step, `count` random unit vectors u
    |x_n|                         one per step: errors of scale add up over all d entries
    u . x_n + v . x_{n+1}         `count` unit vectors (u, v): the joint law of neighbours
    u . (x_{n+1} - x_n)           `count`: the step itself, where noise of the wrong size shows
    |x_{n+1} - x_n|               one per step
    sum_n w_n . x_n               `count` unit vectors w over the whole path
    sum_n g_n u . x_n             `count` pairs of unit vectors g (over steps) and u: one direction
                                  followed along the path, where lost dependence shows

KS distances do not change when a column is shifted or rescaled, so `scale` only sets how much each
state weighs within a column. It must not be computed from the tested paths: take it from the chain
(for a denoising chain sqrt(alpha^2 + sigma^2) per step), or from other paths.

References:
    Cramer and Wold, "Some theorems on distribution functions", J. London Math. Soc. 11 (1936).
    Cuesta-Albertos, Fraiman and Ransford, "A sharp form of the Cramer-Wold theorem", J. Theor.
    Probab. 20 (2007).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from redraft.audit.columns import Columns

__all__ = ["projections", "unit_vectors"]


def projections(
    paths: Tensor,
    count: int,
    seed: int,
    *,
    steps: Sequence[int] | None = None,
    scale: Tensor | None = None,
) -> Columns:
    """Project paths onto random directions that depend on (seed, count, steps, shape) alone.

    Give both samples of a two-sample assert the same arguments.

    Args:
        paths: (num, N+1, *shape) states of any floating dtype, on any device. For plain samples
            (num, *shape) pass `samples[:, None]`.
        count: Random directions of each kind.
        seed: Seed of the directions.
        steps: Indices n of the states to project (joint columns use n and n+1); None: all.
        scale: Divides the states; broadcastable to (N+1, *shape), for example (N+1,) with as many
            trailing ones. None: no division.

    Returns:
        float64 columns; (3 count + 2) per step for which n+1 exists, count + 1 for the last state,
        and 2 count for the path.

    Raises:
        ValueError: If `paths` has fewer than two dimensions, `count` is below 1, a step is out of
            range, or the scale is not positive.
    """
    if paths.ndim < 2 or count < 1:
        raise ValueError(
            f"need paths (num, N+1, *shape) and count >= 1, got {tuple(paths.shape)} and {count}"
        )
    num, length = paths.shape[:2]
    states = paths.detach().reshape(num, length, -1)
    size = states.shape[2]
    weights = _weights(scale, paths.shape[1:]).reshape(length, size)
    chosen = (
        range(length) if steps is None else [range(length)[n] for n in _in_range(steps, length)]
    )
    generator = torch.Generator().manual_seed(seed)
    free = unit_vectors(count, length * size, generator).reshape(count, length, size)
    along = unit_vectors(count, length, generator)[:, :, None]
    whole = torch.cat([free, along * unit_vectors(count, size, generator)[:, None]])
    values, labels = [], []
    for n in chosen:
        state = _state(states, weights, n)
        values += [state @ unit_vectors(count, size, generator).T, _norm(state)]
        labels += [f"u{i}.x_{n}" for i in range(count)] + [f"|x_{n}|"]
        if n + 1 == length:
            continue
        after = _state(states, weights, n + 1)
        joint = unit_vectors(count, 2 * size, generator)
        values.append(state @ joint[:, :size].T + after @ joint[:, size:].T)
        labels += [f"u{i}.(x_{n}, x_{n + 1})" for i in range(count)]
        step = after - state
        values += [step @ unit_vectors(count, size, generator).T, _norm(step)]
        labels += [f"u{i}.(x_{n + 1} - x_{n})" for i in range(count)] + [f"|x_{n + 1} - x_{n}|"]
    if length > 1:
        path = torch.zeros(num, 2 * count, dtype=torch.float64)
        for n in range(length):
            path += _state(states, weights, n) @ whole[:, n].T
        values.append(path)
        labels += [f"w{i}.path" for i in range(count)] + [f"g{i} u{i}.path" for i in range(count)]
    return Columns(torch.cat(values, dim=1), labels)


def unit_vectors(count: int, size: int, generator: torch.Generator) -> Tensor:
    """(count, size) float64 directions, uniform on the unit sphere."""
    return torch.nn.functional.normalize(
        torch.randn(count, size, dtype=torch.float64, generator=generator), dim=1
    )


def _state(states: Tensor, weights: Tensor, n: int) -> Tensor:
    return states[:, n].to("cpu", torch.float64) * weights[n]


def _norm(x: Tensor) -> Tensor:
    return torch.linalg.vector_norm(x, dim=1, keepdim=True)


def _weights(scale: Tensor | None, shape: torch.Size) -> Tensor:
    if scale is None:
        return torch.ones(shape, dtype=torch.float64)
    scale = scale.to("cpu", torch.float64)
    if not bool(((scale > 0) & scale.isfinite()).all()):
        raise ValueError(f"scale must be positive and finite, got a minimum of {scale.min()}")
    return (1 / scale).expand(shape)


def _in_range(steps: Sequence[int], length: int) -> Sequence[int]:
    outside = [n for n in steps if not -length <= n < length]
    if outside or not steps:
        raise ValueError(f"steps must be indices of {length} states, got {list(steps)}")
    return steps
