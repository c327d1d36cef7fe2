"""How far rows reach: in a linear fit the exact answer is known, and what refits show comes near it."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pnsight.decisions.planning.information_borrowing import Reach, Rows, measure

COVARIATES, ROWS, REFITS = 7, 2000, 16
PROFILES = np.array(list(product((0, 1), repeat=COVARIATES)))
APART = (PROFILES[:, None] != PROFILES[None]).sum(axis=-1)
GROUPS = {"everyone": {}, "half": {0: 1}, "a quarter": {0: 1, 1: 1}}


CELLS = (slice(0, 2),)
"""One arm with two cells."""


class Linear:
    """A weighted linear regression of an outcome on products of up to `order` covariates, all exact."""

    def __init__(self, order: int) -> None:
        rng = np.random.default_rng(order)
        signs = 2.0 * PROFILES - 1
        chosen = [c for k in range(order + 1) for c in combinations(range(COVARIATES), k)]
        self.features = np.stack([signs[:, list(c)].prod(axis=1) for c in chosen], axis=1)
        level = rng.uniform(0.3, 0.7, COVARIATES)
        self.mass = np.where(PROFILES == 1, level, 1 - level).prod(axis=1)
        self.rate = np.full(len(PROFILES), 0.3)
        self.covariance = self.covariance_given(ROWS * self.mass)
        errors = rng.multivariate_normal(np.zeros(len(PROFILES)), self.covariance, REFITS, method="eigh")
        self.errors = errors - errors.mean(axis=0)

    def covariance_given(self, rows):
        weight = rows / (self.rate * (1 - self.rate))
        return self.features @ np.linalg.inv(self.features.T @ (weight[:, None] * self.features)) @ self.features.T

    def reach(self) -> Reach:
        cells = np.stack([self.rate, 1 - self.rate], axis=1)
        errors = np.stack([self.errors, -self.errors], axis=2)
        return measure(cells, errors, rows_of(ROWS * self.mass), self.mass, APART, CELLS)

    def left(self, rows):
        """The exact share of each profile's variance that further rows leave."""
        return np.diag(self.covariance_given(ROWS * self.mass + rows)) / np.diag(self.covariance)


def rows_of(rows) -> Rows:
    return Rows(rows[None, :, None], rows[None, :, None])


@pytest.fixture(scope="module", params=[0, 1, 2, 3])
def linear(request) -> Linear:
    return Linear(request.param)


def inside(group) -> np.ndarray:
    fixed = [PROFILES[:, j] == level for j, level in GROUPS[group].items()]
    return np.all([np.ones(len(PROFILES), dtype=bool), *fixed], axis=0)


@pytest.mark.parametrize("added", [300, 2000, 20_000])
@pytest.mark.parametrize("group", GROUPS)
def test_what_rows_leave_in_a_linear_fit_is_foretold(linear, group, added):
    """From sixteen refits, on average over people: within 0.12 in the group, and 0.25 outside it."""
    chosen = inside(group)
    rows = added * linear.mass * chosen / linear.mass[chosen].sum()
    foretold, exact = linear.reach().left(rows_of(rows))[0, :, 0], linear.left(rows)
    for part, tolerance in ((chosen, 0.12), (~chosen, 0.25)):
        if part.any():
            people = linear.mass * part / linear.mass[part].sum()
            assert people @ foretold == pytest.approx(people @ exact, abs=tolerance)


def test_the_rows_at_hand_account_for_what_is_known(linear):
    """The identity on which the method rests, within what sixteen refits can show."""
    reach = linear.reach()
    rows = ROWS * linear.mass
    told = (reach.own * rows)[0] + reach.nearby[0] @ rows
    assert linear.mass @ told == pytest.approx(1, abs=0.35)


def test_where_everybody_is_alike_rows_reach_everyone():
    linear = Linear(0)
    rows = np.where(PROFILES.sum(axis=1) == 0, 1000.0, 0.0)
    left = linear.reach().left(rows_of(rows))[0, :, 0]
    assert left == pytest.approx(np.full(len(PROFILES), 2 / 3), abs=0.15)


def test_where_profiles_have_nothing_in_common_rows_reach_nobody_else():
    linear = Linear(COVARIATES)
    left = linear.reach().left(rows_of(50.0 * inside("half")))[0, :, 0]
    assert np.average(left[inside("half")], weights=linear.mass[inside("half")]) < 0.5
    assert np.average(left[~inside("half")], weights=linear.mass[~inside("half")]) > 0.9


ADDITIVE = Linear(1).reach()


@given(rows=st.lists(st.floats(0, 1e6), min_size=128, max_size=128), more=st.floats(1, 100))
def test_further_rows_never_add_to_the_doubt(rows, more):
    reach, rows = ADDITIVE, np.array(rows)
    some, many = (reach.left(rows_of(rows * times))[0, :, 0] for times in (1.0, more))
    assert (some > 0).all()
    assert (some <= 1).all()
    assert (many <= some + 1e-12).all()


def test_no_rows_leave_all_of_the_doubt(linear):
    assert (linear.reach().left(rows_of(np.zeros(len(PROFILES)))) == 1).all()


def test_refits_that_all_agree_tell_nothing():
    linear = Linear(1)
    cells = np.stack([linear.rate, 1 - linear.rate], axis=1)
    none = np.zeros((REFITS, len(PROFILES), 2))
    reach = measure(cells, none, rows_of(ROWS * linear.mass), linear.mass, APART, CELLS)
    assert (reach.left(rows_of(ROWS * linear.mass)) == 1).all()
