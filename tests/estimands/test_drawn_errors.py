"""Standard errors of ends by drawing: those of the delta method where an end is smooth, and smaller at ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laws import asking, empirical_law, of_types
from pnsight.data.law import Law
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.estimands.confidence import linear_standard_error
from pnsight.estimands.drawn_errors import DRAWS, EndErrors, drawn_errors
from strategies import coherent_laws

# Sixty-four points that spread evenly: a variance is known to about sqrt(2 / 64), less what the evenness takes off it.
CLOSE = 0.1
ROWS = np.array([[1000.0, 800.0, 5000.0]])


def errors_of(quantity, law, rows, payoffs=None) -> EndErrors:
    question = asking(quantity, payoffs)
    return drawn_errors(question.bounds_at, law, rows, question.span)


def largest_terms(quantity, law) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of the functions of the law that are the lower and the upper end, shape (laws, cells) each."""
    found = asking(quantity).compiled(TWO_BY_TWO).numerator
    lower, upper = found.lower(law).argmax(axis=0), found.upper(law).argmin(axis=0)
    return found.lower.coefficients[lower], found.upper.coefficients[upper]


SMOOTH = of_types(np.array([[6, 8, 1, 5, 5, 9, 1, 5], [2, 12, 2, 4, 9, 3, 4, 4.0]]) / 40)
"""Laws at which one function is well above the others: the nearest is several standard errors away."""


@pytest.mark.parametrize("quantity", ["pns", "harm"])
@pytest.mark.parametrize("scale", [20, 1000])
def test_where_an_end_is_smooth_its_error_is_that_of_the_delta_method(quantity, scale):
    rows = np.repeat(scale * ROWS, len(SMOOTH), axis=0)
    found = errors_of(quantity, SMOOTH, rows)
    compiled = asking(quantity).compiled(TWO_BY_TWO).numerator
    for drawn, gradient, terms, side in zip(
        found.ends, largest_terms(quantity, SMOOTH), (compiled.lower, compiled.upper), (-1, 1), strict=True
    ):
        expected = linear_standard_error(gradient, SMOOTH, rows)
        first, second = np.sort(side * terms(SMOOTH), axis=0)[:2]
        smooth = second - first > 6 * expected
        assert smooth.any()
        assert drawn[smooth] == pytest.approx(expected[smooth], rel=CLOSE)


def test_the_error_of_the_width_is_that_of_a_difference():
    """Upper less lower of an experiment alone, at a > b and a + b < 1: a - (a - b) = b, whatever a is."""
    law = empirical_law(np.array([[400.0, 600, 200, 800]]))
    found = errors_of("pns", law, np.array([[1000.0, 1000.0]]))
    a, b = 0.4 * 0.6 / 1000, 0.2 * 0.8 / 1000
    assert found.lower == pytest.approx([np.sqrt(a + b)], rel=CLOSE)
    assert found.upper == pytest.approx([np.sqrt(a)], rel=CLOSE)
    assert found.width == pytest.approx([np.sqrt(b)], rel=CLOSE)


def test_at_a_tie_an_end_strays_less_than_any_of_its_terms():
    """max(0, a - b) at a = b: half of a normal distribution is cut off, which leaves sqrt(1/2 - 1/(2 pi)) of its sd."""
    law = empirical_law(np.array([[300.0, 700, 300, 700]]))
    found = errors_of("pns", law, np.array([[1000.0, 1000.0]]))
    of_term = np.sqrt(2 * 0.3 * 0.7 / 1000)
    assert found.lower == pytest.approx([of_term * np.sqrt(1 / 2 - 1 / (2 * np.pi))], rel=0.15)


def test_at_a_tie_an_end_is_too_far_inwards_by_the_mean_of_what_is_left():
    """The mean of max(0, d) for a normal d around zero is .399 of its standard deviation."""
    law = empirical_law(np.array([[300.0, 700, 300, 700]]))
    found = errors_of("pns", law, np.array([[1000.0, 1000.0]]))
    of_term = np.sqrt(2 * 0.3 * 0.7 / 1000)
    assert found.excess[0] == pytest.approx([of_term / np.sqrt(2 * np.pi)], rel=0.15)


def test_at_a_tie_of_all_four_terms_the_end_strays_less_than_the_least_certain():
    law = of_types(np.full((1, 8), 1 / 8))
    found = errors_of("pns", law, ROWS)
    for drawn, terms in zip(found.ends, ("lower", "upper"), strict=True):
        each = getattr(asking("pns").compiled(TWO_BY_TWO).numerator, terms).coefficients
        errors = [linear_standard_error(row[None], law, ROWS)[0] for row in each]
        assert drawn[0] < max(errors)


@pytest.mark.parametrize("quantity", ["pns", "pn", "ps", "pd", "pe", "harm"])
@given(law=coherent_laws(), rows=st.lists(st.integers(5, 10**6), min_size=3, max_size=3))
def test_errors_are_finite_and_within_the_span(quantity, law, rows):
    found = errors_of(quantity, law, np.array([rows], float))
    assert (np.array([*found.ends, found.width]) >= 0).all()
    undefined = np.isnan(asking(quantity).bounds_at(law))  # of an impossible event, which drawn laws make possible
    assert ((np.array(found.excess) >= 0) | undefined).all()
    assert (np.array(found.ends) <= 0.5 + 1e-9).all()  # the most that values from 0 to 1 can stray
    assert (found.width <= 1 + 1e-9).all()  # the ends of a drawn law may cross


@given(law=coherent_laws())
def test_a_hundred_times_the_rows_leave_about_a_tenth_of_the_error(law):
    """Up to what ties make of it, and what is rare: a share of zero is not known for certain."""
    few, many = (errors_of("pns", law, scale * ROWS) for scale in (1, 100))
    for before, after in zip(few.ends, many.ends, strict=True):
        assert (after <= 0.25 * before + 1e-3).all()


def test_the_same_law_has_the_same_error_each_time_and_among_others():
    laws = of_types(np.random.default_rng(0).dirichlet(np.ones(8), size=5))
    rows = np.repeat(ROWS, 5, axis=0)
    once, again = errors_of("pns", laws, rows), errors_of("pns", laws, rows)
    for first, second in zip(once, again, strict=True):
        np.testing.assert_array_equal(first, second)
    for place in range(5):
        alone = errors_of("pns", laws[place : place + 1], ROWS)
        assert [error[0] for error in alone] == pytest.approx([error[place] for error in once], rel=1e-12)


def test_where_a_group_is_worth_no_rows_nothing_is_known():
    law = of_types(np.full((2, 8), 1 / 8))
    found = errors_of("pns", law, np.array([[100.0, 0.0, 100.0], [100.0, 50.0, 100.0]]))
    assert np.isnan([found.lower[0], found.upper[0], found.width[0]]).all()
    assert np.isfinite([found.lower[1], found.upper[1], found.width[1]]).all()


def test_payoffs_scale_the_errors():
    law = SMOOTH[:1]
    one, hundred = (errors_of("benefit", law, ROWS, (scale, 0, 0, -scale)) for scale in (1, 100))
    assert hundred.lower == pytest.approx(100 * one.lower)


def test_any_function_of_the_law_can_be_drawn():
    """Of a share itself the error is the binomial one."""
    law = empirical_law(np.array([[30.0, 70, 50, 50]]))

    def share(drawn: Law) -> tuple[np.ndarray, np.ndarray]:
        return drawn.cells[:, 0], drawn.cells[:, 2]

    found = drawn_errors(share, law, np.array([[400.0, 900.0]]), (0.0, 1.0))
    assert found.lower == pytest.approx([np.sqrt(0.3 * 0.7 / 400)], rel=CLOSE)
    assert found.upper == pytest.approx([np.sqrt(0.5 * 0.5 / 900)], rel=CLOSE)
    assert DRAWS & (DRAWS - 1) == 0
