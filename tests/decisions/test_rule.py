"""The decision rule: treat, do not treat, uncertain; plainly or with caution."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pnsight
from pnsight.data.schema import Covariate, Schema
from pnsight.data.study import Study
from pnsight.decisions import decide, decided, decisions
from pnsight.decisions.rule import rank_with_ties
from pnsight.errors import ModelError, QueryError
from pnsight.estimands.resolve import resolve_crossed_bounds
from pnsight.notes import Note
from pnsight.queries import lattice
from pnsight.queries.bound_table import BoundTable


def test_the_rule_of_the_case_study():
    lower = np.array([0.5, 0.2, 0.4, 0.0, np.nan, 0.7])
    upper = np.array([0.9, 0.49, 0.5, 0.1, np.nan, 0.6])
    assert list(decisions(lower, upper, 0.5)) == ["treat", "not", "uncertain", "not", "", ""]


def test_a_point_at_the_threshold_means_treat():
    assert list(decisions(np.array([0.5]), np.array([0.5]), 0.5)) == ["treat"]


def answers(lower: float, upper: float, reach: float | None) -> BoundTable:
    """One answer, with an interval that reaches as far on all sides."""
    ends = resolve_crossed_bounds(np.array([lower]), np.array([upper]))
    table = BoundTable("pns", ["q"], *ends[:2], np.ones(1), np.ones(1), ends[2])
    if reach is None:
        return table
    around = [np.clip(np.array([end + side]), 0, 1) for end in (lower, upper) for side in (-reach, reach)]
    return BoundTable("pns", ["q"], *ends[:2], np.ones(1), np.ones(1), ends[2], *around, level=0.9)


unit = st.floats(0, 1)


@given(ends=st.tuples(unit, unit), reach=unit, threshold=unit)
def test_cautious_decisions_are_among_the_plain_ones(ends, reach, threshold):
    table = answers(min(ends), max(ends), reach)
    plain, cautious = (decided(table, threshold, careful).decision[0] for careful in (False, True))
    assert cautious in (plain, "uncertain")


@pytest.mark.parametrize(
    ("lower", "upper", "reach", "plain", "cautious"),
    [
        (0.6, 0.9, 0.05, "treat", "treat"),
        (0.6, 0.9, 0.15, "treat", "uncertain"),
        (0.1, 0.4, 0.05, "not", "not"),
        (0.1, 0.4, 0.1, "not", "uncertain"),
        (0.3, 0.7, 0.05, "uncertain", "uncertain"),
        (0.9, 0.1, 0.05, "", ""),
    ],
)
def test_caution_wants_the_whole_interval_on_one_side(lower, upper, reach, plain, cautious):
    table = answers(lower, upper, reach)
    assert decided(table).decision[0] == plain
    assert decided(table, cautious=True).decision[0] == cautious


@pytest.mark.parametrize("threshold", [0.3, 0.5])
def test_a_models_cautious_decisions_are_among_its_plain_ones(fitted, threshold):
    codes = lattice.all_queries(fitted.schema)[::7]
    plain, cautious = (decide(fitted, codes, threshold, careful) for careful in (False, True))
    changed = plain.decision != cautious.decision
    assert changed.any()
    assert (cautious.decision[changed] == "uncertain").all()


def test_caution_needs_intervals(without_intervals):
    with pytest.raises(ModelError, match="response-types"):
        decide(without_intervals, "", cautious=True)


def test_a_threshold_must_be_a_number():
    with pytest.raises(QueryError, match="nan"):
        decided(answers(0.1, 0.2, None), float("nan"))


@pytest.mark.parametrize(
    ("threshold", "meant"),
    [(30, "between 0 and 1, and 30 was given; did you mean 0.3"), (-0.1, "-0.1 was given"), (1e9, "1e.09 was given")],
)
def test_a_threshold_that_no_probability_can_have_is_refused(threshold, meant):
    with pytest.raises(QueryError, match=meant):
        decided(answers(0.1, 0.2, None), threshold)


def test_the_ends_of_the_scale_are_thresholds_and_a_cost_may_be_any():
    assert [str(decided(answers(0.1, 0.2, None), end).decision[0]) for end in (0, 1)] == ["treat", "not"]
    benefit = replace(answers(0.1, 0.2, None), quantity="benefit")
    assert str(decided(benefit, 30).decision[0]) == "not"


def test_the_decision_stands_beside_the_query_and_before_its_answer(plug_in):
    found = decide(plug_in, ["", "1101001110"], 0.4)
    assert list(found.columns())[:5] == ["query", "decision", "decision_cautious", "lower", "upper"]
    assert found.columns()["decision"] == ["uncertain", ""]
    assert found.notes[-1] == Note("decisions_counted", {"treat": 0, "not_": 0, "uncertain": 1, "unanswered": 1})
    assert "treat if pns is at least 0.4" in repr(found)
    assert list(found.to_pandas()["decision"]) == ["uncertain", ""]


@pytest.mark.parametrize(
    ("table", "cautious", "sentence"),
    [
        (answers(0.6, 0.9, None), False, "q: treat: pns is at least 0.600, not below 0.5."),
        (answers(0.1, 0.4, None), False, "q: do not treat: pns is at most 0.400, below 0.5."),
        (answers(0.1, 0.7, None), False, "q: uncertain: pns is between 0.100 and 0.700, on both sides of 0.5."),
        (answers(0.9, 0.1, None), False, "q: no decision: the answer is incoherent."),
        (
            answers(0.6, 0.9, 0.05),
            True,
            "q: treat: pns is at least 0.600, not below 0.5, and the 90% interval of that bound reaches 0.550, "
            "on the same side.",
        ),
        (
            answers(0.1, 0.4, 0.2),
            False,
            "q: do not treat: pns is at most 0.400, below 0.5, but the 90% interval of that bound reaches 0.600, "
            "on the other side.",
        ),
        (
            answers(0.1, 0.4, 0.2),
            True,
            "q: uncertain: pns is between 0.100 and 0.400, but the 90% interval of the upper bound reaches 0.600, "
            "on the other side.",
        ),
        (
            answers(0.6, 0.9, 0.2),
            True,
            "q: uncertain: pns is between 0.600 and 0.900, but the 90% interval of the lower bound reaches 0.400, "
            "on the other side.",
        ),
    ],
)
def test_a_decision_in_words_gives_its_reason_and_its_rows(table, cautious, sentence):
    rows = " (rows: 1 experimental, 1 observational)."
    assert decided(table, cautious=cautious).words() == [sentence.removesuffix(".") + rows]


@pytest.mark.parametrize(("basis", "decision"), [("rows", "treat"), ("model", "uncertain"), ("", "treat")])
def test_an_answer_that_others_taught_is_decided_with_a_margin(basis, decision):
    table = replace(answers(0.6, 0.9, 0.09), basis=np.array([basis]))
    found = decided(table, 0.5, cautious=True)
    assert found.decision.tolist() == [decision]
    assert found.reason().values["interval"]["stretched"] == (basis == "model")
    assert ("made wider as others taught it" in found.words()[0]) == (basis == "model")


@pytest.mark.parametrize("basis", ["rows", "model"])
def test_a_margin_never_turns_a_cautious_decision_into_another(basis):
    rng = np.random.default_rng(3)
    for lower, upper, half in zip(*np.sort(rng.random((2, 200)), axis=0), rng.random(200) / 3, strict=True):
        table = replace(answers(lower, upper, half), basis=np.array([basis]))
        plain, careful = decided(table, 0.5).decision[0], decided(table, 0.5).decision_cautious[0]
        assert careful in (plain, "uncertain")


# --- thresholds met exactly, and ties -----------------------------------------------------------------------

NEARLY = 0.3 - 1e-16
"""What 0.1 + 0.2 may be by another order of sums."""


@pytest.mark.parametrize("threshold", [0.3, 0.1 + 0.2, NEARLY, 0.3 - 1e-10])
def test_a_threshold_is_met_whatever_the_last_digit(threshold):
    ends = np.array([0.3, 0.1 + 0.2, NEARLY])
    assert decisions(ends, np.ones(3), threshold).tolist() == ["treat"] * 3
    assert decisions(np.zeros(3), ends, threshold).tolist() == ["uncertain"] * 3


def test_a_threshold_is_not_met_by_what_a_person_would_tell_from_it():
    assert decisions(np.array([0.3 - 1e-8]), np.ones(1), 0.3).tolist() == ["uncertain"]
    assert decisions(np.zeros(1), np.array([0.3 - 1e-8]), 0.3).tolist() == ["not"]


def test_an_interval_that_meets_the_threshold_agrees_whatever_the_last_digit():
    found = decided(answers(0.4, 0.9, 0.1), NEARLY + 1e-16, cautious=True)
    assert found.decision.tolist() == ["treat"]
    assert found.reason().values["interval"]["agrees"]


def test_numbers_that_differ_by_rounding_share_a_rank():
    values = np.array([0.2, NEARLY, np.nan, 0.1 + 0.2, 0.3, 0.2 + 1e-8, -0.5])
    assert rank_with_ties(values).tolist() == [2, 0, 4, 0, 0, 1, 3]
    assert rank_with_ties(values / 1e12).tolist() == [2, 0, 4, 0, 0, 1, 3]
    assert rank_with_ties(np.array([])).tolist() == []
    assert rank_with_ties(np.full(2, np.nan)).tolist() == [0, 0]


# --- answers that are worth few rows ------------------------------------------------------------------------


def plug_in(trial, registry=None, **choices):
    """Counts of two profiles in either table."""
    sexes = Schema((Covariate("sex", ("F", "M")),))
    tables = (np.array(counts, float) for counts in ([trial] if registry is None else [trial, registry]))
    return pnsight.PlugIn(**choices).fit(Study.from_tables(sexes, np.array([[0], [1]], np.int32), *tables))


@pytest.mark.parametrize(("rows", "decision"), [(29, "uncertain"), (30, "treat")])
def test_the_plug_in_is_not_decided_upon_with_caution_if_it_is_worth_few_rows(rows, decision):
    model = plug_in([[rows, 0, 0, 500], [500, 0, 0, 500]])
    found = decide(model, ["F", "M"], 0.5, cautious=True)
    assert found.decision.tolist() == [decision, "treat"]
    assert decide(model, "F", 0.5).decision.tolist() == ["treat"]
    said = "but the answer is worth 29 rows of its own, too few to decide with caution"
    assert (said in found.words()[0]) == (rows == 29)


def test_rows_that_stand_for_many_people_are_worth_few():
    """Of the trial 1,000 women and 20 men, of the registry as many men as women: a mean over it rests on the men."""
    trial = [[500, 0, 0, 500], [10, 0, 0, 10]]
    model = plug_in(trial, [[100, 0, 0, 100], [100, 0, 0, 100]], mix="profiles")
    worth = model.bounds(["F", "M", ""]).effective_rows
    np.testing.assert_allclose(worth, [200, 10, 1 / (0.25 / 500 + 0.25 / 10)])
    assert decide(model, ["F", ""], 0.5, cautious=True).decision.tolist() == ["treat", "treat"]
    assert decide(model, "M", 0.5, cautious=True).decision.tolist() == ["uncertain"]
    refined = decide(model, ["M", ""], 0.5, cautious=True, refine="covariates")
    np.testing.assert_allclose(refined.answers.effective_rows, worth[1:])


def test_where_choice_is_exogenous_both_tables_count():
    model = plug_in([[10, 0, 0, 10], [10, 0, 0, 10]], [[200, 0, 0, 200], [200, 0, 0, 200]])
    assert decide(model, "F", 0.5, cautious=True).decision.tolist() == ["uncertain"]
    assert decide(model, "F", 0.5, cautious=True, assume="exogenous").decision.tolist() == ["treat"]


def test_nobody_named_is_everyone():
    table = answers(0.6, 0.9, None)
    everyone = BoundTable("pns", [""], table.lower, table.upper, np.ones(1), np.ones(1), table.status)
    assert decided(everyone).words()[0].startswith("everyone: treat")


def test_further_arguments_go_to_the_models_bounds(fitted):
    found = decide(fitted, "z4=1", 0.2, quantity="harm", level=0.5, population="experimental")
    expected = fitted.bounds("z4=1", "harm", level=0.5, population="experimental")
    assert found.answers.columns() == expected.columns()
