"""What will be decided: an expectation in closed form, the same as drawing truths and estimates would give."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pnsight.decisions.planning import expected_decisions as outlook
from pnsight.decisions.planning.expected_decisions import ALL, NONE, Outlook

REACH = NormalDist().inv_cdf(0.95)
DRAWS = 200_000


def looking(lower, upper, error, threshold=0.5, factor=1.0, span=(0.0, 1.0)) -> Outlook:
    ends = np.array([np.atleast_1d(lower), np.atleast_1d(upper)], dtype=float)
    return Outlook(ends, np.full(ends.shape, error), factor, REACH, threshold, span)


def left(share) -> np.ndarray:
    return np.full((1, 2, 1), share)


@pytest.fixture
def steady(monkeypatch):
    """Fits that do not differ from one another."""
    monkeypatch.setattr(outlook, "ERRORS_VARY", 0.0)
    monkeypatch.setattr(outlook, "ESTIMATES_VARY", 0.0)


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
@pytest.mark.parametrize(("lower", "upper"), [(0.5, 0.9), (0.55, 0.9), (0.6, 0.9), (0.1, 0.45), (0.4, 0.6)])
def test_the_chances_are_those_of_drawing_a_truth_and_then_an_estimate(lower, upper, share, steady):
    """A truth around the estimate; then a new estimate, between the old one and the truth, from further rows."""
    error, rng = 0.05, np.random.default_rng(1)
    truth = error * rng.standard_normal(DRAWS)
    moved = (1 - share) * truth + np.sqrt(share * (1 - share)) * error * rng.standard_normal(DRAWS)
    margin = REACH * error * np.sqrt(share)
    treat, leave = looking(lower, upper, error).decided(left(share))
    assert treat[0, 0] == pytest.approx((lower + moved - margin >= 0.5).mean(), abs=2 * DRAWS**-0.5)
    assert leave[0, 0] == pytest.approx((upper + moved + margin < 0.5).mean(), abs=2 * DRAWS**-0.5)


def test_a_fresh_fit_differs_as_much_as_was_measured():
    error, rng = 0.05, np.random.default_rng(2)
    estimate = 0.6 + outlook.ESTIMATES_VARY * error * rng.standard_normal(DRAWS)
    margin = REACH * error * np.exp(outlook.ERRORS_VARY * rng.standard_normal(DRAWS))
    treat, _ = looking(0.6, 0.9, error).decided(ALL)
    assert treat[0, 0] == pytest.approx((estimate - margin >= 0.5).mean(), abs=2 * DRAWS**-0.5)


@given(
    lower=st.floats(0, 1),
    width=st.floats(0, 1),
    error=st.floats(1e-4, 0.3),
    factor=st.floats(1, 3.2),
    share=st.floats(0, 1),
)
def test_the_chances_are_chances(lower, width, error, factor, share):
    found = looking(lower, min(1.0, lower + width), error, factor=factor)
    treat, leave = found.decided(left(share))
    assert 0 <= treat[0, 0] <= 1
    assert 0 <= leave[0, 0] <= 1
    assert treat[0, 0] + leave[0, 0] <= 1 + 1e-9
    assert 0 <= found.uncertain(NONE)[0, 0] <= 1


def test_with_unlimited_rows_those_stay_uncertain_whose_bounds_are_on_both_sides():
    found = looking([0.2, 0.7, 0.1, 0.5], [0.8, 0.9, 0.3, 0.9], 0.01)
    assert found.uncertain(NONE)[0] == pytest.approx([1, 0, 0, 0.5], abs=1e-6)
    treat, leave = found.decided(left(1e-12))
    assert 1 - treat[0] - leave[0] == pytest.approx(found.uncertain(NONE)[0], abs=1e-4)


def test_nothing_is_gained_where_all_is_settled_or_nothing_can_be():
    found = looking([0.8, 0.05, 0.2], [0.95, 0.1, 0.8], 0.01)
    assert np.concatenate(found.gains(left(0.3))) == pytest.approx(np.zeros((2, 3)), abs=1e-9)


@given(distance=st.floats(-0.3, 0.3), share=st.floats(0.01, 0.99))
def test_known_bounds_that_are_one_number_are_settled_by_rows(distance, share):
    """Where bounds are one number, every person can be settled: rows are never expected to unsettle more of them."""
    found = looking(0.5 + distance, 0.5 + distance, 0.05)
    treat, leave = found.gains(left(share))
    assert treat[0, 0] + leave[0, 0] >= -0.01


def test_a_threshold_beyond_the_quantity_decides_everything():
    assert [chance[0, 0] for chance in looking(0.0, 0.1, 0.05, threshold=0.0).decided(left(0.5))] == [1, 0]
    assert [chance[0, 0] for chance in looking(0.9, 1.0, 0.05, threshold=1.1).decided(left(0.5))] == [0, 1]


def test_where_there_is_no_answer_nothing_is_decided():
    found = looking([np.nan, 0.9], [np.nan, 0.95], 0.01)
    treat, leave = found.decided(left(0.5))
    assert (treat[0, 0], leave[0, 0], found.uncertain(NONE)[0, 0]) == (0, 0, 0)
    assert treat[0, 1] == pytest.approx(1)


@pytest.mark.parametrize(
    ("threshold", "span", "treated"), [(0.0, (0.0, 0.0), 1.0), (1e308, (-1.0, 1.0), 0.0), (-1e308, (-1.0, 1.0), 1.0)]
)
def test_beyond_what_the_quantity_can_be_all_is_decided_however_sure_the_bounds_are(threshold, span, treated):
    treat, leave = looking(0.0, 0.0, 0.0, threshold, span=span).decided(ALL)
    assert (treat.tolist(), leave.tolist()) == ([[treated]], [[1 - treated]])
