"""Statements by name: what they may say, what they mean, and errors that show where."""

from __future__ import annotations

import numpy as np
import pytest

from pnsight.errors import QuantityError
from pnsight.estimands.contrast import restricted_times, vocabulary
from pnsight.estimands.estimand import Estimand
from pnsight.estimands.expressions import MAX_LENGTH, evaluate
from structures import STRUCTURES

DOSES = STRUCTURES["three arms, three grades"]


def holds(statement, structure=DOSES):
    return evaluate(statement, vocabulary(structure))


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("Y[high] >= mild and Y[placebo] == none", lambda p: (p["Y2"] >= 1) & (p["Y0"] == 0)),
        ("Y['high'] >= 'mild' and none == Y[placebo]", lambda p: (p["Y2"] >= 1) & (p["Y0"] == 0)),
        ("mild <= Y[high]", lambda p: p["Y2"] >= 1),
        ("Y[high] > Y[low] > Y[placebo]", lambda p: (p["Y2"] > p["Y1"]) & (p["Y1"] > p["Y0"])),
        ("not X == placebo or Y == severe", lambda p: (p["X"] != 0) | (p["Y"] == 2)),
        ("X != low", lambda p: p["X"] != 1),
        ("Y2 == mild", lambda p: p["Y2"] == 1),
    ],
)
def test_a_statement_speaks_of_arms_and_outcomes_by_name(statement, expected):
    np.testing.assert_array_equal(holds(statement) != 0, expected(DOSES.people))


def test_numbers_are_numbers_where_values_are():
    doses = STRUCTURES["two by two"]
    np.testing.assert_array_equal(holds("Y[1] == 1 and Y[0] < 0.5", doses), doses.people["Y1"] > doses.people["Y0"])
    np.testing.assert_array_equal(holds("Y1 - Y0 == 1", doses), doses.people["Y1"] > doses.people["Y0"])


def test_times_are_compared_with_horizons():
    survival = STRUCTURES["survival"]
    people = survival.people
    np.testing.assert_array_equal(
        holds("T[drug] > 90 and T[care] <= 30", survival), (people["Y1"] > 1) & (people["Y0"] <= 0)
    )
    np.testing.assert_array_equal(holds("90 < T[drug]", survival), people["Y1"] > 1)
    np.testing.assert_array_equal(holds("T == later", survival), people["Y"] == 3)


def test_what_people_take_is_spoken_of_where_they_were_assigned_something():
    structure = STRUCTURES["noncompliance"]
    people = structure.people
    found = holds("D[drug] == drug and D[placebo] == placebo", structure)
    np.testing.assert_array_equal(found, (people["D1"] == 1) & (people["D0"] == 0))


@pytest.mark.parametrize(
    ("structure", "statement", "said"),
    [
        (
            "three arms, three grades",
            "Y[medium] == none",
            "has the arm 'medium'; expected placebo, low, high (at character 1)",
        ),
        (
            "three arms, three grades",
            "Y[low] == moderate",
            "compares Y[low] with 'moderate'; its values are none, mild, severe",
        ),
        ("three arms, three grades", "Y[low] == 1", "compares Y[low] with a number; its values are none, mild, severe"),
        ("three arms, three grades", "Y[low] - Y[high] == 1", "takes Y[low] for a number"),
        ("three arms, three grades", "X > low", "asks whether X is above or below; its values have no order"),
        ("three arms, three grades", "D[low] == low", "it may name X, Y, Y[arm], Y0, Y1, Y2"),
        ("three arms, three grades", "mild == none", "names 'mild'"),
        ("three arms, three grades", "Y[low] = mild", "cannot be read at character"),
        ("three arms, three grades", "Y[5mg] == mild", "put names that are not single words in quotes"),
        ("three arms, three grades", "Y[[low]] == mild", "expected one arm"),
        ("no order", "Y[drug] > none", "its values have no order"),
        ("survival", "T[drug] > 60", "write > or <= and a horizon: 30, 90, 365"),
        ("survival", "T[drug] >= 90", "write > or <= and a horizon: 30, 90, 365"),
        ("survival", "T[drug] > 90 and T[care] > soon", "compares T[care] with 'soon'"),
        ("three arms, three grades", "(" * 300 + "X == low" + ")" * 300, "the statement"),
        ("three arms, three grades", "not " * 400 + "X == low", ""),
        ("three arms, three grades", "X == low" + " " * MAX_LENGTH, "expected at most"),
        ("three arms, three grades", "X == 'lo\0w'", "the statement"),
    ],
)
def test_a_statement_that_means_nothing_is_refused_with_where(structure, statement, said):
    if said == "":
        assert len(holds(statement)) == DOSES.n_types  # long, and yet read
        return
    with pytest.raises(QuantityError) as refused:
        holds(statement, STRUCTURES[structure])
    assert said in str(refused.value)


def test_a_statement_takes_no_quantity_and_a_condition_takes_a_statement():
    with pytest.raises(QuantityError, match="a statement and a quantity are both given"):
        Estimand.parse("pns", statement="X == low")
    with pytest.raises(QuantityError, match="but no statement that it is a condition of"):
        Estimand.parse(given="X == low")


def test_the_mean_time_is_the_area_under_a_curve_that_is_straight_between_horizons():
    np.testing.assert_allclose(restricted_times((30.0, 90.0, 365.0)), [15, 60, 227.5, 365])
    np.testing.assert_allclose(restricted_times((30.0, 90.0, 365.0), 90.0), [15, 60, 90, 90])
    shares = np.array([0.1, 0.2, 0.3, 0.4])
    curve = np.interp(np.arange(366), [0, 30, 90, 365], [1.0, 0.9, 0.7, 0.4])
    area = (curve[1:] + curve[:-1]).sum() / 2
    assert shares @ restricted_times((30.0, 90.0, 365.0)) == pytest.approx(area)
