"""One test of independence: exact moments, right levels also where cells are nearly empty."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from pnsight.diagnostics.stratified_chi2 import association


def groups_of(rows: list[int], first: list[int]) -> np.ndarray:
    """People of each cell in the first and in the second group."""
    return np.array([first, np.subtract(rows, first)], dtype=float).T


def cells(number: int) -> np.ndarray:
    return np.arange(number)


def every_split(rows: list[int], size: int) -> list[list[int]]:
    """All ways to draw a first group of that size from people who are told apart."""
    people = np.repeat(np.arange(len(rows)), rows)
    return [
        np.bincount(people[list(drawn)], minlength=len(rows)).tolist()
        for drawn in combinations(range(len(people)), size)
    ]


@pytest.mark.parametrize(("rows", "size"), [([4, 3, 2, 1], 5), ([1] * 8, 3), ([6, 2], 4), ([2, 2], 1), ([9, 1, 1], 5)])
def test_mean_and_variance_are_those_of_all_splits(rows, size):
    found = [association(groups_of(rows, first), cells(len(rows))) for first in every_split(rows, size)]
    statistics = np.array([one.statistic for one in found])
    assert found[0].mean == pytest.approx(statistics.mean())
    assert found[0].variance == pytest.approx(statistics.var())


def test_with_many_people_it_is_the_usual_test():
    table = np.array([[300.0, 340.0], [410.0, 380.0], [290.0, 280.0]])
    usual = chi2_contingency(table, correction=False)
    found = association(table, cells(3))
    assert found.statistic == pytest.approx(usual.statistic)
    assert found.p_value == pytest.approx(usual.pvalue, rel=0.01)


@pytest.mark.parametrize("people", [1, 2, 5])
def test_the_level_holds_where_cells_are_nearly_empty(people):
    """The usual chi-square test is far off here: its level is 0 with one person a cell."""
    rng = np.random.default_rng(people)
    rows, studies = [people] * 60, 2_000
    shuffled = (rng.multivariate_hypergeometric(rows, 20 * people, size=studies)).tolist()
    alarms = sum(association(groups_of(rows, first), cells(60)).p_value < 0.05 for first in shuffled)
    assert alarms <= 0.05 * studies + 3 * np.sqrt(0.05 * 0.95 * studies)


def test_strata_add_up():
    rng = np.random.default_rng(1)
    table, strata = rng.integers(0, 9, size=(12, 2)).astype(float), np.repeat([0, 1, 2], 4)
    parts = [association(table[strata == s], cells(4)) for s in range(3)]
    whole = association(table, np.tile(cells(4), 3), strata)
    for name in ("statistic", "mean", "variance", "rows"):
        assert getattr(whole, name) == pytest.approx(sum(getattr(part, name) for part in parts))


def test_what_the_stratum_explains_is_no_association():
    """Within a stratum the shares are equal, between strata they are not."""
    table = np.array([[90.0, 10.0], [180.0, 20.0], [10.0, 90.0], [20.0, 180.0]])
    cell, stratum = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    assert association(table, stratum).p_value < 1e-50
    assert association(table, cell, stratum).statistic == pytest.approx(0)
    assert association(table, cell, stratum).size == 0


def test_size_is_the_correlation_with_the_best_prediction():
    assert association(np.array([[1e6, 0.0], [0.0, 1e6]]), cells(2)).size == pytest.approx(1, abs=1e-6)
    assert association(np.array([[6e5, 4e5], [4e5, 6e5]]), cells(2)).size == pytest.approx(0.2, abs=1e-5)


@pytest.mark.parametrize("table", [[[0, 0], [0, 0]], [[5, 0], [9, 0]], [[5, 4], [0, 0]], [[1, 0], [0, 1]]])
def test_where_nothing_can_be_compared_nothing_is_surprising(table):
    found = association(np.array(table, dtype=float), cells(2))
    assert (found.p_value, found.size) == (1.0, 0.0)
