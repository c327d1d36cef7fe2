"""How far an estimate may be off: variances by hand, and a factor that held-out rows can only raise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pnsight import lattice
from pnsight.law import COUNTED_CELLS
from pnsight.models.calibration import FACTORS, SUBPOPULATIONS, error_variance, spread_factor, subpopulations
from pnsight.schema import Schema

SAME = np.array([0, 0, 0, 0])


# --- variance of the error ------------------------------------------------------------------------------


def test_what_the_refits_strayed_counts_whole_whatever_the_networks_own_start():
    networks = np.array([[0.1], [0.3], [0.1], [0.3]])
    assert error_variance(np.array([0.05]), networks, SAME) == pytest.approx([0.05])


def test_networks_that_agree_leave_what_the_refits_strayed():
    assert error_variance(np.array([0.02, 0.0]), np.full((4, 2), 0.4), SAME) == pytest.approx([0.02, 0])


def test_what_separates_the_rungs_counts_twice():
    networks = np.array([[0.1], [0.3], [0.5], [0.7]])
    rungs = np.array([4, 4, 9, 9])
    within = (2 * 0.1**2 + 2 * 0.1**2) / 2  # both rungs stray by a tenth from their own mean; 4 - 2 degrees of freedom
    whole = (2 * 0.3**2 + 2 * 0.1**2) / 3
    expected = 0.05 + 2 * (whole - within)
    assert error_variance(np.array([0.05]), networks, rungs) == pytest.approx([expected])


def test_one_network_a_rung_has_no_spread_within():
    networks, rungs = np.array([[0.2], [0.4]]), np.array([1, 0])
    assert error_variance(np.array([0.03]), networks, rungs) == pytest.approx([0.03 + 2 * 0.02])


def test_rungs_that_differ_less_than_their_members_add_nothing():
    networks, rungs = np.array([[0.1], [0.3], [0.1], [0.3]]), np.array([0, 0, 1, 1])
    assert error_variance(np.array([0.05]), networks, rungs) == pytest.approx([0.05])


@given(seed=st.integers(0, 2**32 - 1), rungs=st.lists(st.integers(0, 3), min_size=2, max_size=8))
def test_the_variance_has_the_shape_asked_for_and_is_at_least_the_strays(seed, rungs):
    rng = np.random.default_rng(seed)
    strays = rng.random((2, 5))
    found = error_variance(strays, rng.random((len(rungs), 2, 5)), np.array(rungs))
    assert found.shape == (2, 5)
    assert (found >= strays).all()


# --- the factor -----------------------------------------------------------------------------------------


SCHEMA = Schema.binary("abc")
PROFILES = lattice.exact_queries(SCHEMA)


def setting(rows, stray=0.02, seed=0):
    """A truth, networks and refits that stray from it, held-out rows drawn from it, and subpopulations."""
    rng = np.random.default_rng(seed)
    true = rng.dirichlet(np.full(8, 3.0), size=8)
    versions = [np.abs(true + rng.normal(scale=stray, size=(k, 8, 8))) for k in (4, 16)]
    networks, refits = (version / version.sum(axis=2, keepdims=True) for version in versions)
    cells = true @ COUNTED_CELLS.T
    held_out = []
    for _ in range(2):
        blocks = [rng.multinomial(rows, c / c.sum(axis=1, keepdims=True)) for c in np.split(cells, [2, 4], axis=1)]
        held_out.append(np.concatenate(blocks, axis=1).astype(float))
    return true, networks, refits, held_out, subpopulations(PROFILES, np.ones(8), rng)


@pytest.mark.parametrize("seed", range(3))
def test_where_held_out_rows_agree_the_factor_is_the_least(seed):
    true, networks, refits, held_out, covers = setting(500, seed=seed)
    assert spread_factor(true, networks, SAME, refits, [true, true], held_out, covers, 0.75) == FACTORS[0]


@pytest.mark.parametrize("seed", range(3))
def test_where_foretold_laws_are_plainly_off_the_factor_is_larger(seed):
    true, networks, refits, held_out, covers = setting(500, stray=0.01, seed=seed)
    off = true[::-1]
    assert spread_factor(true, networks, SAME, refits, [off, off], held_out, covers, 0.75) == FACTORS[-1]


def test_the_factor_grows_with_the_error():
    """The foretold law of each profile goes part of the way to that of another one."""
    true, networks, refits, held_out, covers = setting(5000, stray=0.01)
    towards = np.roll(true, 1, axis=0) - true
    found = [
        spread_factor(true, networks, SAME, refits, [true + share * towards] * 2, held_out, covers, 0.75)
        for share in (0, 0.05, 0.1, 0.4)
    ]
    assert found == sorted(found)
    assert FACTORS[0] == found[0] < found[-1]


def test_who_saw_fewer_rows_may_miss_by_more():
    true, networks, refits, held_out, covers = setting(5000, stray=0.01)
    off = true + 0.2 * (np.roll(true, 1, axis=0) - true)
    some, more = (spread_factor(true, networks, SAME, refits, [off] * 2, held_out, covers, seen) for seen in (0.5, 1))
    assert FACTORS[0] < some < more


def test_without_a_subpopulation_of_enough_rows_the_factor_is_the_least():
    true, networks, refits, held_out, covers = setting(1)
    off = true[::-1]
    assert spread_factor(true, networks, SAME, refits, [off, off], held_out, covers[:1] * 0, 0.75) == FACTORS[0]
    few = [counts * 0 for counts in held_out]
    assert spread_factor(true, networks, SAME, refits, [off, off], few, covers, 0.75) == FACTORS[0]


def test_an_experiment_alone_is_judged_by_its_arms():
    true, networks, refits, held_out, covers = setting(500, stray=0.01)
    alone = [counts * ([1] * 4 + [0] * 4) for counts in held_out]
    off = true[::-1]
    assert spread_factor(true, networks, SAME, refits, [true, true], alone, covers, 0.75) == FACTORS[0]
    assert spread_factor(true, networks, SAME, refits, [off, off], alone, covers, 0.75) == FACTORS[-1]


# --- subpopulations -------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32 - 1), only=st.integers(0, 7))
def test_a_subpopulation_covers_the_person_it_was_drawn_around(seed, only):
    rows = np.zeros(8)
    rows[only] = 3
    covers = subpopulations(PROFILES, rows, np.random.default_rng(seed))
    assert (covers[:, only] == 1).all()


@given(seed=st.integers(0, 2**32 - 1))
def test_a_subpopulation_is_what_a_query_covers(seed):
    covers = subpopulations(PROFILES, np.arange(1.0, 9), np.random.default_rng(seed))
    possible = {tuple(row) for row in lattice.sum_over(SCHEMA, lattice.mask_queries(SCHEMA), PROFILES, np.eye(8))}
    found = [tuple(row) for row in covers]
    assert set(found) <= possible
    assert len(set(found)) == len(found) <= SUBPOPULATIONS


def test_of_few_covariates_every_query_is_among_the_subpopulations():
    """The rarest of the 27 queries has a chance of 1/48 a draw: 600 draws miss it three times in a million."""
    assert len(subpopulations(PROFILES, np.ones(8), np.random.default_rng(0))) == 27


def test_without_covariates_there_is_one_subpopulation_everyone():
    covers = subpopulations(np.zeros((1, 0), dtype=np.int32), np.array([5.0]), np.random.default_rng(0))
    assert covers.tolist() == [[1.0]]
