"""Logistic regression on known distributions: exact where they are log-linear, and elsewhere right on average."""

from __future__ import annotations

import numpy as np
import pytest

from pnsight.data.schema import Schema
from pnsight.models.mlp_numpy import mean_probabilities
from pnsight.models.response_types.log_linear import fit_log_linear
from pnsight.queries import lattice

SCHEMA = Schema.binary("abcd")
INPUTS = SCHEMA.effect_coding(lattice.all_profiles(SCHEMA))


def log_linear(rng) -> np.ndarray:
    logs = INPUTS @ rng.normal(scale=0.5, size=(4, 8)) + rng.normal(size=8)
    return np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)


def said(layers) -> np.ndarray:
    return mean_probabilities([layers], INPUTS)


def test_what_is_log_linear_is_found_again():
    """From so many rows that the prior of one row hardly counts."""
    types = log_linear(np.random.default_rng(0))
    np.testing.assert_allclose(said(fit_log_linear(INPUTS, types, np.full(16, 1e6))), types, atol=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_the_types_are_the_mean_over_the_rows_is_theirs(seed):
    rng = np.random.default_rng(seed)
    types, rows = rng.dirichlet(np.full(8, 0.2), size=16), rng.integers(1, 200, size=16).astype(float)
    found = said(fit_log_linear(INPUTS, types, rows))
    np.testing.assert_allclose(rows @ found / rows.sum(), rows @ types / rows.sum(), atol=1e-3)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)


def test_types_that_nobody_is_of_do_not_carry_the_rest_away():
    """One profile of which some types are impossible: the others are said to be nearly what they are."""
    types = np.full((16, 8), 1 / 8)
    types[0] = [0, 0, 0, 0, 0.25, 0.25, 0.25, 0.25]
    found = said(fit_log_linear(INPUTS, types, np.full(16, 100.0)))
    assert np.abs(found - types)[1:].max() < 0.05


def test_without_inputs_it_is_the_mean_of_all():
    types = np.random.default_rng(0).dirichlet(np.ones(8), size=3)
    layers = fit_log_linear(np.zeros((3, 0), np.float32), types, np.array([1.0, 2.0, 3.0]))
    found = mean_probabilities([layers], np.zeros((1, 0), np.float32))
    np.testing.assert_allclose(found[0], np.array([1, 2, 3]) @ types / 6, atol=1e-3)


def test_the_same_types_give_the_same_network():
    types = log_linear(np.random.default_rng(1))
    (once,), (again,) = (fit_log_linear(INPUTS, types, np.ones(16)) for _ in range(2))
    for first, second in zip(once, again, strict=True):
        np.testing.assert_array_equal(first, second)
        assert first.flags.c_contiguous
