"""How far an estimate may be off: variances by hand, and a factor that held-out rows raise or lower."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pnsight.data.schema import Schema
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.models.response_types.config import IntervalConfig
from pnsight.models.response_types.intervals import (
    error_variance,
    interval_inflation,
    random_subpopulations,
)
from pnsight.queries import lattice

PRIOR, SUBPOPULATIONS = IntervalConfig().inflation, IntervalConfig().subpopulations
FAR_OFF = PRIOR * np.exp(3 * IntervalConfig().log_inflation_sd)
"""A factor that the prior alone gives to one study in a thousand."""

# --- variance of the error ------------------------------------------------------------------------------


def test_what_both_fits_are_wrong_about_counts_whole():
    """Two studies: both fits miss the one by 0.2 and the other by 0.1, to whatever side."""
    studies = np.array([[[0.3], [0.5], [0.5]], [[0.6], [0.5], [0.5]]])
    assert error_variance(studies, networks=8) == pytest.approx([(0.2**2 + 0.1**2) / 2])


def test_of_what_only_one_fit_is_wrong_about_a_mean_of_networks_keeps_its_part():
    studies = np.array([[[0.3], [0.5], [0.3]], [[0.3], [0.3], [0.1]]])
    assert error_variance(studies, networks=4) == pytest.approx([0.2**2 / 2 / 4])
    assert error_variance(studies, networks=1) == pytest.approx([0.2**2 / 2])


def test_fits_that_miss_to_opposite_sides_share_nothing():
    studies = np.array([[[0.3], [0.4], [0.2]]])
    assert error_variance(studies, networks=8) == pytest.approx([0.2**2 / 2 / 8])


def test_the_variance_is_that_of_a_mean_of_networks():
    """Every study moves all networks alike, and every network has a start of its own."""
    rng = np.random.default_rng(0)
    size, networks = 100_000, 5
    moved, own, true = rng.normal(scale=0.3, size=size), rng.normal(scale=0.4, size=(2, size)), rng.random(size)
    found = error_variance(np.stack([true, true + moved + own[0], true + moved + own[1]], axis=1), networks)
    # The mean of a product of two such errors has a standard error of about (0.3^2 + 0.4^2) / sqrt(size).
    assert found == pytest.approx(0.3**2 + 0.4**2 / networks, abs=5 * 0.25 / np.sqrt(size))


@given(seed=st.integers(0, 2**32 - 1), studies=st.integers(1, 8), networks=st.integers(1, 9))
def test_the_variance_has_the_shape_asked_for_and_is_never_negative(seed, studies, networks):
    found = error_variance(np.random.default_rng(seed).random((studies, 3, 2, 5)), networks)
    assert found.shape == (2, 5)
    assert (found >= 0).all()


# --- the factor -----------------------------------------------------------------------------------------


SCHEMA = Schema.binary("abc")
PROFILES = lattice.all_profiles(SCHEMA)


def setting(rows, stray=0.02, seed=0):
    """A true law, laws with fits that stray from them, held-out rows drawn from the truth, and subpopulations."""
    rng = np.random.default_rng(seed)
    types = rng.dirichlet(np.full(8, 3.0), size=8)
    fit = np.abs(types + rng.normal(scale=stray, size=(16, 8, 8)))
    fit /= fit.sum(axis=2, keepdims=True)
    true = TWO_BY_TWO.cell_probabilities(types)
    studies = np.stack([np.broadcast_to(true, (16, 8, 8)), *[TWO_BY_TWO.cell_probabilities(fit)] * 2], axis=1)
    held_out = []
    for _ in range(2):
        blocks = [rng.multinomial(rows, c / c.sum(axis=1, keepdims=True)) for c in np.split(true, [2, 4], axis=1)]
        held_out.append(np.concatenate(blocks, axis=1).astype(float))
    return true, studies, held_out, random_subpopulations(PROFILES, np.ones(8), rng, SUBPOPULATIONS)


@pytest.mark.parametrize("seed", range(3))
def test_where_held_out_rows_agree_the_factor_is_smaller_than_its_prior(seed):
    true, studies, held_out, membership = setting(500, seed=seed)
    assert interval_inflation(studies, 4, [true, true], held_out, membership, 0.75, TWO_BY_TWO) < PRIOR


@pytest.mark.parametrize("seed", range(3))
def test_where_predicted_laws_are_plainly_off_the_factor_is_larger(seed):
    true, studies, held_out, membership = setting(500, stray=0.01, seed=seed)
    off = true[::-1]
    assert interval_inflation(studies, 4, [off, off], held_out, membership, 0.75, TWO_BY_TWO) > FAR_OFF


def test_the_factor_grows_with_the_error():
    """The predicted law of each profile goes part of the way to that of another one."""
    true, studies, held_out, membership = setting(5000, stray=0.01)
    towards = np.roll(true, 1, axis=0) - true
    found = [
        interval_inflation(studies, 4, [true + share * towards] * 2, held_out, membership, 0.75, TWO_BY_TWO)
        for share in (0, 0.05, 0.1, 0.4)
    ]
    assert found == sorted(found)
    assert found[0] < PRIOR < found[-1]


def test_who_saw_fewer_rows_may_miss_by_more():
    true, studies, held_out, membership = setting(5000, stray=0.01)
    off = true + 0.2 * (np.roll(true, 1, axis=0) - true)
    some, more = (
        interval_inflation(studies, 4, [off] * 2, held_out, membership, seen, TWO_BY_TWO) for seen in (0.5, 1)
    )
    assert PRIOR < some < more


def test_who_foretells_by_fewer_networks_may_miss_by_more():
    """Half of what the fits miss is their own start, of which a mean of many keeps little."""
    true, studies, held_out, membership = setting(5000, stray=0.01)
    law, fit, other = studies[:, 0], studies[:, 1], setting(5000, stray=0.01, seed=3)[1][:, 1] - setting(1, seed=3)[0]
    apart = np.stack([law, fit, law + other], axis=1)
    off = true + 0.1 * (np.roll(true, 1, axis=0) - true)
    many, one = (
        interval_inflation(apart, networks, [off] * 2, held_out, membership, 0.75, TWO_BY_TWO) for networks in (8, 1)
    )
    assert one < many


def test_without_a_subpopulation_of_enough_rows_the_factor_is_that_of_its_prior():
    """The factors that are averaged over reach three deviations up and two down, so the mean is a little higher."""
    true, studies, held_out, membership = setting(1)
    off = true[::-1]
    nobody = interval_inflation(studies, 4, [off, off], held_out, membership[:1] * 0, 0.75, TWO_BY_TWO)
    assert nobody == pytest.approx(PRIOR, rel=0.01)
    few = [counts * 0 for counts in held_out]
    assert interval_inflation(studies, 4, [off, off], few, membership, 0.75, TWO_BY_TWO) == nobody


def test_an_experiment_alone_is_judged_by_its_arms():
    true, studies, held_out, membership = setting(500, stray=0.01)
    alone = [counts * ([1] * 4 + [0] * 4) for counts in held_out]
    off = true[::-1]
    assert interval_inflation(studies, 4, [true, true], alone, membership, 0.75, TWO_BY_TWO) < PRIOR
    assert interval_inflation(studies, 4, [off, off], alone, membership, 0.75, TWO_BY_TWO) > FAR_OFF


def test_a_subpopulation_named_twice_counts_once():
    true, studies, held_out, membership = setting(5000, stray=0.01)
    off = true + 0.1 * (np.roll(true, 1, axis=0) - true)
    once, twice = (
        interval_inflation(studies, 4, [off] * 2, held_out, some, 0.75, TWO_BY_TWO)
        for some in (membership, np.concatenate([membership, membership]))
    )
    assert twice == pytest.approx(once)


# --- subpopulations -------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32 - 1), only=st.integers(0, 7))
def test_a_subpopulation_covers_the_person_it_was_drawn_around(seed, only):
    rows = np.zeros(8)
    rows[only] = 3
    membership = random_subpopulations(PROFILES, rows, np.random.default_rng(seed), SUBPOPULATIONS)
    assert (membership[:, only] == 1).all()


@given(seed=st.integers(0, 2**32 - 1))
def test_a_subpopulation_is_what_a_query_covers(seed):
    membership = random_subpopulations(PROFILES, np.arange(1.0, 9), np.random.default_rng(seed), SUBPOPULATIONS)
    possible = {tuple(row) for row in lattice.sum_over(SCHEMA, lattice.all_queries(SCHEMA), PROFILES, np.eye(8))}
    found = [tuple(row) for row in membership]
    assert set(found) <= possible
    assert len(set(found)) == len(found) <= SUBPOPULATIONS


def test_of_few_covariates_every_query_is_among_the_subpopulations():
    """The rarest of the 27 queries has a chance of 1/48 a draw: 600 draws miss it three times in a million."""
    assert len(random_subpopulations(PROFILES, np.ones(8), np.random.default_rng(0), SUBPOPULATIONS)) == 27


def test_without_covariates_there_is_one_subpopulation_everyone():
    membership = random_subpopulations(
        np.zeros((1, 0), dtype=np.int32), np.array([5.0]), np.random.default_rng(0), SUBPOPULATIONS
    )
    assert membership.tolist() == [[1.0]]
