"""Bounds contain what is true, whatever the population."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from closed_forms import QUANTITIES
from laws import asking, harm, of_types, p_xy, p_y_do_x, p_y_do_x0, pd, pe, pn, pns, ps
from pnsight.data.two_by_two import TWO_BY_TWO, two_by_two_law
from pnsight.errors import QuantityError
from pnsight.estimands import bounds
from pnsight.estimands.resolve import OK, UNDEFINED, resolve_crossed_bounds
from strategies import type_shares
from truth import true_value

SLACK = 1e-12


def truths(types: np.ndarray, quantity: str) -> np.ndarray:
    return np.array([true_value(shares, quantity) for shares in types])


@pytest.mark.parametrize("quantity", QUANTITIES)
@given(types=type_shares(rows=6))
def test_bounds_contain_the_truth(types, quantity):
    lower, upper = bounds(of_types(types), quantity)
    truth = truths(types, quantity)
    np.testing.assert_array_equal(np.isnan(lower), np.isnan(truth))
    np.testing.assert_array_equal(np.isnan(upper), np.isnan(truth))
    known = ~np.isnan(truth)
    assert np.all(lower[known] <= truth[known] + SLACK)
    assert np.all(truth[known] <= upper[known] + SLACK)


@pytest.mark.parametrize("quantity", QUANTITIES)
@given(types=type_shares(rows=6))
def test_bounds_of_a_population_are_ordered_and_lie_between_zero_and_one(types, quantity):
    lower, upper = bounds(of_types(types), quantity)
    known = ~np.isnan(lower)
    assert np.all(lower[known] >= -SLACK)
    assert np.all(lower[known] <= upper[known] + SLACK)
    assert np.all(upper[known] <= 1 + SLACK)
    settled = resolve_crossed_bounds(lower, upper)
    assert set(settled[2]) <= {OK, UNDEFINED}


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("share", [1e-9, 1e-12, 1e-15])
@pytest.mark.parametrize("rare", [slice(4), slice(4, 8), slice(0, 8, 2), slice(1, 8, 2)])
def test_the_rounding_of_a_rare_event_is_no_contradiction(rare, share, quantity):
    """Some of the types are rare, and of those some far rarer: dividing by their share magnifies every rounding."""
    rng = np.random.default_rng(5)
    types = rng.dirichlet(np.full(8, 0.05), size=2000)
    types[:, rare] *= share
    types /= types.sum(axis=1, keepdims=True)
    assert set(resolve_crossed_bounds(*bounds(of_types(types), quantity))[2]) <= {OK, UNDEFINED}


@given(types=type_shares(rows=6))
def test_pns_is_made_of_necessity_and_sufficiency(types):
    """PNS = P(x,y) PN + P(x',y') PS; a term whose condition is impossible is empty."""
    joint = p_xy(of_types(types))
    necessity, sufficiency = (np.nan_to_num(truths(types, name)) for name in ("pn", "ps"))
    np.testing.assert_allclose(truths(types, "pns"), joint[:, 0] * necessity + joint[:, 3] * sufficiency, atol=SLACK)


@given(types=type_shares(rows=6))
def test_harm_is_pns_less_the_average_effect(types):
    law = of_types(types)
    np.testing.assert_allclose(
        truths(types, "harm"), truths(types, "pns") - (p_y_do_x(law) - p_y_do_x0(law)), atol=SLACK
    )
    np.testing.assert_allclose(harm(law), np.array(pns(law)) - (p_y_do_x(law) - p_y_do_x0(law)), atol=SLACK)


@given(types=type_shares(rows=6))
def test_disablement_and_enablement_are_rescaled_necessity_and_sufficiency(types):
    law = of_types(types)
    xy, xy0, x0y, x0y0 = p_xy(law).T
    for whole, part, bounds_whole, bounds_part in ((xy + x0y, xy, pd, pn), (xy0 + x0y0, x0y0, pe, ps)):
        both = (whole > 0) & (part > 0)
        for end in (0, 1):
            np.testing.assert_allclose(
                bounds_whole(law)[end][both], (bounds_part(law)[end] * part)[both] / whole[both], atol=SLACK
            )


@given(types=type_shares(rows=4))
def test_the_true_pns_is_the_share_who_respond_only_if_treated(types):
    np.testing.assert_allclose(asking("pns").truth(types, TWO_BY_TWO), truths(types, "pns"), atol=SLACK)


@pytest.mark.parametrize("quantity", ["pns", "harm"])
@given(types=type_shares(rows=6))
def test_observation_only_tightens_the_bounds_of_an_experiment(types, quantity):
    law = of_types(types)
    lower, upper = bounds(law, quantity)
    wide_lower, wide_upper = bounds(two_by_two_law(p_y_do_x(law), p_y_do_x0(law)), quantity)
    assert np.all(wide_lower <= lower + SLACK)
    assert np.all(upper <= wide_upper + SLACK)
    assert np.all((wide_lower >= -SLACK) & (wide_upper <= 1 + SLACK))


@pytest.mark.parametrize("quantity", ["pn", "ps", "pd", "pe"])
def test_an_experiment_alone_cannot_bound_what_conditions_on_choice(quantity):
    with pytest.raises(QuantityError, match=f"^{quantity} .*observational table"):
        bounds(two_by_two_law(np.array([0.5]), np.array([0.2])), quantity)


def test_an_unknown_quantity_is_named_with_the_nearest_known_one():
    with pytest.raises(QuantityError, match=r"'hrm'.*pns, pn, ps, pd, pe, harm.*Did you mean 'harm'\?"):
        bounds(two_by_two_law(np.array([0.5]), np.array([0.2])), "hrm")


@given(
    lower=st.lists(st.floats(-2, 2) | st.just(float("nan")), min_size=1, max_size=8),
    data=st.data(),
)
@settings(max_examples=200)
def test_settled_ends_are_ordered_probabilities_or_absent(lower, data):
    upper = data.draw(st.lists(st.floats(-2, 2) | st.just(float("nan")), min_size=len(lower), max_size=len(lower)))
    low, high, status = resolve_crossed_bounds(np.array(lower), np.array(upper), "crossed")
    answered = status == OK
    assert np.all((low[answered] >= 0) & (low[answered] <= high[answered]) & (high[answered] <= 1))
    assert np.all(np.isnan(low[~answered]) & np.isnan(high[~answered]))
    missing = np.isnan(lower) | np.isnan(upper)
    np.testing.assert_array_equal(status == UNDEFINED, missing)
    np.testing.assert_array_equal(status == "crossed", ~missing & (np.array(lower) > np.array(upper) + 1e-9))
