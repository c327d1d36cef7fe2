"""Subpopulations mix; their laws mix with them, their bounds do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import MEN, POOLED, TOLERANCE, WOMEN
from closed_forms import QUANTITIES
from laws import of_types, p_xy, p_y_do_x, p_y_do_x0, pns
from pnsight.data.two_by_two import two_by_two_law
from pnsight.estimands import bounds
from strategies import mixing_weights, type_shares
from truth import true_value

SLACK = 1e-12
PARTS = 5


@given(types=type_shares(rows=PARTS), weights=mixing_weights(PARTS))
def test_the_mixture_of_laws_is_the_law_of_the_mixed_types(types, weights):
    mixed, direct = of_types(types).mix(weights), of_types(weights @ types)
    np.testing.assert_allclose(p_y_do_x(mixed), p_y_do_x(direct), atol=SLACK)
    np.testing.assert_allclose(p_y_do_x0(mixed), p_y_do_x0(direct), atol=SLACK)
    np.testing.assert_allclose(p_xy(mixed), p_xy(direct), atol=SLACK)


@pytest.mark.parametrize("quantity", ["pns", "harm"])
@given(types=type_shares(rows=PARTS), weights=mixing_weights(PARTS))
def test_bounds_of_a_mixture_contain_the_mixture_of_truths(types, weights, quantity):
    lower, upper = bounds(of_types(types).mix(weights), quantity)
    truth = weights @ [true_value(shares, quantity) for shares in types]
    assert lower[0] <= truth[0] + SLACK
    assert truth[0] <= upper[0] + SLACK


@pytest.mark.parametrize("quantity", QUANTITIES)
@given(types=type_shares(rows=PARTS), weights=mixing_weights(PARTS))
def test_bounds_of_a_mixture_contain_the_truth_of_the_mixture(types, weights, quantity):
    lower, upper = bounds(of_types(types).mix(weights), quantity)
    truth = true_value((weights @ types)[0], quantity)
    if np.isnan(truth):
        assert np.isnan(lower[0])
        assert np.isnan(upper[0])
    else:
        assert lower[0] - SLACK <= truth <= upper[0] + SLACK


@given(types=type_shares(rows=PARTS), weights=mixing_weights(PARTS))
def test_knowing_the_parts_only_tightens(types, weights):
    """A maximum of linear functions is convex, a minimum concave: averaged bounds lie within the pooled ones."""
    law = of_types(types)
    (lower,), (upper,) = pns(law.mix(weights))
    assert lower <= (weights @ pns(law)[0])[0] + SLACK
    assert (weights @ pns(law)[1])[0] <= upper + SLACK


@given(types=type_shares(rows=PARTS), order=st.permutations(range(PARTS)))
def test_rows_of_a_law_are_picked_as_rows_of_an_array(types, order):
    law = of_types(types)
    rows = np.array(order)[:3]
    np.testing.assert_array_equal(p_xy(law[rows]), p_xy(law)[rows])
    assert len(law[rows]) == 3
    assert len(law) == PARTS


def test_mixing_keeps_an_experiment_alone_alone():
    mixed = two_by_two_law(np.array([0.2, 0.6]), np.array([0.1, 0.3])).mix(np.array([[0.5, 0.5]]))
    assert p_xy(mixed) is None
    np.testing.assert_allclose([p_y_do_x(mixed)[0], p_y_do_x0(mixed)[0]], [0.4, 0.2])


def test_women_and_men_pooled_are_wider_than_their_average():
    parts = [WOMEN.law(), MEN.law()]
    averaged = np.mean([np.ravel(pns(law)) for law in parts], axis=0)
    np.testing.assert_allclose(averaged, [0.3845, 0.3845], atol=TOLERANCE)
    np.testing.assert_allclose(np.ravel(pns(POOLED.law())), [0.3395, 0.4295], atol=TOLERANCE)
