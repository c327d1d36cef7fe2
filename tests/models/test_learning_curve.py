"""The learning curve: what more rows teach shows how large the errors are that are left."""

from __future__ import annotations

import numpy as np
import pytest

from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.models.response_types.config import NumericConfig
from pnsight.models.response_types.law_errors import relative_errors
from pnsight.models.response_types.learning_curve import (
    LearningGain,
    group_weights,
    inflation_from_gain,
    learning_gain,
)

PROFILES = 40_000


def drawn(rng: np.random.Generator, types: np.ndarray) -> np.ndarray:
    """One row of each group for every profile."""
    law = TWO_BY_TWO.cell_probabilities(types)
    rows = [rng.multinomial(1, law[:, group] / law[:, group].sum(axis=1, keepdims=True)) for group in groups()]
    return np.concatenate(rows, axis=1).astype(float)


def groups() -> tuple[slice, ...]:
    return TWO_BY_TWO.group_slices


def strayed(rng: np.random.Generator, types: np.ndarray, by: float) -> np.ndarray:
    found = types * np.exp(by * rng.standard_normal(types.shape))
    return found / found.sum(axis=1, keepdims=True)


def test_the_gain_is_the_difference_of_squared_relative_errors():
    rng = np.random.default_rng(1)
    types = rng.dirichlet(np.full(TWO_BY_TWO.n_types, 3.0), PROFILES)
    fewer, more, rows = strayed(rng, types, 0.5), strayed(rng, types, 0.2), drawn(rng, types)
    found = learning_gain([fewer], [more], [rows], TWO_BY_TWO)
    law = TWO_BY_TWO.cell_probabilities(types)
    weights = group_weights(rows, TWO_BY_TWO)
    errors = [
        relative_errors((TWO_BY_TWO.cell_probabilities(each) - law) ** 2, law, TWO_BY_TWO).mean(axis=0) @ weights
        for each in (fewer, more)
    ]
    expected = (errors[0] - errors[1]) / weights.sum()
    assert found.gain == pytest.approx(expected, rel=0.1, abs=3 * found.error)
    assert found.error < found.gain / 5


def test_more_that_is_learned_means_wider_intervals():
    config = NumericConfig()
    factors = [inflation_from_gain(LearningGain(gain, 0.001), 0.005, config) for gain in (0.001, 0.004, 0.016)]
    assert factors == sorted(factors)
    assert factors[0] < config.inflation < factors[-1]


def test_where_nothing_is_known_the_factor_is_what_it_usually_is():
    config = NumericConfig()
    found = inflation_from_gain(LearningGain(0.0, 10.0), 0.005, config)
    assert found == pytest.approx(config.inflation, rel=0.05)
