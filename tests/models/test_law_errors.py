"""Errors of estimated laws: how they average out over people, how alike they are, and draws of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pnsight.data.schema import OPEN, Covariate, Schema
from pnsight.data.structure import EXPERIMENTAL
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.models.response_types.law_errors import (
    MIN_SPREAD,
    draw_errors,
    error_covariance,
    fit_decay,
    hamming,
    mean_correlation,
    relative_errors,
    smooth_over_neighbours,
)
from pnsight.queries import lattice

SCHEMA = Schema(tuple(Covariate(f"c{j}", tuple(map(str, range(levels)))) for j, levels in enumerate((2, 3, 2, 1))))
EVERY, QUERIES = lattice.all_profiles(SCHEMA), lattice.all_queries(SCHEMA)
LAW = TWO_BY_TWO.cell_probabilities(np.random.default_rng(0).dirichlet(np.full(8, 4.0), size=len(EVERY)))


# --- relative errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1.0, 40.0, 2500.0])
def test_shares_that_were_counted_in_so_many_rows_have_the_error_of_so_many_rows(rows):
    variance = LAW * (1 - LAW) / rows
    np.testing.assert_allclose(relative_errors(variance, LAW, TWO_BY_TWO), 1 / rows)


def test_each_group_has_an_error_of_its_own():
    rows = np.array([10.0, 10, 100, 100, 1000, 1000, 1000, 1000])
    found = relative_errors(LAW * (1 - LAW) / rows, LAW, TWO_BY_TWO)
    np.testing.assert_allclose(found, [[0.1, 0.01, 0.001]] * len(LAW))


def test_an_error_is_not_measured_by_a_cell_that_seems_impossible():
    law = np.array([[1.0, 0, 0.5, 0.5, 0, 0, 0, 1]])
    found = relative_errors(np.full((1, 8), 1e-4), law, TWO_BY_TWO)
    np.testing.assert_allclose(found, [[2e-4 / MIN_SPREAD, 2e-4 / 0.5, 4e-4 / MIN_SPREAD]])


# --- correlation over the people of a query -------------------------------------------------------------

decays = st.lists(st.floats(0.05, 0.99), min_size=1, max_size=3).map(np.array)


@st.composite
def frequencies(draw):
    found = []
    for levels in SCHEMA.shape:
        weights = np.array(draw(st.lists(st.integers(0, 9), min_size=levels, max_size=levels).filter(any)), float)
        found.append(weights / weights.sum())
    return found


@given(shares=frequencies(), decay=decays)
def test_the_mean_correlation_is_that_of_all_pairs_of_people(shares, decay):
    """By brute force: everyone whom a query covers with everyone, the covariates being independent."""
    found = mean_correlation(QUERIES, shares, decay)
    assert found.shape == (len(QUERIES), len(decay))
    for query, correlations in zip(QUERIES, found, strict=True):
        chosen = [range(levels) if code == OPEN else [code] for code, levels in zip(query, SCHEMA.shape, strict=True)]
        people = np.array(list(product(*chosen)))
        mass = np.ones(len(people))
        for j in np.flatnonzero(query == OPEN):
            mass *= shares[j][people[:, j]]
        apart = (people[:, None] != people[None]).sum(axis=2)
        expected = [mass @ factor**apart @ mass for factor in decay]
        np.testing.assert_allclose(correlations, expected, atol=1e-12)


def test_an_exact_query_is_as_uncertain_as_its_profile():
    found = mean_correlation(EVERY, [np.full(levels, 1 / levels) for levels in SCHEMA.shape], np.array([0.3, 0.9]))
    np.testing.assert_array_equal(found, 1.0)


@given(shares=frequencies(), decay=st.floats(0.05, 0.99))
def test_who_fixes_less_averages_out_more(shares, decay):
    found = dict(zip(map(tuple, QUERIES.tolist()), mean_correlation(QUERIES, shares, np.array([decay])), strict=True))
    for query, correlation in found.items():
        for j in range(len(query)):
            wider = found[(*query[:j], OPEN, *query[j + 1 :])]
            assert decay ** len(query) - 1e-12 <= wider[0] <= correlation[0] + 1e-12


# --- decay ----------------------------------------------------------------------------------------------


def errors_that_decay(decay, codes, fits, rng) -> np.ndarray:
    """Normal errors of two cells whose correlation falls by `decay` with each covariate that differs."""
    apart = (codes[:, None] != codes[None]).sum(axis=2)
    factor = np.linalg.cholesky(decay**apart + 1e-9 * np.eye(len(codes)))
    one = np.einsum("zw,sw->sz", factor, rng.standard_normal((fits, len(codes))))
    return np.stack([one, -one], axis=2)


@pytest.mark.parametrize("decay", [0.6, 0.8, 0.95])
@pytest.mark.parametrize("covariates", [3, 6])
def test_a_known_decay_is_found_again(decay, covariates):
    """From 2,000 fits a correlation is known to about .02, and the slope of its logarithm to about that."""
    codes = lattice.all_profiles(Schema.binary([f"c{j}" for j in range(covariates)]))
    errors = errors_that_decay(decay, codes, 2000, np.random.default_rng(1))
    assert fit_decay(error_covariance(errors), codes) == pytest.approx(decay, abs=0.05)


def test_errors_of_different_size_are_compared_by_their_correlation():
    codes = lattice.all_profiles(Schema.binary("abcd"))
    rng = np.random.default_rng(2)
    errors = errors_that_decay(0.8, codes, 2000, rng)
    assert fit_decay(error_covariance(errors * rng.uniform(0.1, 10, size=(len(codes), 1))), codes) == pytest.approx(
        0.8, abs=0.05
    )


def test_what_is_the_same_everywhere_hardly_decays_and_what_is_unlike_decays_as_far_as_it_is_looked_at():
    """Correlations below .05 are taken for that: a line through 0 and three times log(.05) has .3 of it for a slope."""
    codes, rng = lattice.all_profiles(Schema.binary("abcd")), np.random.default_rng(3)
    same = np.repeat(rng.standard_normal((50, 1, 1)), len(codes), axis=1)
    assert fit_decay(error_covariance(same), codes) == 0.99
    assert fit_decay(error_covariance(rng.standard_normal((5000, len(codes), 1))), codes) == pytest.approx(0.05**0.3)


@pytest.mark.parametrize("codes", [np.zeros((1, 0), np.int32), np.zeros((1, 3), np.int32)])
def test_a_single_profile_has_nothing_to_decay_to(codes):
    assert fit_decay(error_covariance(np.ones((4, 1, 2))), codes) == 0.99


def test_errors_of_nothing_give_a_number():
    codes = lattice.all_profiles(Schema.binary("ab"))
    assert 0.05 <= fit_decay(error_covariance(np.zeros((4, 4, 2))), codes) <= 0.99


# --- neighbours -----------------------------------------------------------------------------------------


def test_a_profile_is_averaged_with_those_that_differ_in_one_covariate():
    values = np.random.default_rng(0).random((len(EVERY), 3))
    apart = (EVERY[:, None] != EVERY[None]).sum(axis=2)
    expected = np.stack([values[row <= 1].mean(axis=0) for row in apart])
    np.testing.assert_allclose(smooth_over_neighbours(values, EVERY), expected)


def test_what_is_the_same_everywhere_stays_and_nothing_is_lost():
    np.testing.assert_allclose(smooth_over_neighbours(np.full((len(EVERY), 2), 0.7), EVERY), 0.7)
    values = np.random.default_rng(1).random((len(EVERY), 2))
    np.testing.assert_allclose(smooth_over_neighbours(values, EVERY).sum(axis=0), values.sum(axis=0))


def test_without_covariates_there_are_no_neighbours():
    values = np.array([[1.0, 2.0]])
    np.testing.assert_array_equal(smooth_over_neighbours(values, np.zeros((1, 0), np.int32)), values)


# --- distance -------------------------------------------------------------------------------------------


def test_only_what_a_query_fixes_can_differ():
    profiles = np.array([[0, 0, 0, 0], [1, 2, 1, 0], [1, 0, 0, 0]], dtype=np.int32)
    queries = np.array([[0, 0, 0, 0], [1, OPEN, 0, OPEN], [OPEN] * 4], np.int32)
    assert hamming(queries, profiles).tolist() == [[0, 3, 1], [1, 1, 0], [0, 0, 0]]
    assert hamming(queries, profiles[:0]).shape == (3, 0)


# --- draws ----------------------------------------------------------------------------------------------

DRAWS = 4000
# A standard deviation of so many draws is known to one in sqrt(2 DRAWS), a correlation to one in sqrt(DRAWS).


def test_draws_are_as_large_as_expected():
    error = np.random.default_rng(1).uniform(0.01, 0.2, size=(len(EVERY), 3))
    drawn = draw_errors(LAW, error, EVERY, np.array([0.9, 0.5, 0.7]), TWO_BY_TWO, DRAWS)
    assert drawn.shape == (DRAWS, *LAW.shape)
    expected = np.repeat(error, [2, 2, 4], axis=1) * np.sqrt(LAW * (1 - LAW))
    np.testing.assert_allclose(drawn.std(axis=0), expected, rtol=5 / np.sqrt(2 * DRAWS))
    np.testing.assert_allclose(drawn.mean(axis=0), 0, atol=5 * expected.max() / np.sqrt(DRAWS))


def test_what_is_drawn_of_a_group_adds_up_to_nothing():
    drawn = draw_errors(LAW, np.full((len(EVERY), 3), 0.1), EVERY, np.full(3, 0.5), TWO_BY_TWO, 10)
    for cells in TWO_BY_TWO.group_slices:
        np.testing.assert_allclose(drawn[..., cells].sum(axis=2), 0, atol=1e-12)


def test_draws_are_as_alike_as_their_profiles():
    """Where laws are alike, the correlation is the decay to the power of the covariates that differ."""
    law, decay = np.repeat(LAW[:1], len(EVERY), axis=0), np.array([0.9, 0.5, 0.7])
    drawn = draw_errors(law, np.full((len(EVERY), 3), 0.1), EVERY, decay, TWO_BY_TWO, DRAWS)
    apart = (EVERY[:, None] != EVERY[None]).sum(axis=2)
    for cell, factor in ((0, 0.9), (2, 0.5), (5, 0.7)):
        np.testing.assert_allclose(np.corrcoef(drawn[:, :, cell].T), factor**apart, atol=5 / np.sqrt(DRAWS))
    across = np.corrcoef(drawn[:, 0, 0], drawn[:, 0, 2])[0, 1]
    assert abs(across) < 5 / np.sqrt(DRAWS)


def test_draws_are_the_same_each_time():
    arguments = LAW, np.full((len(EVERY), 3), 0.1), EVERY, np.full(3, 0.5), TWO_BY_TWO, 8
    np.testing.assert_array_equal(draw_errors(*arguments), draw_errors(*arguments))


def test_errors_of_nobody_and_of_an_experiment_alone_are_drawn_too():
    assert draw_errors(LAW[:0], np.ones((0, 3)), EVERY[:0], np.full(3, 0.5), TWO_BY_TWO, 4).shape == (4, 0, 8)
    alone = TWO_BY_TWO.only([EXPERIMENTAL])
    nobody = np.zeros((1, 0), np.int32)
    drawn = draw_errors(LAW[:1, :4], np.array([[0.1, 0.2]]), nobody, np.full(2, 0.5), alone, DRAWS)
    np.testing.assert_allclose(
        drawn[:, 0, ::2].std(axis=0), [0.1, 0.2] * np.sqrt(LAW[0, :4:2] * (1 - LAW[0, :4:2])), rtol=0.06
    )
