"""Rows that show less than a cell: Kaplan and Meier's estimate, Greenwood's variance, and what such rows are worth."""

from __future__ import annotations

import numpy as np
import pytest

from pnsight.data.coarsened import coarsened_shares, effective_counts, information_covariance
from pnsight.data.law import Law
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL
from pnsight.data.time_to_event import time_to_event
from pnsight.data.two_by_two import TWO_BY_TWO, two_by_two

SURVIVAL = time_to_event(("0", "1"), (30, 90, 365), (EXPERIMENTAL,))
UNKNOWN = two_by_two(missing="set")


def kaplan_meier(events, censored):
    """Shares of the intervals and variances of the curve, from events in each and rows censored before each."""
    at_risk = events.sum() + censored.sum()
    survival, risk, shares, variances = 1.0, 0.0, [], []
    for interval in range(len(events) - 1):
        at_risk -= censored[interval]
        hazard = events[interval] / at_risk
        shares.append(survival * hazard)
        survival *= 1 - hazard
        risk += events[interval] / (at_risk * (at_risk - events[interval]))
        variances.append(survival**2 * risk)
        at_risk -= events[interval]
    return np.array([*shares, survival]), np.array(variances)


@pytest.mark.parametrize("seed", range(5))
def test_shares_of_censored_times_are_kaplan_and_meier_s(seed):
    counts = np.random.default_rng(seed).integers(0, 60, (1, SURVIVAL.n_columns)).astype(float) + 1
    law = Law.from_counts(counts, SURVIVAL)
    for group, start in enumerate((0, 4)):
        sets = [SURVIVAL.n_cells + k for k, own in enumerate(SURVIVAL.group_of_set) if own == group]
        expected, _ = kaplan_meier(counts[0, start : start + 4], counts[0, sets])
        np.testing.assert_allclose(law.cells[0, start : start + 4], expected, atol=1e-10)


def test_the_variance_is_greenwood_s_where_rows_are_many():
    counts = np.random.default_rng(3).integers(500, 900, (1, SURVIVAL.n_columns)).astype(float)
    shares = coarsened_shares(counts, SURVIVAL)
    matrix = information_covariance(counts, shares, SURVIVAL)[0, :4, :4]
    later = [np.arange(4) > interval for interval in range(3)]
    found = [float(step @ matrix @ step) for step in np.array(later, dtype=float)]
    _, expected = kaplan_meier(counts[0, :4], counts[0, 8:11])
    np.testing.assert_allclose(found, expected, rtol=0.01)


def test_without_sets_the_shares_are_counted_to_the_digit():
    counts = np.random.default_rng(0).integers(1, 50, (3, 8)).astype(float)
    np.testing.assert_array_equal(Law.from_counts(counts, TWO_BY_TWO).cells, TWO_BY_TWO.probabilities(counts))
    padded = np.column_stack([counts, np.zeros((3, 4))])
    np.testing.assert_array_equal(Law.from_counts(padded, UNKNOWN).cells, TWO_BY_TWO.probabilities(counts))


def test_a_missing_outcome_of_a_trial_says_nothing_and_of_a_registry_what_was_chosen():
    counts = np.array([[10, 30, 20, 20, 30, 10, 20, 40]], dtype=float)
    unknown = np.array([[7, 5, 60, 40]], dtype=float)  # x, x' of the trial, then of the registry
    found = Law.from_counts(np.column_stack([counts, unknown]), UNKNOWN)
    plain = Law.from_counts(counts, TWO_BY_TWO)
    np.testing.assert_allclose(found.table(EXPERIMENTAL), plain.table(EXPERIMENTAL), atol=1e-12)
    chose = np.array([40 + 60, 60 + 40]) / 200
    within = np.array([30 / 40, 10 / 40, 20 / 60, 40 / 60])
    np.testing.assert_allclose(found.table(OBSERVATIONAL)[0], within * chose.repeat(2), atol=1e-10)


def test_a_group_whose_rows_do_not_tell_its_cells_apart_is_unknown():
    counts = np.zeros((2, SURVIVAL.n_columns))
    counts[:, 4:8] = 5  # the other arm
    counts[:, 0] = 10
    counts[0, SURVIVAL.n_cells + 1] = 4  # all others are censored after 30, nobody is seen later
    counts[1, SURVIVAL.n_cells] = 4  # nothing is known of the others, who then are like those who were seen
    found = Law.from_counts(counts, SURVIVAL).cells
    assert np.isnan(found[0, :4]).all()
    np.testing.assert_allclose(found[1, :4], [1, 0, 0, 0], atol=1e-9)
    assert not np.isnan(found[:, 4:]).any()


def test_effective_rows_lie_between_those_seen_and_all_and_keep_what_was_seen():
    rng = np.random.default_rng(1)
    counts = rng.integers(1, 50, (6, SURVIVAL.n_columns)).astype(float)
    law = coarsened_shares(counts, SURVIVAL)
    found = effective_counts(counts, law, SURVIVAL)
    rows = SURVIVAL.by_group(found)
    assert (rows >= SURVIVAL.by_group(counts[:, : SURVIVAL.n_cells])).all()
    assert (rows < SURVIVAL.by_group(counts)).all()
    np.testing.assert_allclose(SURVIVAL.probabilities(found), law, atol=1e-8)  # at the most likely law nothing pulls


def test_a_set_of_everything_is_worth_nothing():
    counts = np.zeros((1, SURVIVAL.n_columns))
    counts[0, :8], counts[0, SURVIVAL.n_cells] = 3.0, 100.0
    law = coarsened_shares(counts, SURVIVAL)
    assert SURVIVAL.by_group(effective_counts(counts, law, SURVIVAL))[0, 0] == pytest.approx(12)
