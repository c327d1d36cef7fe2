"""A second opinion in the report: beside the model's refined bounds, in words near the headline, or why not."""

from __future__ import annotations

from dataclasses import asdict

import pytest

import pnsight
from boastful import Boastful
from html_page import Page
from pnsight.decisions.second_opinion import TIGHTER
from pnsight.output.report import as_markdown, render, report_tables, summarise

NOT_BORNE_OUT = "does not bear out the model's refined bounds of"


@pytest.fixture(scope="module")
def summary(plug_in):
    return summarise(plug_in, 0.3, opinion=True)


def test_it_is_there_when_asked_for_only(plug_in, summary):
    assert summarise(plug_in, 0.3).opinion is None
    assert "A second opinion" not in render(summarise(plug_in, 0.3))
    assert "A second opinion" in Page(render(summary)).texts


def test_its_rows_are_what_the_library_says(plug_in, summary):
    found = pnsight.second_opinion(plug_in)
    rows = [asdict(row) for row in summary.opinion.rows]
    for name, values in found.columns().items():
        assert [row[name] for row in rows] == values
    assert rows[0]["name"] == "everyone"
    (table,) = [table for table in report_tables(summary) if table.name == "Second opinion"]
    assert [row[5] for row in table.rows] == found.columns()["lower"]
    assert "## A second opinion on refined bounds" in as_markdown(summary)


def test_near_the_headline_it_is_said_whether_the_two_agree(summary):
    page = Page(render(summary)).texts
    assert page.index(summary.opinion.verdict) < page.index("The data")
    assert "agrees, within chance, with the model's refined bounds of everyone" in summary.opinion.verdict


def test_where_they_disagree_that_is_said_in_words_near_the_headline_and_in_the_row(plug_in):
    found = summarise(Boastful().fit(plug_in.study), 0.3, opinion=True)
    assert found.opinion.rows[0].agreement == TIGHTER
    assert NOT_BORNE_OUT in found.opinion.verdict
    page = Page(render(found)).texts
    assert page.index(found.opinion.verdict) < page.index("The data")
    assert "the model claims too much: go by the second opinion" in page


@pytest.mark.parametrize(
    ("options", "why"),
    [({"assume": "harm<=0.9"}, "goes without assumptions"), ({"min_cell": 5}, "small counts are withheld")],
)
def test_why_there_is_none_is_said(plug_in, options, why):
    found = summarise(plug_in, 0.3, opinion=True, **options)
    assert why in found.opinion.refused
    assert why in " ".join(Page(render(found)).texts)
