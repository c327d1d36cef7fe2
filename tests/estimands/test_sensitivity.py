"""Slack, misread outcomes and assumptions that say how much: against a program of their own, and what must hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st
from scipy.optimize import linprog

from cases import DRUG, MEN, POOLED, WOMEN
from laws import of_types
from pnsight.data.law import Law
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL
from pnsight.data.two_by_two import TWO_BY_TWO, Y_X, Y_X0
from pnsight.errors import AssumptionError, IncoherentError, LimitError, QuantityError
from pnsight.estimands import Estimand, compiled, end_intervals
from pnsight.estimands.linear_program import lp_bounds
from pnsight.estimands.sensitivity import Slack
from pnsight.output.formulas import formula_latex, formula_text
from strategies import type_shares
from structures import STRUCTURES, random_law

NEAR = 1e-8
BOTH = ((0.03, 0.0), (0.0, 0.02), (0.03, 0.02))
GRADED_STRUCTURES = {
    "three arms": BOTH,
    "three grades": BOTH[:1],
    "recovery": BOTH[:1],
    "experiment alone, three grades": BOTH,
}
"""By name, the slack and the share of misread outcomes that are tried; those that take seconds to compile are not."""


def asked(law: Law, quantity: str = "pns", **options) -> Estimand:
    contrast = ("high", "placebo") if len(law.structure.description.arms) > 2 else None
    return Estimand.parse(quantity, contrast=contrast, **options).of_structure(law.structure)


def ends(law: Law, quantity: str = "pns", **options) -> tuple[float, float]:
    lower, upper = asked(law, quantity, **options).bounds_at(law)
    return float(lower[0]), float(upper[0])


def own_program(law: Law, value, slack: float = 0.0, misread: float = 0.0, capped=None, cap: float = 1.0):
    """Bounds by a program that knows no moves: shares of an arm differ from what is shown by at most so much in all.

    For each arm of the trial, and of those who chose one, the sum of all that is above what is shown is limited.
    """
    structure, shown = law.structure, law.cells[0]
    types, cells = structure.n_types, structure.n_cells
    equal = [np.append(np.ones(types), np.zeros(cells))]
    one = [1.0]
    above = np.hstack([structure.incidence, -np.eye(cells)])  # p_j - u_j <= q_j
    less, most = [*above], [*shown]
    for number, some in enumerate(structure.group_slices):
        if structure.groups[number].table == EXPERIMENTAL:
            less.append(np.append(np.zeros(types), [some.start <= j < some.stop for j in range(cells)]))
            most.append(slack + misread)
    start = structure.columns_of(OBSERVATIONAL).start
    for arm in np.unique(structure.chosen_arms) if OBSERVATIONAL in structure.tables else ():
        columns = start + np.flatnonzero(structure.chosen_arms == arm)
        chose = shown[columns].sum()
        equal.append(np.append(structure.incidence[columns].sum(axis=0), np.zeros(cells)))
        one.append(chose)
        less.append(np.append(np.zeros(types), np.isin(np.arange(cells), columns)))
        most.append(misread * chose)
    if capped is not None:
        less.append(np.append(capped, np.zeros(cells)))
        most.append(cap)
    cost = np.append(value, np.zeros(cells))
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = [
        linprog(sign * cost, A_ub=np.array(less), b_ub=most, A_eq=np.array(equal), b_eq=one, options=options)
        for sign in (1, -1)
    ]
    assert all(each.status == 0 for each in found)
    return found[0].fun, -found[1].fun


@pytest.mark.parametrize("quantity", ["pns", "harm"])
@given(types=type_shares(), slack=st.integers(0, 30), misread=st.integers(0, 10), room=st.integers(0, 10))
@limits(max_examples=30)
def test_bounds_are_those_of_a_program_that_was_written_otherwise(quantity, types, slack, misread, room):
    law = of_types(types)
    harmed = Estimand.parse("harm").value(TWO_BY_TWO)
    cap = round(min(1.0, float(types[0] @ harmed) + room / 50), 6)  # holds of these people, or nearly
    options = {"slack": slack / 100, "misread_outcome": misread / 100}
    value = Estimand.parse(quantity).value(TWO_BY_TWO)
    assert ends(law, quantity, **options) == pytest.approx(
        own_program(law, value, slack / 100, misread / 100), abs=NEAR
    )
    cap += 1e-6
    assert ends(law, quantity, assume=f"harm<={cap}", **options) == pytest.approx(
        own_program(law, value, slack / 100, misread / 100, harmed, cap), abs=NEAR
    )


@pytest.mark.parametrize("name", GRADED_STRUCTURES)
def test_bounds_with_more_arms_and_grades_are_the_programs(name):
    structure = STRUCTURES[name]
    for seed in range(3):
        types, law = random_law(structure, seed)
        harmed = asked(law, "harm").value(structure)
        cap = float(types[0] @ harmed) + 0.02
        for slack, misread in GRADED_STRUCTURES[name]:
            value = asked(law).value(structure)
            options = {"slack": slack, "misread_outcome": misread}
            assert ends(law, **options) == pytest.approx(own_program(law, value, slack, misread), abs=NEAR)
            found = ends(law, assume=f"harm<={cap:.9f}", **options)
            assert found == pytest.approx(own_program(law, value, slack, misread, harmed, round(cap, 9)), abs=NEAR)


@given(types=type_shares(), more=st.integers(0, 30), less=st.integers(0, 30), only=st.sampled_from(["", "treated"]))
@limits(max_examples=30)
def test_slack_to_one_side_and_in_one_arm_confines_the_shares_as_it_says(types, more, less, only):
    """By the closed bounds at the corners and edges of what P(y_x) and P(y_x') may be: a search over both."""
    law = of_types(types)
    given_slack = f"treated=+{more / 100},treated=-{less / 100}" if only else f"+{more / 100},-{less / 100}"
    found = ends(law, slack=given_slack)
    assert found == pytest.approx(lp_bounds(law, asked(law, slack=given_slack)), abs=NEAR)
    value = Estimand.parse("pns").value(TWO_BY_TWO)
    rows, low, high = [], [], []
    for name in (Y_X, Y_X0):
        share = law.p(name)[0]
        may = only != "treated" or name == Y_X
        rows.append(TWO_BY_TWO.incidence[TWO_BY_TWO.column(name)])
        low.append(share - may * less / 100)
        high.append(share + may * more / 100)
    some = TWO_BY_TWO.columns_of(OBSERVATIONAL)
    equal = np.vstack([np.ones(8), TWO_BY_TWO.incidence[some]])
    right = np.append(1.0, law.cells[0, some])
    unequal, most = np.vstack([rows, np.negative(rows)]), np.concatenate([high, np.negative(low)])
    own = [linprog(sign * value, A_ub=unequal, b_ub=most, A_eq=equal, b_eq=right) for sign in (1, -1)]
    assert found == pytest.approx((own[0].fun, -own[1].fun), abs=NEAR)


@given(types=type_shares(), tenths=st.integers(-10, 10))
@limits(max_examples=40)
def test_a_correlation_that_holds_narrows_bounds_as_the_program_says(types, tenths):
    law = of_types(types)
    a, b = law.p(Y_X)[0], law.p(Y_X0)[0]
    both = float(types[0] @ ((TWO_BY_TWO.people["Y0"] == 1) & (TWO_BY_TWO.people["Y1"] == 1)))
    spread = np.sqrt(a * (1 - a) * b * (1 - b))
    if spread < 1e-6 or both - a * b < tenths / 10 * spread:
        return  # does not hold of these people
    found = ends(law, assume=f"correlation>={tenths / 10}")
    assert found == pytest.approx(lp_bounds(law, asked(law, assume=f"correlation>={tenths / 10}")), abs=NEAR)
    plain = ends(law)
    limit = a * (1 - b) - tenths / 10 * spread
    assert found[1] == pytest.approx(min(plain[1], limit), abs=NEAR)
    assert found[0] == pytest.approx(plain[0], abs=NEAR)


@given(
    types=type_shares(),
    smaller=st.integers(0, 30),
    larger=st.integers(0, 30),
    quantity=st.sampled_from(["pns", "pn", "ps"]),
)
@limits(max_examples=40)
def test_bounds_widen_with_slack_and_nest(types, smaller, larger, quantity):
    law, (first, second) = of_types(types), sorted((smaller / 100, larger / 100))
    inner, outer = ends(law, quantity, slack=first), ends(law, quantity, slack=second)
    assert np.isnan(inner).all() or (outer[0] <= inner[0] + 1e-12 and inner[1] <= outer[1] + 1e-12)


@given(types=type_shares(), smaller=st.integers(0, 20), larger=st.integers(0, 20))
@limits(max_examples=30)
def test_bounds_widen_with_misread_outcomes_and_nest(types, smaller, larger):
    law, (first, second) = of_types(types), sorted((smaller / 100, larger / 100))
    inner, outer = (ends(law, misread_outcome=share) for share in (first, second))
    assert outer[0] <= inner[0] + 1e-12
    assert inner[1] <= outer[1] + 1e-12


@given(types=type_shares(), room=st.integers(0, 30))
@limits(max_examples=40)
def test_assumptions_only_narrow_and_keep_the_truth(types, room):
    law = of_types(types)
    value, harmed = Estimand.parse("pns").value(TWO_BY_TWO), Estimand.parse("harm").value(TWO_BY_TWO)
    cap = min(1.0, float(types[0] @ harmed) + room / 100)
    plain, assumed = ends(law), ends(law, assume=f"harm<={cap:.12g}")
    assert plain[0] - NEAR <= assumed[0] <= assumed[1] + NEAR <= plain[1] + 2 * NEAR
    assert assumed[0] - NEAR <= float(types[0] @ value) <= assumed[1] + NEAR


@pytest.mark.parametrize(
    "vacuous",
    [
        {"slack": 0},
        {"slack": "treated=0"},
        {"misread_outcome": 0.0},
        {"assume": "harm<=1"},
        {"assume": "correlation>=-1"},
    ],
)
@pytest.mark.parametrize("quantity", ["pns", "harm", "pn"])
def test_no_slack_and_a_harm_of_at_most_one_change_not_a_digit(vacuous, quantity):
    rows = np.array([[1000.0, 900.0, 2000.0]])
    for seed in range(5):
        _, law = random_law(TWO_BY_TWO, seed)
        assert ends(law, quantity, **vacuous) == ends(law, quantity)
        plain, same = (end_intervals(asked(law, quantity, **options), law, rows) for options in ({}, vacuous))
        assert vars(plain).keys() == vars(same).keys()
        assert all(np.array_equal(vars(plain)[name], vars(same)[name]) for name in vars(plain))


@pytest.mark.parametrize(
    ("case", "quantity", "slack", "expected"),
    [
        (WOMEN, "pns", 0.02, (0.239, 0.279)),
        (WOMEN, "pns", 0.05, (0.179, 0.279)),
        (WOMEN, "pns", 0.10, (0.089, 0.279)),
        (MEN, "pns", 0.02, (0.47, 0.51)),
        (MEN, "pns", 0.05, (0.44, 0.54)),
        (MEN, "pns", 0.10, (0.39, 0.58)),
        (POOLED, "pns", 0.02, (0.3195, 0.4295)),
        (POOLED, "pns", 0.05, (0.2895, 0.4295)),
        (POOLED, "pns", 0.10, (0.2395, 0.4295)),
        (DRUG, "pn", 0.0005, (0.5, 1.0)),
        (DRUG, "pn", 0.001, (0.0, 1.0)),
    ],
)
def test_slack_gives_the_known_answers(case, quantity, slack, expected):
    assert ends(case.law(), quantity, slack=slack) == pytest.approx(expected, abs=1e-9)


def test_harm_and_correlation_give_the_known_answers():
    law = POOLED.law()
    assert ends(law, assume="harm<=0.10") == pytest.approx((0.3395, 0.3795), abs=1e-9)
    assert ends(law, assume="harm<=0.15") == pytest.approx((0.3395, 0.4295), abs=1e-9)
    assert ends(law, assume="correlation>=0")[1] == pytest.approx(0.386705, abs=1e-9)
    for broken in ("harm<=0.05", "correlation>=0.4"):
        with pytest.raises(IncoherentError, match="under what is assumed"):
            lp_bounds(law, asked(law, assume=broken))


def test_no_harm_at_all_is_monotonicity():
    _, law = random_law(TWO_BY_TWO, 3, possible=Estimand.parse(assume="monotone").possible(TWO_BY_TWO))
    assert ends(law, assume="harm<=0") == pytest.approx(ends(law, assume="monotone"), abs=1e-9)


@pytest.mark.parametrize("options", [{}, {"slack": 0.01}, {"misread_outcome": 0.005}], ids=str)
def test_where_an_estimate_is_off_the_nearest_law_satisfies_what_is_assumed(options):
    law, rows = POOLED.law(), np.array([2000.0, 2000.0, 4000.0])
    asked_for = asked(law, assume="harm<=0.04", **options)
    nearest = asked_for.projected(law, rows)
    lower, upper = (float(end[0]) for end in asked_for.bounds_at(law, rows))
    assert lower <= upper + 1e-9
    assert (lower, upper) == pytest.approx(lp_bounds(nearest, asked_for), abs=1e-6)
    few = asked_for.projected(law, np.array([2.0, 2000.0, 4000.0]))  # shares of few rows give way
    assert abs(few.p(Y_X)[0] - law.p(Y_X)[0]) > abs(nearest.p(Y_X)[0] - law.p(Y_X)[0])


def test_the_nearest_law_is_the_weighted_projection():
    """One inequality is broken, P(y) - P(y_x) <= e: the shares share the way by their variances."""
    law, rows = POOLED.law(), np.array([2000.0, 2000.0, 4000.0])
    nearest = asked(law, assume="harm<=0.05").projected(law, rows)
    a, y = law.p(Y_X)[0], law.p("x,y")[0] + law.p("x',y")[0]
    variance_a, variance_y = a * (1 - a) / 2000, y * (1 - y) / 4000
    moved = nearest.p(Y_X)[0] - a
    assert moved == pytest.approx(0.01 * variance_a / (variance_a + variance_y), rel=2e-3)


def test_a_law_that_no_population_has_is_left_alone_by_an_assumption():
    law = Law(TWO_BY_TWO, np.array([[0.9, 0.1, 0.8, 0.2, 0.05, 0.45, 0.05, 0.45]]))
    estimand = asked(law, assume="harm<=0.3")
    assert np.array_equal(estimand.projected(law).cells, law.cells)


@pytest.mark.parametrize(
    ("given_slack", "arms"),
    [
        (0.05, (("", 0.05, 0.05),)),
        ("+0.05", (("", 0.0, 0.05),)),
        ("-0.05", (("", 0.05, 0.0),)),
        ("+0.05,-0.02", (("", 0.02, 0.05),)),
        ("treated=0.05, control=+.02", (("treated", 0.05, 0.05), ("control", 0.0, 0.02))),
        ({"treated": 0.05, "control": "-0.02"}, (("treated", 0.05, 0.05), ("control", 0.02, 0.0))),
    ],
)
def test_slack_is_read_as_it_is_written(given_slack, arms):
    found = Slack.parse(given_slack)
    assert found is not None
    assert found.arms == arms
    assert Slack.parse(str(found)) == found


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("5", "did you mean 0.05"),
        ("a lot", "expected a share such as 0.05"),
        ("treated", "expected a share such as 0.05"),
        ("0.05,+0.02", "says twice"),
        ("0.05,treated=0.02", "for every arm and for one"),
        ("trated=0.05", "Did you mean 'treated'"),
        (-0.1, None),
    ],
)
def test_a_slack_that_means_nothing_is_refused(wrong, message):
    if message is None:  # a number is no text: a sign says to which side
        assert Slack.parse(wrong) == Slack.parse("-0.1")
        return
    with pytest.raises(AssumptionError, match=message):
        Estimand.parse(slack=wrong).of_structure(TWO_BY_TWO)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("harm<=5", "did you mean 0.05"),
        ("harm>=0.05", "expected harm<=AMOUNT"),
        ("harm<=", "expected harm<=AMOUNT"),
        ("correlation>=2", "from -1 to 1"),
        ("hram<=0.05", "Did you mean 'harm'"),
        ("harm<=0.05,harm<=0.1", "say one of them"),
        ("harm", "no assumption is called 'harm'"),
    ],
)
def test_an_assumption_that_says_how_much_is_refused_where_it_is_wrong(wrong, message):
    with pytest.raises(AssumptionError, match=message):
        Estimand.parse(assume=wrong)


@pytest.mark.parametrize(
    ("structure", "options", "message"),
    [
        ("two by two", {"slack": 0.1, "assume": "exogenous"}, "together with slack"),
        ("two by two", {"misread_outcome": 0.1, "assume": "correlation>=0"}, "together with slack or misread"),
        ("two by two", {"misread_outcome": 10}, "did you mean 0.1"),
        ("noncompliance", {"slack": 0.1}, "do not do as assigned"),
        ("noncompliance", {"assume": "correlation>=0"}, "do not do as assigned"),
        ("missing, worst case", {"misread_outcome": 0.1}, "may be anything"),
        ("no order", {"slack": "+0.1", "statement": "Y[drug] == none"}, "have no order"),
        ("no order", {"assume": "harm<=0.1", "statement": "Y[drug] == none"}, "have no order"),
    ],
)
def test_what_a_structure_does_not_show_is_refused(structure, options, message):
    with pytest.raises(AssumptionError, match=message):
        Estimand.parse(**options).of_structure(STRUCTURES[structure])


def test_quantities_that_condition_on_a_misread_outcome_are_refused():
    with pytest.raises(QuantityError, match="may be misread"):
        ends(WOMEN.law(), "pn", misread_outcome=0.01)


def test_what_is_too_much_to_compile_is_refused(monkeypatch):
    monkeypatch.setattr(compiled, "_MAX_RAYS_WITH_LIMITS", 20)
    with pytest.raises(LimitError, match="merge outcomes"):
        ends(random_law(STRUCTURES["named two by two"], 0)[1], slack=0.01, misread_outcome=0.01, assume="harm<=0.9")


def test_compiling_again_at_another_slack_takes_no_new_vertices():
    """The vertices of the dual do not depend on the right sides, so terms are linear in the slack."""
    structure, one = TWO_BY_TWO, Estimand.parse(slack=0.1)
    lower, half, none = (
        replace(one, slack=one.slack.times(factor) if one.slack else None).compiled(structure).numerator.lower
        for factor in (1.0, 0.5, 1e-9)
    )
    np.testing.assert_allclose(half.constant, (lower.constant + none.constant) / 2, atol=1e-9)
    assert np.array_equal(half.coefficients, lower.coefficients)


ASKED = {
    "slack": {"slack": 0.05},
    "misread outcomes": {"misread_outcome": 0.02},
    "few harmed": {"assume": "harm<=0.1"},
    "few harmed, with slack": {"slack": 0.03, "assume": "harm<=0.1"},
    "correlated": {"assume": "correlation>=-0.2"},
}


@pytest.mark.parametrize("name", ASKED)
def test_intervals_hold_each_end_as_often_as_they_say(name):
    """Of simulated studies; fewer of the correlation, whose functions bend and are straightened study by study."""
    studies, rows = (80 if name == "correlated" else 600), np.array([800.0, 800.0, 1600.0])
    rng = np.random.default_rng(7)
    types = np.array([[0.2, 0.15, 0.05, 0.1, 0.1, 0.25, 0.03, 0.12]])  # of whom 8% are harmed
    law = of_types(types)
    estimand = asked(law, **ASKED[name])
    shares = [
        rng.multinomial(int(size), law.cells[0, some], studies) / size
        for size, some in zip(rows, TWO_BY_TWO.group_slices, strict=True)
    ]
    found = end_intervals(estimand, Law(TWO_BY_TWO, np.concatenate(shares, axis=1)), np.tile(rows, (studies, 1)))
    lower, upper = lp_bounds(law, estimand)
    held = (found.lower_low <= lower) & (lower <= found.lower_high)
    held_above = (found.upper_low <= upper) & (upper <= found.upper_high)
    least = estimand.level - 3 * np.sqrt(estimand.level * (1 - estimand.level) / studies)
    assert held.mean() >= least
    assert held_above.mean() >= least


def test_a_formula_names_what_bends_and_what_slack_adds():
    text = formula_text(asked(WOMEN.law(), assume="correlation>=0.2"), TWO_BY_TWO)
    assert "P(y_x) - K" in text
    assert "K = E[Y_x] E[Y_x'] + 0.2 sd(Y_x) sd(Y_x')" in text
    assert "P(y_x) - P(y_x') - 0.1" in formula_text(asked(WOMEN.law(), slack=0.05), TWO_BY_TWO)
    assert "K &= " in formula_latex(asked(WOMEN.law(), assume="correlation>=0.2"), TWO_BY_TWO)
