"""Tipping points: the least slack at which a decision changes, and at which the tables fit together."""

from __future__ import annotations

import numpy as np
import pytest

import pnsight
from cases import INCOHERENT, POOLED, WOMEN, half_contradicted
from pnsight.data.law import Law
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.decisions import decide
from pnsight.decisions.tipping_points import reconciling_slack
from pnsight.errors import AssumptionError, PnsightError, QueryError
from pnsight.estimands import Estimand
from pnsight.estimands.compiled import is_contradictory
from pnsight.estimands.sensitivity import Slack
from pnsight.output.plots import bounds_against_slack
from quick_config import QUICK
from structures import random_law


@pytest.fixture
def women() -> pnsight.PlugIn:
    return pnsight.PlugIn().fit(WOMEN.study())


@pytest.mark.parametrize("cautious", [False, True])
def test_the_decision_holds_up_to_the_tip_and_is_uncertain_beyond(cautious, women, plug_in):
    learned = pnsight.ResponseTypeModel(config=QUICK).fit(WOMEN.study())
    for model, queries in ((women, [""]), (learned, [""]), (plug_in, ["", "z4=1,z9=0"])):
        found = pnsight.tip(model, queries, 0.2, cautious)
        assert np.isfinite(found.shown_tip).all()
        for query, tip, decision in zip(queries, found.shown_tip, found.decisions.decision, strict=True):
            at = [
                str(decide(model, query, 0.2, cautious, slack=slack).decision[0]) for slack in (tip - 1e-6, tip + 1e-6)
            ]
            assert at == [str(decision), "uncertain"]


def test_refined_decisions_tip_as_well():
    model = pnsight.PlugIn().fit(half_contradicted())  # of whom those of Ain are women and men
    (tip,) = pnsight.tip(model, "town=Ain", 0.3, refine="covariates").tip
    lower = model.bounds("town=Ain", slack=float(tip), refine="covariates").lower[0]
    assert lower == pytest.approx(0.3, abs=1e-7)


def test_uncertain_decisions_do_not_tip_and_certain_ones_may_never(women):
    found = pnsight.tip(women, "", 0.279)
    assert (found.decisions.decision[0], found.tip[0]) == ("treat", pytest.approx(0.0, abs=1e-8))
    assert np.isinf(pnsight.tip(women, "", 0.0).tip[0])
    pooled = pnsight.PlugIn().fit(POOLED.study())
    assert np.isnan(pnsight.tip(pooled, "", 0.4).tip[0])


def test_a_fixed_share_of_misread_outcomes_is_taken_into_account(women):
    plain, misread = (pnsight.tip(women, "", 0.2, misread_outcome=share).tip[0] for share in (0.0, 0.01))
    assert misread == pytest.approx(plain - 0.01, abs=1e-8)


@pytest.mark.parametrize("along", ["1", "treated=1", "+1", "treated=1,control=0.5", "0.1"])
def test_the_slack_that_reconciles_is_the_least_at_which_some_population_fits(along):
    laws = [INCOHERENT.law(), WOMEN.law()]
    direction = Slack.parse(along)
    assert direction is not None
    for law in laws:
        (least,) = reconciling_slack(law, Estimand(), direction)
        if not np.isfinite(least):
            continue
        for factor, expected in ((least - 1e-6, True), (least + 1e-6, False)):
            if factor > 0:
                estimand = Estimand.parse(slack=direction.times(factor))
                assert is_contradictory(law, estimand.relaxations(TWO_BY_TWO))[0] == (expected and least > 0)


def test_a_law_that_a_population_has_is_reconciled_without_slack():
    _, law = random_law(TWO_BY_TWO, 4, rows=20)
    assert np.array_equal(reconciling_slack(law, Estimand()), np.zeros(20))
    assert np.isnan(reconciling_slack(Law(TWO_BY_TWO, np.full((1, 8), np.nan)), Estimand())).all()


def test_contradictions_are_judged_at_the_slack():
    model = pnsight.PlugIn().fit(half_contradicted())
    queries = ["town=Ain", "town=Brest", ""]
    assert model.bounds(queries).status.tolist() == ["ok", "contradicted", "contradicted"]
    assert model.bounds(queries, slack=0.1).status.tolist() == ["ok", "contradicted", "contradicted"]
    assert model.bounds(queries, slack=0.36).status.tolist() == ["ok", "ok", "ok"]
    found = pnsight.tip(model, queries, 0.2)
    assert found.reconciled_at[1] == pytest.approx(0.35)
    assert str(found.sentence(1)) == "no decision; the shares of both tables fit together from a slack of 0.35 on"


def test_misread_outcomes_reconcile_tables_too():
    model = pnsight.PlugIn().fit(half_contradicted())
    assert model.bounds("town=Brest", misread_outcome=0.1).status[0] == "contradicted"
    assert model.bounds("town=Brest", misread_outcome=0.3).status[0] == "ok"


def test_slack_that_is_given_or_does_not_grow_is_refused(women):
    with pytest.raises(QueryError, match="leave it out, or use along"):
        pnsight.tip(women, "", 0.2, slack=0.1)
    with pytest.raises(AssumptionError, match="does not grow"):
        pnsight.tip(women, "", 0.2, along="0")
    with pytest.raises(PnsightError, match="together with slack"):
        pnsight.tip(women, "", 0.2, assume="exogenous")


def test_a_figure_has_a_panel_for_each_group_and_a_line_where_it_tips(plug_in):
    found = pnsight.tip(plug_in, ["", "z4=1", "z9=1", "z1=0"], 0.2)
    figure = bounds_against_slack(found)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == 4
    assert shown[0].get_title(loc="left") == "everyone"
    marks = [text.get_text() for text in shown[0].texts]
    assert marks == [f"{found.tip[0]:.3g}"]
    assert pnsight.plot(found).axes[0].get_xlim() == shown[0].get_xlim()
