"""Threshold curves: at each threshold the decisions that `decide` makes, weighed by people."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import pnsight
from cases import half_contradicted
from pnsight.decisions import decide, threshold_curve
from pnsight.errors import PnsightError, QueryError
from pnsight.queries import lattice
from strategies import studies

WORDS = {"treat": "treat", "not": "not", "uncertain": "uncertain", "unanswered": ""}


def test_shares_are_those_of_the_decisions(fitted):
    found = threshold_curve(fitted, thresholds=[0.3])
    profiles = lattice.all_profiles(fitted.schema)
    share, decisions = fitted.shares(profiles), decide(fitted, profiles, 0.3)
    for name, word in WORDS.items():
        assert found.plain[name][0] == pytest.approx(share[decisions.decision == word].sum())
        assert found.cautious[name][0] == pytest.approx(share[decisions.decision_cautious == word].sum())


@settings(max_examples=20)
@given(study=studies())
def test_shares_add_up_and_fewer_are_treated_the_higher_the_threshold(study):
    try:
        found = threshold_curve(pnsight.PlugIn().fit(study))
    except PnsightError:
        return  # the tables contradict each other about everybody, or nobody is there
    for shares in (found.plain, found.cautious):
        assert np.sum(list(shares.values()), axis=0) == pytest.approx(1.0)
        assert (np.diff(shares["treat"]) <= 1e-12).all()
        assert (np.diff(shares["not"]) >= -1e-12).all()
    assert (found.cautious["treat"] <= found.plain["treat"] + 1e-12).all()
    assert (found.cautious["not"] <= found.plain["not"] + 1e-12).all()


def test_harm_is_that_of_those_treated(fitted):
    found = threshold_curve(fitted, thresholds=[0.1, 0.3, 1.0])
    profiles = lattice.all_profiles(fitted.schema)
    share, harm = fitted.shares(profiles), fitted.bounds(profiles, "harm").upper
    for place, threshold in enumerate(found.thresholds[:2]):
        decisions = decide(fitted, profiles, float(threshold))
        for words, harmed in ((decisions.decision, found.harmed), (decisions.decision_cautious, found.harmed_cautious)):
            treated = np.where(words == "treat", share, 0.0)
            expected = treated @ harm / treated.sum() if treated.sum() else np.nan
            assert harmed[place] == pytest.approx(expected, nan_ok=True)
    assert np.isnan(found.harmed[2])  # nobody is treated
    assert found.columns()["harmed"][2] is None


def test_harm_is_unknown_where_the_question_is_no_reason_to_treat(fitted):
    assert np.isnan(threshold_curve(fitted, quantity="pn").harmed).all()


def test_thresholds_span_what_the_quantity_can_be(fitted):
    assert (threshold_curve(fitted).thresholds[[0, -1]] == [0, 1]).all()
    assert (threshold_curve(fitted, quantity="effect").thresholds[[0, -1]] == [-1, 1]).all()
    worth = threshold_curve(fitted, payoffs=(100, -10, -10, -100))
    assert worth.thresholds[0] < worth.thresholds[-1]


def test_people_about_whom_the_tables_contradict_each_other_are_unanswered():
    model = pnsight.PlugIn().fit(half_contradicted())
    found = threshold_curve(model)
    assert found.plain["unanswered"] == pytest.approx(model.shares(np.array([[1, -1]], dtype=np.int32))[0])


def test_what_cannot_be_asked_is_refused(fitted):
    with pytest.raises(QueryError, match="between 0 and 1"):
        threshold_curve(fitted, thresholds=[50])
    with pytest.raises(QueryError, match="no threshold is given"):
        threshold_curve(fitted, thresholds=[])


def test_a_curve_is_drawn(fitted):
    figure = pnsight.plot(threshold_curve(fitted))
    assert figure.axes[0].get_xlabel() == "threshold that PNS must reach"
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "treated and harmed, at most" in labels
