"""What assuming more gives: tighter bounds, the closed forms of the linear program, and laws that keep to it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

from closed_forms import QUANTITIES
from laws import of_types, p_xy, p_y_do_x, p_y_do_x0, referee
from pnsight.data.law import Law
from pnsight.data.two_by_two import TWO_BY_TWO, two_by_two_law
from pnsight.errors import AssumptionError, IncoherentError
from pnsight.estimands import bounds, incompatibility, project_onto_assumptions
from pnsight.estimands.assumptions import read_assumptions
from strategies import any_laws, type_shares
from truth import true_value

SLACK = 1e-9
SETS = (("monotone",), ("exogenous",), ("monotone", "exogenous"))
PAYOFFS = st.tuples(*[st.integers(-20, 20)] * 4)

HARMED = (TWO_BY_TWO.types[:, 1] == 1) & (TWO_BY_TWO.types[:, 2] == 0)


@st.composite
def types_under(draw: st.DrawFn, assume: tuple[str, ...], rows: int = 1) -> np.ndarray:
    """Shares of types, shape (rows, 8), of populations of which the assumptions are true."""
    shares = draw(type_shares(rows))
    if "monotone" in assume:
        shares = np.where(HARMED, 0.0, shares)
        shares[shares.sum(axis=1) == 0] = np.eye(8)[0]
        shares = shares / shares.sum(axis=1, keepdims=True)
    if "exogenous" in assume:
        chosen = shares.reshape(rows, 2, 4)
        shares = (chosen.sum(axis=2)[:, :, None] * chosen.sum(axis=1)[:, None, :]).reshape(rows, 8)
    return shares


def closed_form(law: Law, quantity: str, **options) -> tuple[float, float]:
    lower, upper = bounds(law, quantity, **options)
    return float(lower[0]), float(upper[0])


assumptions = pytest.mark.parametrize("assume", SETS, ids="+".join)


@assumptions
@pytest.mark.parametrize("quantity", QUANTITIES)
@given(data=st.data())
@limits(max_examples=25)
def test_the_closed_form_is_the_linear_programs(assume, quantity, data):
    law = of_types(data.draw(types_under(assume)))
    found, expected = closed_form(law, quantity, assume=assume), referee(law, quantity, assume=assume)
    np.testing.assert_allclose(found, expected, atol=1e-7, rtol=0)


@assumptions
@given(data=st.data(), payoffs=PAYOFFS)
@limits(max_examples=40)
def test_the_closed_form_of_the_benefit_is_the_linear_programs(assume, data, payoffs):
    law = of_types(data.draw(types_under(assume)))
    found = closed_form(law, "benefit", payoffs=payoffs, assume=assume)
    np.testing.assert_allclose(found, referee(law, "benefit", payoffs=payoffs, assume=assume), atol=1e-6)


@pytest.mark.parametrize("quantity", ["pns", "harm"])
@given(types=types_under(("monotone",)))
@limits(max_examples=25)
def test_an_experiment_alone_identifies_what_happens_where_nobody_is_harmed(quantity, types):
    law = of_types(types)
    alone = two_by_two_law(p_y_do_x(law), p_y_do_x0(law))
    found = closed_form(alone, quantity, assume="monotone")
    np.testing.assert_allclose(found, referee(alone, quantity, assume="monotone"), atol=1e-7)
    np.testing.assert_allclose(found, [true_value(types[0], quantity)] * 2, atol=SLACK)


@assumptions
@pytest.mark.parametrize("quantity", QUANTITIES)
@given(data=st.data())
def test_assuming_what_is_true_tightens_and_keeps_the_truth(assume, quantity, data):
    types = data.draw(types_under(assume, rows=6))
    law = of_types(types)
    plain, found = np.array(bounds(law, quantity)), np.array(bounds(law, quantity, assume=assume))
    truth = np.array([true_value(shares, quantity) for shares in types])
    np.testing.assert_array_equal(np.isnan(found[0]), np.isnan(truth))
    known = ~np.isnan(truth)
    assert np.all(plain[0, known] <= found[0, known] + SLACK)
    assert np.all(found[1, known] <= plain[1, known] + SLACK)
    assert np.all((found[0, known] <= truth[known] + SLACK) & (truth[known] <= found[1, known] + SLACK))


@pytest.mark.parametrize("quantity", [*QUANTITIES, "benefit"])
@given(types=types_under(("monotone",), rows=6))
def test_where_nobody_is_harmed_every_quantity_is_known(quantity, types):
    payoffs = (100, -60, 0, -140) if quantity == "benefit" else None
    lower, upper = bounds(of_types(types), quantity, assume="monotone", payoffs=payoffs)
    np.testing.assert_allclose(lower, upper, atol=1e-7)


@given(types=types_under(("monotone",), rows=6))
def test_identified_as_tian_and_pearl_have_it(types):
    law = of_types(types)
    xy, xy0, x0y, x0y0 = p_xy(law).T
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = {
            "pns": p_y_do_x(law) - p_y_do_x0(law),
            "pn": np.where(xy > 0, (xy + x0y - p_y_do_x0(law)) / xy, np.nan),
            "ps": np.where(x0y0 > 0, (p_y_do_x(law) - xy - x0y) / x0y0, np.nan),
            "harm": 0 * xy0,
        }
    for quantity, value in expected.items():
        np.testing.assert_allclose(bounds(law, quantity, assume="monotone")[0], value, atol=1e-7)


# --- laws that do not quite keep to it ----------------------------------------------------------------------


@assumptions
@given(law=any_laws())
@limits(max_examples=60)
def test_whatever_the_law_the_nearest_one_under_the_assumptions_is_some_populations(assume, law):
    found = project_onto_assumptions(law, assume)
    assert incompatibility(found)[0] <= SLACK
    np.testing.assert_allclose(p_xy(found).sum(axis=1), 1, atol=SLACK)
    lower, upper = referee(found, "pns", assume=assume)  # raises if no such population has the law
    np.testing.assert_allclose(closed_form(law, "pns", assume=assume), (lower, upper), atol=1e-7)


@assumptions
@given(data=st.data())
def test_a_law_under_the_assumptions_is_left_as_it_is(assume, data):
    law = of_types(data.draw(types_under(assume, rows=4)))
    found = project_onto_assumptions(law, assume)
    np.testing.assert_allclose(found.cells, law.cells, atol=SLACK)


def test_the_program_refuses_a_law_off_the_edge():
    falling = two_by_two_law(np.array([0.3]), np.array([0.5]), np.array([[0.2, 0.3, 0.2, 0.3]]))
    with pytest.raises(IncoherentError, match="under what is assumed"):
        referee(falling, "pns", assume="monotone")


def test_shares_that_must_be_alike_are_pooled_by_rows():
    """30 of 100 treated in the trial and 140 of the 200 who chose it in a registry of 400: 170 of 300."""
    law = two_by_two_law(np.array([0.3]), np.array([0.1]), np.array([[140, 60, 20, 180]]) / 400)
    pooled = project_onto_assumptions(law, ("exogenous",), np.array([100.0, 100.0, 400.0]))
    assert p_y_do_x(pooled)[0] == pytest.approx(170 / 300)
    assert p_y_do_x0(pooled)[0] == pytest.approx(30 / 300)
    np.testing.assert_allclose(p_xy(pooled)[0], np.array([170, 130, 30, 270]) / 600)


def test_without_an_arm_the_registry_speaks_for_it():
    law = two_by_two_law(np.array([np.nan]), np.array([0.1]), np.array([[140, 60, 20, 180]]) / 400)
    assert p_y_do_x(project_onto_assumptions(law, ("exogenous",), np.array([0.0, 100.0, 400.0])))[0] == pytest.approx(
        0.7
    )


def test_an_experiment_in_the_wrong_order_is_pooled_by_rows():
    law = project_onto_assumptions(
        two_by_two_law(np.array([0.2]), np.array([0.5])), ("monotone",), np.array([200.0, 100.0, 0.0])
    )
    assert (p_y_do_x(law)[0], p_y_do_x0(law)[0]) == (pytest.approx(0.3), pytest.approx(0.3))


# --- names ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_names", "read"),
    [
        ("", ()),
        ((), ()),
        ("monotone", ("monotone",)),
        ("exogenous, monotone", ("monotone", "exogenous")),
        (["exogenous", "monotone", "monotone"], ("monotone", "exogenous")),
    ],
)
def test_assumptions_are_named_in_any_order(given_names, read):
    assert read_assumptions(given_names) == read


def test_an_unknown_assumption_is_named_with_the_nearest_known_one():
    with pytest.raises(
        AssumptionError,
        match=r"'monoton'; known: monotone, exogenous, no-defiers, one-sided\. Did you mean 'monotone'\?",
    ):
        read_assumptions("monoton")


def test_how_people_choose_is_not_to_be_had_from_an_experiment():
    with pytest.raises(AssumptionError, match=r"'exogenous' was assumed.*experiment alone"):
        bounds(two_by_two_law(np.array([0.5]), np.array([0.2])), "pns", assume="exogenous")
