"""A law: six numbers a subpopulation, from counts or from response types."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import CASES, DRUG, EXPECTED, INCOHERENT, POOLED, TOLERANCE
from laws import empirical_law, of_types, p_xy, p_y_do_x, p_y_do_x0, pns
from pnsight.data.two_by_two import TWO_BY_TWO, two_by_two_law
from pnsight.estimands import bounds, incompatibility
from pnsight.estimands.resolve import resolve_crossed_bounds
from strategies import type_shares
from truth import TYPES, probability, realised

CELLS = ((1, 1), (1, 0), (0, 1), (0, 0))


def test_response_types_are_choice_then_untreated_then_treated_outcome():
    assert [tuple(kind) for kind in TWO_BY_TWO.types] == list(TYPES)


def test_cells_run_treated_before_untreated_and_response_before_none():
    assert tuple(cell.name for cell in TWO_BY_TWO.groups[-1].cells) == ("x,y", "x,y'", "x',y", "x',y'")


@given(types=type_shares(rows=3))
def test_the_law_of_types_counts_who_responds_and_who_shows_what(types):
    law = of_types(types)
    for row, shares in enumerate(types):
        assert p_y_do_x(law)[row] == pytest.approx(probability(shares, lambda x, y0, y1: y1))
        assert p_y_do_x0(law)[row] == pytest.approx(probability(shares, lambda x, y0, y1: y0))
        for cell, (x, y) in enumerate(CELLS):
            shown = probability(shares, lambda *kind, x=x, y=y: kind[0] == x and realised(*kind) == y)
            assert p_xy(law)[row, cell] == pytest.approx(shown)


@given(counts=st.lists(st.integers(0, 50), min_size=8, max_size=8))
def test_the_law_of_counts_is_made_of_shares(counts):
    experimental, observational = np.array([counts[:4]], float), np.array([counts[4:]], float)
    law = empirical_law(experimental, observational)
    y1, n1, y0, n0 = counts[:4]
    assert p_y_do_x(law)[0] == pytest.approx(y1 / (y1 + n1) if y1 + n1 else float("nan"), nan_ok=True)
    assert p_y_do_x0(law)[0] == pytest.approx(y0 / (y0 + n0) if y0 + n0 else float("nan"), nan_ok=True)
    total = sum(counts[4:])
    expected = [cell / total if total else float("nan") for cell in counts[4:]]
    np.testing.assert_allclose(p_xy(law)[0], expected)


def test_an_experiment_alone_has_no_joint():
    law = empirical_law(np.array([[1.0, 3, 2, 2]]))
    assert p_xy(law) is None
    assert (p_y_do_x(law)[0], p_y_do_x0(law)[0]) == (0.25, 0.5)


@pytest.mark.parametrize(("name", "quantity", "lower", "upper"), EXPECTED)
def test_case_with_known_answer(name, quantity, lower, upper):
    found = np.ravel(bounds(CASES[name].law(), quantity))
    np.testing.assert_allclose(found, [lower, upper], atol=TOLERANCE, rtol=0)


def test_the_pooled_trial_alone_is_wider():
    law = POOLED.law()
    np.testing.assert_allclose([p_y_do_x(law)[0], p_y_do_x0(law)[0]], [0.4895, 0.21])
    np.testing.assert_allclose(p_xy(law)[0], [0.3395, 0.3605, 0.21, 0.09])
    np.testing.assert_allclose(
        np.ravel(pns(two_by_two_law(p_y_do_x(law), p_y_do_x0(law)))), [0.2795, 0.4895], atol=TOLERANCE
    )


def test_incoherent_tables_are_flagged_with_the_size_of_the_violation_and_get_no_bounds():
    law = INCOHERENT.law()
    assert incompatibility(law)[0] == pytest.approx(0.35)
    lower, upper, status = resolve_crossed_bounds(*pns(law))
    assert status.tolist() == ["incoherent"]
    assert np.isnan(lower[0])
    assert np.isnan(upper[0])


def test_necessity_is_undefined_where_nobody_is_treated_and_responds():
    law = two_by_two_law(np.array([0.0]), np.array([0.3]), np.array([[0.0, 0.5, 0.2, 0.3]]))
    assert np.isnan(bounds(law, "pn")).all()
    assert resolve_crossed_bounds(*bounds(law, "pn"))[2].tolist() == ["undefined"]
    assert resolve_crossed_bounds(*bounds(law, "ps"))[2].tolist() == ["ok"]


@pytest.mark.parametrize("arm", ["treated", "control"])
def test_an_absent_arm_makes_every_bound_undefined(arm):
    experimental = np.array([[0.0, 0, 3, 4] if arm == "treated" else [3.0, 4, 0, 0]])
    for observational in (None, np.array([DRUG.observational], float)):
        law = empirical_law(experimental, observational)
        assert resolve_crossed_bounds(*pns(law))[2].tolist() == ["undefined"]
