"""More than two treatments or outcomes, and any statement about counterfactuals, by linear programming."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pnsight.data.structure import Variable, enumerate_types
from pnsight.errors import IncoherentError, LimitError, QuantityError
from pnsight.estimands.expressions import evaluate
from pnsight.estimands.linear_program import Program

THREE_TREATMENTS = Program(
    np.array([[0.8, 0.2], [0.5, 0.5], [0.3, 0.7]]), np.array([[0.25, 0.05], [0.1, 0.2], [0.1, 0.3]])
)
THREE_OUTCOMES = Program(np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]), np.array([[0.3, 0.1, 0.1], [0.1, 0.1, 0.3]]))
SLACK = 1e-8


@pytest.mark.parametrize(
    ("event", "lower", "upper"),
    [
        ("Y0 == 0 and Y2 == 1", 0.5, 0.7),
        ("Y0 == 0 and Y1 == 1 and Y2 == 1", 0, 0.5),
        ("Y0 == 0 and Y1 == 0 and Y2 == 1", 0, 0.5),
    ],
)
def test_case_f_three_treatments(event, lower, upper):
    np.testing.assert_allclose(THREE_TREATMENTS.bounds(event), (lower, upper), atol=1e-9)


@pytest.mark.parametrize(
    ("event", "among", "lower", "upper"),
    [
        ("Y0 == 0 and Y1 == 2", None, 0, 0.4),
        ("Y1 > Y0", None, 0.4, 0.8),
        ("Y0 == 0", "X == 1 and Y == 2", 0, 2 / 3),
    ],
)
def test_case_g_three_outcomes(event, among, lower, upper):
    np.testing.assert_allclose(THREE_OUTCOMES.bounds(event, among), (lower, upper), atol=1e-9)


# --- any population ---------------------------------------------------------------------------------------


@st.composite
def populations(draw: st.DrawFn) -> tuple[int, int, np.ndarray]:
    """Levels of treatment and outcome, and shares of the response types."""
    treatments, outcomes = draw(st.sampled_from([(2, 2), (3, 2), (2, 3), (3, 3)]))
    number = treatments * outcomes**treatments
    weights = draw(hnp.arrays(np.int64, number, elements=st.integers(0, 9)))
    weights[0] += not weights.any()
    return treatments, outcomes, weights / weights.sum()


def types_of(treatments: int, outcomes: int) -> np.ndarray:
    """The response types, shape (types, 1 + treatments)."""
    variables = [Variable("X", ("",) * treatments), *[Variable("Y", ("",) * outcomes)] * treatments]
    return enumerate_types(variables)


def tables_of(treatments: int, outcomes: int, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the population shows in an experiment and by itself."""
    kinds = types_of(treatments, outcomes)
    experimental, observational = np.zeros((2, treatments, outcomes))
    for kind, share in zip(kinds, shares, strict=True):
        for x in range(treatments):
            experimental[x, kind[1 + x]] += share
        observational[kind[0], kind[1 + kind[0]]] += share
    return experimental, observational


STATEMENTS = ("Y1 > Y0", "Y0 == 0 and Y1 == 1", "not (Y0 == Y1)", "3 * (Y1 > Y0) - 2 * (Y1 < Y0)", "Y == 1 or Y1 == 0")
CONDITIONS = (None, "X == 1", "X == 1 and Y == 1", "Y != 0")


def mean_of(fitting: Program, shares: np.ndarray, value: str, among: str | None) -> float:
    weights = shares * (1 if among is None else evaluate(among, fitting.people))
    return float(weights @ (evaluate(value, fitting.people) * 1.0) / weights.sum()) if weights.sum() else float("nan")


@pytest.mark.parametrize("among", CONDITIONS)
@given(population=populations(), value=st.sampled_from(STATEMENTS))
@settings(max_examples=20)
def test_bounds_contain_the_truth_of_every_population_and_knowing_more_tightens(population, value, among):
    shares = population[2]
    experimental, observational = tables_of(*population)
    both = Program(experimental, observational)
    truth = mean_of(both, shares, value, among)
    if np.isnan(truth):
        assert np.isnan(both.bounds(value, among)).all()
        return
    lower, upper = both.bounds(value, among)
    assert lower - SLACK <= truth <= upper + SLACK
    for alone in (Program(experimental), Program(observational=observational)):
        wide_lower, wide_upper = alone.bounds(value, among)
        assert wide_lower <= lower + SLACK
        assert upper <= wide_upper + SLACK


@given(population=populations())
@settings(max_examples=20)
def test_everyone_can_be_of_the_kinds_that_there_are_and_assuming_it_only_tightens(population):
    shares = population[2]
    both = Program(*tables_of(*population))
    rising = evaluate("Y1 >= Y0", both.people)
    only = np.where(rising, shares, 0.0)
    if not only.any():
        return
    experimental, observational = tables_of(*population[:2], only / only.sum())
    free = Program(experimental, observational)
    bound = Program(experimental, observational, possible="Y1 >= Y0")
    assert bound.bounds("Y1 < Y0") == pytest.approx((0, 0), abs=SLACK)
    inner, outer = bound.bounds("Y1 > Y0"), free.bounds("Y1 > Y0")
    assert outer[0] - SLACK <= inner[0] <= inner[1] + SLACK <= outer[1] + 2 * SLACK
    truth = float(only @ evaluate("Y1 > Y0", both.people)) / only.sum()
    assert inner[0] - SLACK <= truth <= inner[1] + SLACK


def test_chosen_as_if_by_lot_a_registry_says_what_an_experiment_would():
    """P(y | x) is P(y_x): with it given too, nothing changes."""
    observational = np.array([[0.3, 0.2], [0.1, 0.4]])
    by_lot = observational / observational.sum(axis=1, keepdims=True)
    for value in ("Y0 == 0 and Y1 == 1", "Y1 == 1"):
        alone = Program(observational=observational, exogenous=True).bounds(value)
        np.testing.assert_allclose(alone, Program(by_lot, observational, exogenous=True).bounds(value), atol=1e-9)
        np.testing.assert_allclose(alone, Program(by_lot).bounds(value), atol=1e-9)


def test_an_arm_that_was_not_tried_is_left_open():
    untried = Program(np.array([[0.8, 0.2], [np.nan, np.nan], [0.3, 0.7]]))
    assert untried.bounds("Y1 == 1") == pytest.approx((0, 1))
    assert untried.bounds("Y0 == 0 and Y2 == 1") == pytest.approx((0.5, 0.7))


# --- what is refused --------------------------------------------------------------------------------------


def test_contradictory_tables_have_no_bounds():
    impossible = Program(np.array([[0.9, 0.1], [0.9, 0.1]]), np.array([[0.1, 0.4], [0.1, 0.4]]))
    with pytest.raises(IncoherentError, match="no population fits the tables: they contradict"):
        impossible.bounds("Y1 == 1")


def test_an_assumption_that_the_tables_contradict_has_no_bounds():
    falling = Program(np.array([[0.2, 0.8], [0.6, 0.4]]), possible="Y1 >= Y0")
    with pytest.raises(IncoherentError, match="under what is assumed"):
        falling.bounds("Y1 == 1")


def test_the_number_of_types_is_stated_where_it_is_too_large():
    assert len(types_of(5, 5)) == 5 * 5**5
    with pytest.raises(LimitError, match=r"6 treatments and 6 outcomes make 6 \* 6\^6 = 279,936 response types.*merge"):
        Program(np.full((6, 6), 1 / 6)).bounds("Y1 == 1")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("Y0 = 0", "two equals signs"),
        ("Y7 == 1", "names 'Y7'; it may name X, Y0, Y1, Y2, Y"),
        ("__import__('os')", "it may compare, add"),
        ("Y0 ** 2 == 1", "it may compare, add"),
        ("Y0 == 'a'", "compares Y0 with 'a'; its values are"),
        ("Y0 in (0, 1)", "it may compare, add"),
    ],
)
def test_a_statement_that_cannot_be_read_is_refused(statement, said):
    with pytest.raises(QuantityError, match="the statement") as refused:
        THREE_TREATMENTS.bounds(statement)
    assert said in str(refused.value)
    assert repr(statement) in str(refused.value)


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({}, "neither an experimental nor an observational"),
        ({"experimental": np.array([0.5, 0.5])}, "one row a treatment"),
        ({"experimental": np.full((2, 2), 0.5), "observational": np.full((2, 3), 1 / 6)}, "alike in both"),
        ({"experimental": np.array([[0.5, 0.6], [0.5, 0.5]])}, "each row must add up to one"),
        ({"observational": np.array([[0.5, 0.5], [0.5, 0.5]])}, "all of it must add up to one"),
        ({"observational": np.array([[1.5, -0.5], [0.0, 0.0]])}, "its numbers are probabilities"),
        ({"observational": np.array([[np.nan, 0.5], [0.5, 0.0]])}, "all of it must add up to one"),
    ],
)
def test_tables_that_are_none_are_refused(tables, said):
    with pytest.raises(QuantityError, match=said):
        Program(**tables)


def test_exogenous_needs_an_observational_table():
    with pytest.raises(QuantityError, match="give an observational table"):
        Program(np.full((2, 2), 0.5), exogenous=True).bounds("Y1 == 1")


def test_an_array_must_have_one_number_a_type():
    with pytest.raises(QuantityError, match=r"shape \(3,\).*24 response types"):
        THREE_TREATMENTS.bounds(np.ones(3))
