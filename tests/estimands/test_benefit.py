"""The benefit function: payoffs of any sign, checked against the linear program and a published case."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from cases import CHURN, CHURN_EXPECTED, CHURN_PAYOFFS
from laws import asking, benefit, empirical_law, harm, of_types, p_y_do_x, p_y_do_x0, pns, referee
from pnsight.data.two_by_two import TWO_BY_TWO, two_by_two_law
from pnsight.errors import QuantityError
from pnsight.estimands import Payoffs, bounds
from pnsight.estimands.resolve import resolve_crossed_bounds
from strategies import coherent_laws, type_shares
from truth import TYPES

PAYOFFS = st.tuples(*[st.floats(-200, 200).map(lambda number: round(number, 2))] * 4)


@pytest.mark.parametrize("group", CHURN)
def test_case_e_churn(group):
    law = empirical_law(np.array([CHURN[group]], float))
    np.testing.assert_allclose(np.ravel(benefit(law, CHURN_PAYOFFS)), CHURN_EXPECTED[group], atol=5e-5)


@given(law=coherent_laws(), payoffs=PAYOFFS)
@limits(max_examples=60)
def test_the_closed_form_is_the_linear_programs_for_payoffs_of_any_sign(law, payoffs):
    for known in (law, two_by_two_law(p_y_do_x(law), p_y_do_x0(law))):
        found = np.ravel(bounds(known, "benefit", payoffs=payoffs))
        np.testing.assert_allclose(found, referee(known, "benefit", payoffs=payoffs), atol=1e-6, rtol=0)


@given(types=type_shares(rows=6), payoffs=PAYOFFS)
def test_bounds_contain_the_true_benefit_and_lie_within_its_span(types, payoffs):
    named = dict(zip([(0, 1), (1, 1), (0, 0), (1, 0)], payoffs, strict=True))
    truth = types @ np.array([named[y0, y1] for _, y0, y1 in TYPES])
    lower, upper = benefit(of_types(types), payoffs)
    assert np.all((lower <= truth + 1e-9) & (truth <= upper + 1e-9))
    assert np.all((lower >= min(payoffs) - 1e-9) & (upper <= max(payoffs) + 1e-9))
    assert set(resolve_crossed_bounds(lower, upper, within=Payoffs.of(payoffs).span)[2]) == {"ok"}
    np.testing.assert_allclose(asking("benefit", payoffs).truth(types, TWO_BY_TWO), truth, atol=1e-9)


@given(types=type_shares(rows=4))
def test_pns_and_harm_are_benefits_of_one_kind_alone(types):
    law = of_types(types)
    np.testing.assert_allclose(benefit(law, (1, 0, 0, 0)), pns(law), atol=1e-12)
    np.testing.assert_allclose(benefit(law, (0, 0, 0, 1)), harm(law), atol=1e-12)


@given(types=type_shares(rows=4))
def test_turning_every_payoff_turns_the_ends(types):
    law = of_types(types)
    lower, upper = benefit(law, (100, -60, 0, -140))
    np.testing.assert_allclose(benefit(law, (-100, 60, 0, 140)), (-upper, -lower), atol=1e-9)


def test_where_the_slope_is_zero_the_benefit_is_known():
    """Worth the same as the average effect: complier 1, defier -1."""
    payoffs = Payoffs(complier=1, always=0, never=0, defier=-1)
    np.testing.assert_allclose(np.ravel(benefit(two_by_two_law(np.array([0.7]), np.array([0.4])), payoffs)), [0.3, 0.3])


@pytest.mark.parametrize("payoffs", [(1, 2, 3), (1, 2, 3, 4, 5), "abcd", (1, 2, 3, float("nan")), 7, (1, 2, 3, None)])
def test_payoffs_that_are_none_are_refused(payoffs):
    with pytest.raises(QuantityError, match="expected four numbers"):
        Payoffs.of(payoffs)


def test_benefit_needs_payoffs_and_the_others_have_none():
    with pytest.raises(QuantityError, match=r"benefit needs payoffs.*--payoffs 100,-60,0,-140"):
        asking("benefit")
    with pytest.raises(QuantityError, match="payoffs are given, but pns has none"):
        asking("pns", (1, 2, 3, 4))


def test_an_unknown_refinement_is_refused():
    with pytest.raises(QuantityError, match=r"refine is 'all'; expected one of 'none', 'covariates'"):
        asking("pns", refine="all")


def test_ends_far_from_zero_may_differ_by_rounding():
    """A million times the rounding of probabilities."""
    lower, upper, status = resolve_crossed_bounds(np.array([2e6 + 1e-4]), np.array([2e6]), within=(-1e6, 3e6))
    assert status.tolist() == ["ok"]
    assert lower[0] == upper[0] == 2e6
