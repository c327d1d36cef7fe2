"""A report never decides where the tables contradict each other or are not usable, and shows what the trial says."""

from __future__ import annotations

from datetime import date

import pytest

import pnsight
from cases import INCOHERENT, LALONDE, half_contradicted
from html_page import Page
from pnsight import PlugIn
from pnsight import simulation as populations
from pnsight.data.study import Study
from pnsight.output.report import Summary, render, summarise, words

DAY = date(2026, 1, 31)


@pytest.fixture(scope="module")
def lalonde() -> Summary:
    return summarise(PlugIn().fit(LALONDE.study()), threshold=0.2, made=DAY)


@pytest.fixture(scope="module")
def towns() -> Summary:
    """Of two towns one is contradicted."""
    return summarise(PlugIn().fit(half_contradicted()), threshold=0.25, made=DAY)


def chosen_not_randomised() -> Study:
    """Two tables of the same people, who chose in what is called the experiment too."""
    study = populations.get("mediator").sample(5_000, 5_000, seed=1)
    return study.with_tables(experimental=study.observational)


def test_the_headline_is_no_decision_with_the_trials_bounds_and_what_to_do(lalonde):
    (pns, *_), page = lalonde.everyone, Page(render(lalonde))
    assert pns.answer.status == "contradicted"
    assert (pns.answer.decision, pns.answer.decision_cautious, pns.sentence) == ("", "", "")
    assert pns.trial.startswith("By the trial alone: for at least 7.8% and at most 30.4% of people")
    assert "No answer from both tables" in page.texts
    assert words.WHAT_TO_DO in page.texts
    assert any("By the trial alone 0.078" in text for text in page.texts)


def test_not_usable_and_the_decision_do_not_disagree(lalonde):
    page = Page(render(lalonde))
    assert lalonde.check.verdict == "not usable"
    assert "Not usable" in page.texts
    for word in ("treat", "do not treat", "uncertain"):
        assert not any(text.strip("\N{NO-BREAK SPACE}") == word for text in page.texts)


def test_the_net_effect_is_the_trials_where_everyone_is_contradicted(lalonde):
    assert lalonde.net.treated - lalonde.net.untreated == pytest.approx(230 / 297 - 296 / 425)
    assert lalonde.net.sentence.startswith("By the trial alone: ")


def test_nobody_is_ranked_or_chosen_and_the_reason_is_told(lalonde):
    for part in (lalonde.best, lalonde.harmed, lalonde.gains):
        assert "the tables contradict each other beyond chance" in part.refused


def test_the_warning_of_the_model_is_on_the_page_once(lalonde):
    (warning,) = lalonde.warnings
    assert warning.startswith("the tables contradict each other. For everyone")
    assert render(lalonde).count("The tables contradict each other. For everyone") == 1


def test_what_is_not_contradicted_is_answered_and_decided(towns):
    status = {answer.query: answer.status for answer in towns.levels.answers}
    assert status == {
        "": "contradicted",
        "town=Ain": "ok",
        "town=Brest": "contradicted",
        "age=old": "contradicted",
        "age=young": "contradicted",
    }
    decisions = {answer.query: answer.decision for answer in towns.levels.answers}
    assert [query for query, word in decisions.items() if word] == ["town=Ain"]
    assert towns.best.answers
    assert all("Ain" in answer.query for answer in towns.best.answers)


def test_the_trial_alone_is_reported_as_such(lalonde):
    model = PlugIn().fit(LALONDE.study())
    found = summarise(model, threshold=0.05, made=DAY, trial_alone=True)
    assert found.trial_alone
    assert found.data.observational_rows is None
    assert found.everyone[0].answer.lower == pytest.approx(0.0779, abs=5e-5)
    assert found.everyone[0].answer.decision == "treat"
    assert found.check.verdict == "usable"
    assert found.warnings == ()
    assert words.TRIAL_ALONE in Page(render(found)).texts
    assert words.TRIAL_ALONE not in Page(render(lalonde)).texts


def test_an_estimand_brings_its_own_answer_to_that():
    model = PlugIn().fit(LALONDE.study())
    assert summarise(model, quantity=pnsight.Estimand(trial_alone=True)).trial_alone


def test_nothing_is_decided_from_a_trial_that_was_not_randomised():
    found = summarise(PlugIn().fit(chosen_not_randomised()), threshold=0.1, made=DAY)
    assert found.check.verdict == "not usable"
    assert "balance failed" in found.undecided
    answers = [*found.levels.answers, *found.best.answers, found.everyone[0].answer]
    assert len(answers) > 3
    assert not any(answer.decision or answer.decision_cautious for answer in answers)
    page = Page(render(found))
    assert found.undecided in page.texts
    assert "Not usable" in page.texts
    assert not any(text.strip("\N{NO-BREAK SPACE}") in ("treat", "do not treat", "uncertain") for text in page.texts)


def test_a_wholly_impossible_pair_of_tables_still_makes_a_page():
    html = render(summarise(PlugIn().fit(INCOHERENT.study()), made=DAY))
    assert "No answer from both tables" in html


def test_a_table_that_is_not_used_is_not_said_to_be_missing():
    found = summarise(PlugIn().fit(LALONDE.study()), made=DAY, trial_alone=True)
    assert words.NOT_USED in found.bounds
    assert "not used" in Page(render(found)).texts
    assert "there is no observational table" not in render(found)


def test_where_nothing_is_answered_nobody_is_said_to_be_certain(lalonde):
    assert "is the decision uncertain" not in render(lalonde)
    assert "This model cannot tell" not in render(lalonde)
