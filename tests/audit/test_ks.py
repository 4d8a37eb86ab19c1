"""KS statistics agree with SciPy's, and treat ties as single jumps."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from redraft.audit.ks import ks_one_sample, ks_two_sample

VALUES = st.lists(st.integers(0, 6), min_size=1, max_size=12)


def test_statistics_agree_with_scipy(fresh_seed):
    x, y = np.random.default_rng(fresh_seed).normal(size=(2, 500, 3))
    want = [float(stats.ks_1samp(column, stats.norm.cdf)[0]) for column in x.T]  # pyright: ignore
    got = ks_one_sample(torch.from_numpy(x), torch.special.ndtr)
    np.testing.assert_allclose(got, want, atol=1e-12)
    pairs = zip(x.T, y.T, strict=True)
    want = [float(stats.ks_2samp(*pair, method="asymp")[0]) for pair in pairs]  # pyright: ignore
    np.testing.assert_allclose(ks_two_sample(torch.from_numpy(x), torch.from_numpy(y)), want)


@given(VALUES, VALUES)
def test_two_sample_with_ties_agrees_with_the_definition(a, b):
    grid = np.arange(-1, 8)
    gaps = [abs(np.mean(np.array(a) <= x) - np.mean(np.array(b) <= x)) for x in grid]
    columns = [torch.tensor(s, dtype=torch.float64)[:, None] for s in (a, b)]
    assert float(ks_two_sample(*columns)) == pytest.approx(max(gaps), abs=1e-12)


@given(VALUES)
def test_one_sample_with_atoms_agrees_with_the_definition(a):
    grid = np.concatenate([np.arange(-1, 8), np.arange(-1, 8) - 1e-9])

    def cdf(x):
        return ((x.floor() + 1) / 7).clamp(0, 1)

    want = max(abs(np.mean(np.array(a) <= x) - float(cdf(torch.tensor(x)))) for x in grid)
    column = torch.tensor(a, dtype=torch.float64)[:, None]
    assert float(ks_one_sample(column, cdf)) == pytest.approx(want, abs=1e-12)


def test_a_single_atom_fits_perfectly():
    atom = torch.full((50, 1), 0.3, dtype=torch.float64)
    assert float(ks_one_sample(atom, lambda x: (x >= 0.3).to(x))) == 0
    assert float(ks_two_sample(atom, atom[:7])) == 0


def test_columns_are_chunked_without_effect(fresh_seed, monkeypatch):
    generator = torch.Generator().manual_seed(fresh_seed)
    a, b = torch.randn(40, 9, generator=generator), torch.randn(30, 9, generator=generator)
    whole = ks_two_sample(a, b)
    monkeypatch.setattr("redraft.audit.ks._CHUNK_ELEMENTS", 140)
    assert torch.equal(ks_two_sample(a, b), whole)


def test_a_cdf_that_is_none_is_named():
    x = torch.zeros(5, 2)
    with pytest.raises(ValueError, match=r"cdf must keep the shape \(5, 2\), got \(5, 1\)"):
        ks_one_sample(x, lambda v: v[:, :1])
    with pytest.raises(ValueError, match="cdf must return probabilities"):
        ks_one_sample(x, lambda v: v + 2)
    with pytest.raises(ValueError, match="cdf must return probabilities"):
        ks_one_sample(x, lambda v: v * torch.nan)
