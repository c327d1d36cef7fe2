"""Study size: as many rows as the formulas say, and intervals that are as short as promised."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pnsight
from cases import MEN
from noted import kinds
from pnsight.errors import QuantityError, QueryError
from pnsight.estimands.critical_values import two_sided


def rows(found: pnsight.decisions.planning.StudySize, case: str = "worst") -> dict[str, tuple[float, float]]:
    columns = found.columns()
    keys = zip(columns["case"], columns["of"], columns["per_arm"], columns["experimental"], strict=True)
    return {of: (arm, experimental) for which, of, arm, experimental in keys if which == case}


def test_case_p():
    found = rows(pnsight.size(0.05))
    assert found["effect"][0] == 769
    assert found["upper"][1] == 1921


@given(margin=st.floats(0.01, 0.3), assignment=st.floats(0.1, 0.9), ratio=st.floats(0.2, 5))
def test_the_worst_case_of_pns_by_hand(margin, assignment, ratio):
    found = pnsight.size(margin, assignment=assignment, ratio=ratio)
    arms = (1 / assignment + 1 / (1 - assignment)) / 4
    needed = (two_sided(0.95) / margin) ** 2
    experimental = rows(found)["upper"][1]
    assert experimental == pytest.approx(needed * (arms + 1 / (4 * ratio)), abs=1.01)
    lower = needed * max(arms, 1 / (4 * min(assignment, 1 - assignment)) + 1 / (4 * ratio))
    assert rows(found)["lower"][1] == pytest.approx(lower, abs=1.01)


@settings(max_examples=15)
@given(prevalence=st.floats(0.05, 0.95), treated=st.floats(0.05, 0.95), chosen=st.floats(0.1, 0.9))
def test_what_is_expected_is_as_short_as_asked_for(prevalence, treated, chosen):
    found = pnsight.size(0.06, prevalence=prevalence, treated=treated, chosen=chosen, simulations=200)
    columns = found.columns()
    names = ("case", "of", "simulated", "coverage")
    for case, of, half, covered in zip(*(columns[name] for name in names), strict=True):
        if case == "expected":
            assert of != "effect" or half <= 0.06 * 1.1  # ends may be cut off at 0 or 1 in some studies only
            assert covered >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / 200)


def test_no_effect_needs_more_than_the_worst_case():
    found = pnsight.size(0.05, prevalence=0.5, treated=0.5)
    assert rows(found, "expected")["effect"][1] <= rows(found)["effect"][1]


def test_subgroups_multiply_and_together_need_more():
    one, four, together = (
        rows(pnsight.size(0.05, subgroups=groups, simultaneous=how))["effect"][0]
        for groups, how in ((1, False), (4, False), (4, True))
    )
    assert four == 4 * one
    assert together > four
    assert kinds(pnsight.size(0.05, subgroups=4).notes) == ["size_of_subgroups", "size_worst_only"]


def test_a_pilot_says_what_to_expect():
    pilot = pnsight.PlugIn().fit(MEN.study())
    found = pnsight.size(0.05, pilot=pilot)
    guessed = pnsight.size(0.05, prevalence=0.21, treated=0.49)
    assert rows(found, "expected")["effect"] == rows(guessed, "expected")["effect"]


def test_what_cannot_be_planned_is_refused():
    pilot = pnsight.PlugIn().fit(MEN.study())
    with pytest.raises(QuantityError, match="give guesses"):
        pnsight.size(0.05, quantity="pn")
    assert "lower" in rows(pnsight.size(0.05, quantity="pn", prevalence=0.3), "expected")
    for arguments, message in (
        ({"margin": 5}, "0.05"),
        ({"margin": 0.05, "prevalence": 0.3, "pilot": pilot}, "both given"),
        ({"margin": 0.05, "treated": 0.3}, "prevalence"),
        ({"margin": 0.05, "query": "sex=F"}, "no pilot"),
        ({"margin": 0.05, "assignment": 1.0}, "between 0 and 1"),
        ({"margin": 1e-9}, "from 1e-06"),
        ({"margin": 1e-6, "prevalence": 0.3, "subgroups": 1}, "wider margin"),
    ):
        with pytest.raises(QueryError, match=message):
            pnsight.size(**arguments)
    with pytest.raises(QuantityError, match="not found for benefit"):
        pnsight.size(0.05, quantity="benefit")
