"""Reporting guidelines: what the analysis knows is filled in, and what it does not know is left to the authors."""

from __future__ import annotations

from html_page import Page
from pnsight.output.report import as_plain, render, summarise
from pnsight.output.report.guidelines import CONSORT, STROBE, TARGET


def said(found, guideline: str) -> dict[str, str | None]:
    return {item.topic: item.said for item in found.guidelines.items if item.guideline == guideline}


def test_every_kind_of_report_has_items_filled_in_and_items_left_to_fill_in(model):
    found = summarise(model)
    filled = [item.said is not None for item in found.guidelines.items]
    assert any(filled)
    assert not all(filled)
    assert found.version in found.guidelines.methods
    assert not any(item.said == "" for item in found.guidelines.items)


def test_tables_are_described_by_what_the_report_says_of_them(plug_in):
    found = summarise(plug_in, threshold=0.3)
    target, strobe = said(found, TARGET), said(found, STROBE)
    answer = found.everyone[0].answer
    assert f"{answer.lower:.3f} to {answer.upper:.3f}" in target["estimates with their precision"]
    assert "20,000" in target["how many people were selected and analysed"]
    assert "sex, age, site" in strobe["outcomes, exposures and covariates"].replace(" and ", ", ")
    assert target["who is eligible, in the target trial and in the data"] is None
    assert strobe["funding"] is None


def test_an_experiment_alone_is_reported_as_a_trial_only(models):
    found = summarise(models["experiment alone"])
    assert {item.guideline for item in found.guidelines.items} == {CONSORT}


def test_blanks_are_marked_on_the_page_and_empty_in_the_data(plug_in):
    found = summarise(plug_in)
    blanks = [item for item in found.guidelines.items if item.said is None]
    assert Page(render(found)).texts.count("to fill in") == len(blanks) + 1  # one explains the mark
    assert sum(item["said"] is None for item in as_plain(found)["guidelines"]["items"]) == len(blanks)
