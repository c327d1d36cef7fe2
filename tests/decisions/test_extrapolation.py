"""Answers about people like whom nobody was seen keep their bounds, but nothing is decided on them unless asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pnsight
from cases import write_sexes
from noted import kinds, values
from pnsight.decisions import ask, decide, decided, extrapolated, select
from pnsight.models.base import Model
from pnsight.queries.bound_table import BoundTable

BASES = np.array(["rows", "model", "extrapolated", "extrapolated"])


def answers(**more) -> BoundTable:
    """Four answers above one half, the last of them contradicted."""
    lower, upper = np.array([0.6, 0.6, 0.6, np.nan]), np.array([0.9, 0.9, 0.9, np.nan])
    status = np.array(["ok", "ok", "ok", "contradicted"])
    rows = np.array([100.0, 3, 0, 50])
    return BoundTable("pns", list("abcd"), lower, upper, rows, rows, status, basis=BASES, **more)


def with_intervals(reach: float) -> BoundTable:
    plain = answers()
    ends = {
        f"{end}_{side}": getattr(plain, end) + sign * reach
        for end in ("lower", "upper")
        for side, sign in (("low", -1), ("high", 1))
    }
    return replace(plain, level=0.9, **ends)


def test_an_extrapolated_answer_keeps_its_bounds_but_decides_nothing():
    found = decided(answers())
    assert list(found.decision) == ["treat", "treat", "", ""]
    assert found.columns()["lower"] == [0.6, 0.6, 0.6, None]
    assert found.columns()["basis"] == list(BASES)


def test_it_decides_if_asked_to():
    assert list(decided(answers(), extrapolate=True).decision) == ["treat", "treat", "treat", ""]


def test_how_many_are_left_undecided_for_that_is_said_and_those_without_an_answer_do_not_count():
    assert list(extrapolated(answers())) == [False, False, True, False]
    assert values(decided(answers()).notes, "extrapolated_undecided") == {"queries": 1, "of": 4}
    assert "extrapolated_undecided" not in kinds(decided(answers(), extrapolate=True).notes)


def test_the_reason_says_that_nobody_like_this_was_seen():
    found = decided(answers())
    assert found.reason(2).values["basis"] == "extrapolated"
    assert "nobody like this was seen" in found.words()[2]


@pytest.mark.parametrize(("reach", "cautious"), [(0.05, "treat"), (0.2, "uncertain")])
def test_the_cautious_decision_stands_beside_the_plain_one(reach, cautious):
    table = with_intervals(reach)
    found = decided(table)
    assert list(found.decision) == ["treat", "treat", "", ""]
    assert list(found.decision_cautious) == [cautious, cautious, "", ""]
    careful = decided(table, cautious=True)
    assert list(careful.decision) == list(careful.decision_cautious) == [cautious, cautious, "", ""]


def test_without_intervals_there_is_no_cautious_decision():
    assert list(decided(answers()).decision_cautious) == [""] * 4


def test_an_answer_whose_interval_is_not_known_has_a_plain_decision_only():
    table = with_intervals(0.05)
    unknown = {name: np.where([True, False, False, False], np.nan, getattr(table, name)) for name in ("lower_low",)}
    found = decided(replace(table, **unknown))
    assert (found.decision[0], found.decision_cautious[0]) == ("treat", "")
    careful = decided(replace(table, **unknown), cautious=True)
    assert "how far these bounds may be off is not known" in careful.words()[0]


# --- models that say what their answers rest on -----------------------------------------------------------


@pytest.fixture
def guessing(tmp_path, monkeypatch) -> Model:
    """Women and men; what is said about men is extrapolated."""
    model = pnsight.PlugIn().fit(pnsight.read_study(*write_sexes(tmp_path), treatment="x", outcome="y"))
    plain = model.compute_bounds

    def saying(codes, estimand):
        return replace(plain(codes, estimand), basis=np.where(codes[:, 0] == 1, "extrapolated", "rows"))

    monkeypatch.setattr(model, "compute_bounds", saying)
    return model


def test_a_model_decides_on_whom_it_has_seen(guessing):
    assert list(decide(guessing, ["F", "M"], 0.25).decision) == ["treat", ""]
    assert list(decide(guessing, ["F", "M"], 0.25, extrapolate=True).decision) == ["treat", "treat"]


def test_no_question_leads_to_a_decision_about_people_like_whom_nobody_was_seen(guessing):
    columns = ask(guessing, "", 0.4).columns()
    assert (columns["not"], columns["treat"], columns["unanswered"]) == ([0.5], [0.0], [0.5])
    assert ask(guessing, "", 0.4, extrapolate=True).columns()["treat"] == [0.5]


def test_a_budget_is_not_spent_on_people_like_whom_nobody_was_seen(guessing):
    found = select(guessing, 1.0)
    assert list(found.answers.queries) == ["F"]
    assert [note.values for note in found.notes if note.kind == "not_considered"] == [
        {"share": 0.5, "why": "extrapolated"}
    ]
    assert list(select(guessing, 1.0, extrapolate=True).answers.queries) == ["M", "F"]
