"""Reports on every structure: arms and outcomes by name, their counts, the best arm, and curves over time."""

from __future__ import annotations

import html
import json
import re

import pytest

import pnsight
from pnsight.output import plots
from pnsight.output.report import as_plain, render, summarise
from web_structures import MODELS

SAID = {
    "doses": "40 mg is compared with placebo: to treat means 40 mg in place of placebo. "
    "The outcome, relief, is none, partial, full, from the lowest to the highest.",
    "grades": "Stroke unit is compared with standard care: to treat means stroke unit in place of standard care.",
    "survival": "The outcome is the time to an event, days; the event is bad.",
    "screening": "screened = yes is compared with screened = no",
}


@pytest.fixture(scope="module", params=MODELS)
def reported(request):
    name = request.param
    model = MODELS[name]()
    return name, model, summarise(model, 0.3)


def test_the_page_names_arms_and_outcomes_and_speaks_of_nobody_who_responds(reported):
    name, _, summary = reported
    page = render(summary)
    text = " ".join(html.unescape(re.sub("<[^>]*>", " ", page)).split())
    assert SAID[name].lower() in text.lower()
    for word in ("treated means", "to respond means", "would respond", "who respond because"):
        assert word not in text
    assert "<script" not in page


def test_the_headline_is_the_models_answer_to_the_usual_contrast(reported):
    name, model, summary = reported
    options = {"doses": {"contrast": "40 mg:placebo"}, "survival": {"horizon": 365}}.get(name, {})
    expected = model.bounds("", "pns", **options)
    assert summary.everyone[0].answer.lower == expected.lower[0]
    assert summary.everyone[0].answer.upper == expected.upper[0]
    json.dumps(as_plain(summary))


def test_every_row_is_counted_by_arm_and_outcome(reported):
    _, model, summary = reported
    tables = [sum(float(row[-1].replace(",", "")) for row in counts.rows) for counts in summary.counts]
    assert tables == pytest.approx([rows for rows in model.study.table_rows if rows])


def test_a_contrast_is_chosen_and_the_sentence_names_it():
    summary = summarise(MODELS["doses"](), 0.3, contrast="10 mg:placebo")
    assert summary.title == "For whom does 10 mg make the difference?"
    assert "relief is higher under 10 mg than it would be under placebo" in summary.everyone[0].sentence


def test_the_best_of_several_arms_is_told_for_everyone_and_each_level():
    model = MODELS["doses"]()
    found = summarise(model, 0.2).structure.arms
    expected = pnsight.decide(model, ["", "sex=female"], 0.2, True)
    shown = {group.name: group for group in found.groups}
    for row, name in enumerate(("everyone", "sex = female")):
        assert shown[name].decision == str(expected.decision[row]).removeprefix("arm:")
        assert shown[name].between == expected.between[row]
    assert summarise(MODELS["grades"]()).structure.arms is None


def test_curves_show_each_horizon_with_the_answers_of_that_horizon():
    model = MODELS["survival"]()
    pns, harm = summarise(model, 0.3).structure.curves
    assert (pns.quantity, harm.quantity) == ("pns", "harm")
    for at, horizon in enumerate(pns.horizons):
        expected = model.bounds("", "pns", horizon=horizon)
        assert (pns.lower[at], pns.upper[at]) == (expected.lower[0], expected.upper[0])
        assert (pns.lower_low[at], pns.upper_high[at]) == (expected.lower_low[0], expected.upper_high[0])


def test_sentences_speak_of_the_horizon_that_is_asked_about():
    summary = summarise(MODELS["survival"](), horizon=90)
    assert "the event has not come by 90 under immunotherapy, and would have under chemotherapy" in (
        summary.everyone[0].sentence
    )
    assert summary.everyone[-1].name == "Time gained"


def test_among_compliers_is_said():
    model = MODELS["screening"]()
    asked = pnsight.Estimand.parse("pns", among="compliers", assume="no-defiers")
    sentence = summarise(model, quantity=asked).everyone[0].sentence
    assert sentence.startswith("Among those who take screened = yes if assigned to it and screened = no if assigned")


def test_curves_over_time_have_a_panel_for_each_quantity():
    model = MODELS["survival"]()
    answers = model.bounds(["", "sex=female"], horizon=90)
    figure = plots.over_time((90, 180), {"PNS": answers, "harm": answers}, unit="days")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["PNS", "harm"]
    assert figure.axes[0].get_xlabel() == "days"
