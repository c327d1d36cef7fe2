"""Capacities: what the grid holds, and how cross-validation scores choose among them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pnsight.models.response_types.capacity import (
    CAPACITY_GRID,
    MAX_RANK,
    NUMERIC_CAPACITY_GRID,
    SHORT_CAPACITY_GRID,
    SMALL_CAPACITY_GRID,
    SMALL_NUMERIC_CAPACITY_GRID,
    Capacity,
    apportion,
    bootstrap_weights,
    no_heterogeneity,
    score_gap,
    within_standard_errors,
)
from pnsight.models.response_types.config import DEFAULT_CONFIG, SelectionConfig

scores = hnp.arrays(
    np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=8), elements=st.integers(-50, 0).map(float)
)
seeds = st.integers(0, 2**32 - 1)


def noise(capacities, profiles, size=0.1, seed=0):
    return np.random.default_rng(seed).normal(scale=size, size=(capacities, profiles))


# --- the grid ----------------------------------------------------------------------------------------------

GRIDS = (
    CAPACITY_GRID,
    SHORT_CAPACITY_GRID,
    SMALL_CAPACITY_GRID,
    NUMERIC_CAPACITY_GRID,
    SMALL_NUMERIC_CAPACITY_GRID,
)


@pytest.mark.parametrize("grid", GRIDS)
def test_a_grid_begins_with_a_constant_and_goes_up_to_a_full_network(grid):
    assert grid[0].constant
    assert not any(capacity.constant for capacity in grid[1:])
    assert grid[-1].rank == 0
    assert len(set(grid)) == len(set(map(str, grid))) == len(grid)
    assert max(capacity.rank for capacity in grid) <= MAX_RANK


@pytest.mark.parametrize("numeric", [False, True])
def test_of_few_rows_networks_with_more_decay_are_tried(numeric):
    few, many = (DEFAULT_CONFIG.effort_for(500, rows, numeric).capacities for rows in (1_400, 40_000))
    least, most = (min(capacity.decay for capacity in grid[1:]) for grid in (many, few))
    assert least < most
    assert max(capacity.decay for capacity in few) >= max(capacity.decay for capacity in many)


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("columns", [1, 5, 8, 64, 200])
def test_capacities_that_are_trained_together_take_as_many_steps(grid, columns):
    for one, other in combinations(grid[1:], 2):
        if (one.width(columns), one.hidden) == (other.width(columns), other.hidden):
            assert one.steps == other.steps


@pytest.mark.parametrize(
    ("capacity", "columns", "width"),
    [
        (Capacity(0, 64, 1), 10, 10),
        (Capacity(0, 64, 1), 200, 64),
        (Capacity(1, 32, 1), 10, MAX_RANK),
        (Capacity(3, 32, 1), 2, MAX_RANK),
        (Capacity(0, 32, 1, deep=True), 2, 32),
    ],
)
def test_capacities_of_few_indices_have_one_width_and_the_others_as_many_columns_as_fit(capacity, columns, width):
    assert capacity.width(columns) == width


@pytest.mark.parametrize(
    ("capacity", "text"),
    [
        (Capacity(0, 0, 0.0), "the same for everyone"),
        (Capacity(1, 32, 0.3), "1 index, 32 units, decay 0.3"),
        (Capacity(5, 32, 1), "5 indices, 32 units, decay 1"),
        (Capacity(0, 64, 0.1), "any number of indices, 64 units, decay 0.1"),
        (Capacity(0, 32, 0.5, deep=True), "numbers standardised, three layers of 32 units, decay 0.5"),
        (
            Capacity(0, 16, 0.2, deep=True, sparsity=0.04, coding="stepped"),
            "numbers stepped, three layers of 16 units, decay 0.2, sparsity 0.04",
        ),
    ],
)
def test_a_capacity_says_in_words_what_it_is(capacity, text):
    assert str(capacity) == text


# --- which capacities may still win --------------------------------------------------------------------------


def test_whoever_may_win_may_have_learned_the_true_law():
    assert SelectionConfig().drop_at_se < SelectionConfig().reject_at_se


@given(scores=scores)
def test_the_best_capacity_is_never_given_up(scores):
    assert scores.sum(axis=1).argmax() in within_standard_errors(scores, 0.0)


@pytest.mark.parametrize("held_out", [0.25, 0.5, 1.0])
def test_how_far_a_capacity_is_behind_does_not_depend_on_how_many_rows_were_held_out(held_out):
    """Two profiles of any size: a held-out row of the first costs 0.3 more on the second, one of the other 0.1."""
    costs = np.array([[1.0, 2.0], [1.3, 2.1]])
    np.testing.assert_allclose(score_gap(-costs * held_out, 2 * held_out), [0, 0.2])


def test_a_capacity_that_is_behind_everywhere_is_given_up_and_one_within_the_noise_is_kept():
    found = noise(3, 100)
    found[1] -= 0.01  # one tenth of the noise of a profile: one standard error of the mean of a hundred
    found[2] -= 0.5
    assert within_standard_errors(found, 3.0).tolist() == [0, 1]


def test_capacities_that_answer_alike_are_all_kept():
    assert within_standard_errors(np.tile(noise(1, 20), (4, 1)), 3.0).tolist() == [0, 1, 2, 3]


def chosen(scores, rng):
    selection = SelectionConfig()
    return bootstrap_weights(scores, rng, selection.bootstrap_samples, selection.min_win_ratio)


# --- weights --------------------------------------------------------------------------------------------


@given(scores=scores, seed=seeds)
def test_weights_are_shares(scores, seed):
    weights = chosen(scores, np.random.default_rng(seed))
    assert weights.shape == (len(scores),)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1)


@given(scores=scores, seed=seeds)
def test_a_capacity_that_is_worse_for_every_profile_gets_no_weight(scores, seed):
    worse = np.concatenate([scores, scores.min(axis=0, keepdims=True) - 1])
    assert chosen(worse, np.random.default_rng(seed))[-1] == 0


def test_a_clear_winner_gets_all():
    found = noise(4, 200)
    found[2] += 0.1  # ten standard errors of the mean difference
    assert chosen(found, np.random.default_rng(0)).tolist() == [0, 0, 1, 0]


def test_near_ties_are_shared():
    found = noise(2, 200)
    found -= found.mean(axis=1, keepdims=True)
    # As often one as the other: half, give or take five standard deviations of 500 tosses.
    assert chosen(found, np.random.default_rng(0)) == pytest.approx([0.5, 0.5], abs=5 * 0.5 / np.sqrt(500))


def test_capacities_that_win_seldom_get_nothing():
    found = noise(2, 200)
    found -= found.mean(axis=1, keepdims=True)
    found[1] -= 1.5 * (found[0] - found[1]).std() / np.sqrt(200)  # wins about 7% of the time
    assert chosen(found, np.random.default_rng(0)).tolist() == [1, 0]


def test_a_lead_that_rests_on_one_profile_is_not_a_clear_win():
    found = np.zeros((2, 100))
    found[0, 0], found[1, 1:] = 3, 0.02
    assert found[0].sum() > found[1].sum()
    assert (chosen(found, np.random.default_rng(0)) > 0.25).all()  # the one profile weighs too little half of the time


# --- places ---------------------------------------------------------------------------------------------


@given(
    weights=hnp.arrays(np.float64, st.integers(1, 8), elements=st.integers(0, 9).map(float)).filter(np.any),
    places=st.integers(0, 30),
)
def test_places_are_apportion_in_proportion(weights, places):
    capacities = apportion(weights, places)
    assert capacities.shape == (places,)
    given_to = np.bincount(capacities, minlength=len(weights))
    assert len(given_to) == len(weights)
    assert (np.abs(given_to - places * weights / weights.sum()) < 1 + 1e-9).all()
    assert (given_to[weights == 0] == 0).all()


def test_places_by_hand():
    assert apportion(np.array([0.5, 0.0, 0.25, 0.25]), 8).tolist() == [0, 0, 0, 0, 2, 2, 3, 3]
    assert apportion(np.array([0.0, 1.0]), 3).tolist() == [1, 1, 1]
    assert apportion(np.array([0.3, 0.7]), 0).tolist() == []


def test_profiles_are_no_heterogeneity_unless_a_capacity_that_tells_them_apart_is_clearly_ahead():
    rng = np.random.default_rng(1)
    noise = rng.normal(size=400)
    assert no_heterogeneity(np.stack([np.zeros(400), noise - noise.mean()]), constant=0)
    assert no_heterogeneity(np.stack([np.zeros(400), noise - 1]), constant=0)
    assert not no_heterogeneity(np.stack([np.zeros(400), noise + 0.2]), constant=0)
