"""The linear program over response types agrees with every closed form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given, settings

from cases import INCOHERENT
from closed_forms import QUANTITIES
from laws import of_types, p_y_do_x, p_y_do_x0, referee
from pnsight.data.arms_and_outcomes import arms_and_outcomes
from pnsight.data.law import Law
from pnsight.data.two_by_two import TWO_BY_TWO, two_by_two_law
from pnsight.errors import IncoherentError
from pnsight.estimands import bounds, incompatibility
from strategies import any_laws, coherent_laws, type_shares

EDGE = 1e-7


def closed_form(law: Law, quantity: str) -> tuple[float, float]:
    lower, upper = bounds(law, quantity)
    return float(lower[0]), float(upper[0])


@pytest.mark.parametrize("quantity", QUANTITIES)
@given(law=coherent_laws())
@example(law=of_types(np.eye(8)[[0]]))  # everyone alike: most cells have probability zero
@example(law=of_types(np.array([[0, 0.5, 0, 0, 0, 0, 0.5, 0]])))
@settings(max_examples=60)
def test_closed_form_equals_the_linear_program(law, quantity):
    np.testing.assert_allclose(closed_form(law, quantity), referee(law, quantity), atol=1e-9, rtol=0)


@pytest.mark.parametrize("quantity", ["pns", "harm"])
@given(law=coherent_laws())
@settings(max_examples=40)
def test_closed_form_equals_the_linear_program_for_an_experiment_alone(law, quantity):
    alone = two_by_two_law(p_y_do_x(law), p_y_do_x0(law))
    np.testing.assert_allclose(closed_form(alone, quantity), referee(alone, quantity), atol=1e-9, rtol=0)


@given(law=any_laws())
@settings(max_examples=100)
def test_a_law_has_no_violation_exactly_when_some_population_fits(law):
    violation = float(incompatibility(law)[0])
    assume(violation == 0 or violation > EDGE)
    if violation > 0:
        with pytest.raises(IncoherentError):
            referee(law, "pns")
    else:
        lower, upper = referee(law, "pns")
        assert -EDGE <= lower <= upper + EDGE <= 1 + 2 * EDGE


@given(types=type_shares(rows=5))
def test_laws_of_populations_have_no_violation(types):
    assert np.all(incompatibility(of_types(types)) <= 1e-12)


@given(law=any_laws())
@settings(max_examples=300)
def test_formulas_cross_only_for_laws_that_no_population_has(law):
    lower, upper = closed_form(law, "pns")
    if lower > upper + 1e-9:
        assert incompatibility(law)[0] > 0


def test_the_violation_is_the_largest_of_the_broken_inequalities():
    law = INCOHERENT.law()
    np.testing.assert_allclose(incompatibility(law), [0.35])  # a = .9 against 1 - P(x,y') = .55
    with pytest.raises(IncoherentError, match="no population"):
        referee(law, "pns")


def test_an_experiment_alone_contradicts_nothing():
    assert incompatibility(two_by_two_law(np.array([0.9, 0.1]), np.array([0.8, 1.0]))).tolist() == [0, 0]


def test_binary_response_types_are_ordered_as_in_the_law():
    np.testing.assert_array_equal(arms_and_outcomes("01", "01").types, TWO_BY_TWO.types)
