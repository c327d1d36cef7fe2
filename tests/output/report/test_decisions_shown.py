"""Decisions in a report are cautious unless asked otherwise, stand beside their rows, and guess about nobody."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

import pnsight
from html_page import Page
from pnsight import PlugIn
from pnsight.output.about_answers import FEW_ROWS
from pnsight.output.report import render, summarise, words

DAY = date(2026, 1, 31)
THRESHOLD = 0.2


@pytest.fixture(scope="module")
def near(fitted) -> float:
    """A threshold that the upper bound of women stays below, but not its interval."""
    return float(fitted.bounds("sex=F").upper[0]) + 1e-4


@pytest.fixture(scope="module")
def cautious(fitted, near):
    return summarise(fitted, threshold=near, made=DAY)


@pytest.fixture(scope="module")
def plain(fitted, near):
    return summarise(fitted, threshold=near, made=DAY, cautious=False)


def test_decisions_are_cautious_where_there_are_intervals(cautious, plain, fitted, near):
    assert (cautious.cautious, plain.cautious) == (True, False)
    for found, word in ((cautious, "decision_cautious"), (plain, "decision")):
        for answer in (*found.levels.answers, *found.best.answers):
            decided = pnsight.decide(fitted, answer.query, near)
            assert found.decision(answer) == getattr(decided, word)[0]
    women = next(answer for answer in cautious.levels.answers if answer.query == "sex=F")
    assert (cautious.decision(women), plain.decision(women)) == ("uncertain", "not")


def test_when_a_group_is_treated_is_said(cautious, plain):
    assert cautious.rule.endswith("The whole 90% interval of the bound has to agree.")
    assert "interval" not in plain.rule


def test_without_intervals_decisions_go_by_the_bounds_and_that_is_said(models):
    found = summarise(models["without intervals"], threshold=THRESHOLD, made=DAY)
    assert not found.cautious
    assert words.BY_BOUNDS in Page(render(found)).texts


def test_the_rows_behind_the_headline_stand_beside_it(cautious):
    page = Page(render(cautious))
    at = page.texts.index("Treat everyone?")
    assert page.texts[at:].index("It rests on") < 8
    assert page.rows.count("5,000") >= 4


def test_few_rows_are_said_beside_a_decision(plug_in):
    found = summarise(plug_in, threshold=THRESHOLD, made=DAY)
    assert "few rows" not in Page(render(found)).texts
    few = replace(found.best.answers[0], support_experimental=FEW_ROWS - 1)
    rare = replace(found, best=replace(found.best, answers=(few, *found.best.answers[1:])))
    assert rare.rests_on_few(few)
    assert Page(render(rare)).texts.count("few rows") == 1


def test_an_experiment_alone_is_not_blamed_for_rows_that_it_cannot_have(models):
    found = summarise(models["experiment alone"], made=DAY)
    assert not any(found.rests_on_few(answer) for answer in found.levels.answers)


def test_what_answers_rest_on_is_shown_and_guesses_decide_nothing(plug_in, monkeypatch):
    compute = PlugIn.compute_bounds

    def guessing(self, codes, estimand):
        basis = np.where(codes[:, 0] == 1, "extrapolated", np.where(codes[:, 0] == 0, "rows", "model"))
        return replace(compute(self, codes, estimand), basis=basis)

    monkeypatch.setattr(PlugIn, "compute_bounds", guessing)
    found = summarise(plug_in, threshold=THRESHOLD, made=DAY)
    by_query = {answer.query: answer for answer in found.levels.answers}
    assert (by_query["sex=M"].basis, by_query["sex=M"].decision) == ("extrapolated", "")
    assert by_query["sex=M"].lower is not None
    assert by_query["sex=F"].decision
    page = Page(render(found))
    assert "own rows" in page.texts
    if any(answer.basis == "extrapolated" for answer in found.best.answers):
        assert "extrapolated: nobody like this was seen" in page.texts


def test_whom_answers_are_about_is_said(cautious, plug_in, models):
    assert cautious.population == "averaged over the people of the observational table"
    assert "Answers are averaged over the people of the observational table." in Page(render(cautious)).texts
    assert summarise(plug_in).population.startswith("averaged over each table's own people")
    assert summarise(models["experiment alone"]).population == "averaged over the people of the experimental table"
    assert summarise(models["exact"]).population == ""


def test_what_a_model_warns_of_is_at_the_head_and_not_again_below(plug_in):
    warning = pnsight.Note("assignment_varies", {"variation": 0.4}, "warning")
    warned = PlugIn().fit(plug_in.study)
    warned.keep_warnings([warning])
    found = summarise(warned, threshold=THRESHOLD, made=DAY)
    assert found.warnings == (str(warning),)
    assert render(found).count("shares vary by 40%") == 1
