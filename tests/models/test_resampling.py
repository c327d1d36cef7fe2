"""Parts and resamples of counted rows: no row is lost, made up or cut in two."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pnsight.models.resampling import bootstrap_counts, split_counts

tables = hnp.arrays(
    np.float64, hnp.array_shapes(min_dims=1, max_dims=2, max_side=6), elements=st.integers(0, 50).map(float)
)
seeds = st.integers(0, 2**32 - 1)


@given(counts=tables, folds=st.integers(1, 5), seed=seeds)
def test_parts_are_whole_and_add_up_to_the_counts(counts, folds, seed):
    parts = split_counts(counts, folds, np.random.default_rng(seed))
    assert len(parts) == folds
    np.testing.assert_array_equal(sum(parts), counts)
    for part in parts:
        assert part.shape == counts.shape
        assert (part >= 0).all()
        np.testing.assert_array_equal(part, np.floor(part))


def test_parts_are_of_nearly_equal_size():
    rows, folds = 40_000, 4
    parts = split_counts(np.full((10, 8), rows / 80), folds, np.random.default_rng(1))
    for part in parts:  # each row falls into each part with probability 1/4: five standard deviations
        assert abs(part.sum() - rows / folds) < 5 * np.sqrt(rows * (1 / folds) * (1 - 1 / folds))


def test_splitting_leaves_the_counts_as_they_are():
    counts = np.arange(8.0)
    split_counts(counts, 3, np.random.default_rng(0))
    np.testing.assert_array_equal(counts, np.arange(8.0))


@given(counts=tables.filter(lambda counts: counts.sum() > 0), seed=seeds)
def test_a_resample_has_as_many_rows_all_of_kinds_that_there_were(counts, seed):
    drawn = bootstrap_counts(counts, np.random.default_rng(seed))
    assert drawn.shape == counts.shape
    assert drawn.sum() == counts.sum()
    assert (drawn >= 0).all()
    assert (drawn[counts == 0] == 0).all()
    np.testing.assert_array_equal(drawn, np.floor(drawn))


def test_weights_that_add_up_to_a_row_but_for_rounding_are_one_row():
    counts = np.array([0.7, 0.2, 0.1])
    assert counts.sum() < 1
    assert bootstrap_counts(counts, np.random.default_rng(0)).sum() == 1


def test_resamples_are_unbiased_and_spread_like_draws_with_replacement():
    counts, times = np.array([[0.0, 1, 10, 100], [400, 25, 60, 4]]), 4000
    rng = np.random.default_rng(3)
    drawn = np.stack([bootstrap_counts(counts, rng) for _ in range(times)])
    total = counts.sum()
    variance = counts * (1 - counts / total)  # of a multinomial cell
    assert (np.abs(drawn.mean(axis=0) - counts) <= 5 * np.sqrt(variance / times)).all()
    # The variance of 4000 draws is known to sqrt(2/4000) = 2%, somewhat less well where counts are small: ten percent.
    assert drawn.var(axis=0) == pytest.approx(variance, rel=0.1, abs=1e-9)
