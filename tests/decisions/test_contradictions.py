"""Where the tables contradict each other beyond chance nobody is decided on, ranked or treated; the trial alone can."""

from __future__ import annotations

import numpy as np
import pytest

import pnsight
from cases import LALONDE, half_contradicted
from noted import kinds, values
from pnsight.decisions import ask, decide, left_open, rank, select
from pnsight.errors import IncoherentError

THRESHOLDS = np.linspace(0, 1, 21)


@pytest.fixture(scope="module")
def lalonde() -> pnsight.PlugIn:
    return pnsight.PlugIn().fit(LALONDE.study())


@pytest.fixture(scope="module")
def towns() -> pnsight.PlugIn:
    """Of two towns one is contradicted."""
    return pnsight.PlugIn().fit(half_contradicted())


def test_nothing_is_decided_at_any_threshold_and_the_trials_bounds_are_shown(lalonde):
    for threshold in THRESHOLDS:
        found = decide(lalonde, "", threshold)
        assert (found.decision[0], found.decision_cautious[0]) == ("", "")
    columns = found.columns()
    assert columns["status"] == ["contradicted"]
    assert columns["lower"] == columns["upper"] == [None]
    assert columns["trial_lower"] == [pytest.approx(0.078, abs=5e-4)]
    assert columns["trial_upper"] == [pytest.approx(0.304, abs=5e-4)]


def test_the_reason_is_the_contradiction_and_what_the_trial_says(lalonde):
    reason = decide(lalonde, "", 0.2).reason()
    assert reason.values["status"] == "contradicted"
    assert reason.values["trial"] == pytest.approx((0.078, 0.304), abs=5e-4)
    assert "by the trial alone pns is between 0.078 and 0.304" in str(reason)


def test_a_quantity_that_the_trial_does_not_bound_is_said_to_be_so(lalonde):
    reason = decide(lalonde, "", 0.2, quantity="pn").reason()
    assert reason.values["trial"] is None
    assert "the trial alone does not bound pn" in str(reason)


def test_the_trial_alone_decides(lalonde):
    found = decide(lalonde, "", 0.05, trial_alone=True)
    assert found.decision[0] == "treat"
    assert kinds(found.answers.notes) == ["trial_alone"]
    assert found.answers.support_observational[0] == 0


def test_those_concerned_and_those_that_contain_them_are_undecided_the_rest_are_decided(towns):
    found = decide(towns, ["town=Ain", "town=Brest", "", "age=old", "town=Ain,age=old"], 0.3)
    assert list(found.answers.status) == ["ok", "contradicted", "contradicted", "contradicted", "ok"]
    assert [bool(word) for word in found.decision] == [True, False, False, False, True]


def test_no_contradicted_group_is_ranked_and_their_number_is_said(towns):
    found = rank(towns, margin=0)
    assert set(found.answers.queries) <= {"town=Ain", "town=Ain,age=old", "town=Ain,age=young"}
    assert len(found)
    assert (found.answers.status == "ok").all()
    assert values(found.notes, "contradicted_left_out") == {"groups": 6, "of": 9, "trial_can_answer": True}
    assert "answers_contradicted" not in kinds(found.notes)


def test_the_trial_alone_ranks_them_all(towns):
    found = rank(towns, margin=0, trial_alone=True)
    assert "" in found.answers.queries
    assert "contradicted_left_out" not in kinds(found.notes)


def test_shares_of_the_people_are_the_trials_if_it_answers_alone(towns):
    found = rank(towns, margin=0, least_share=0, trial_alone=True)
    trial = towns.from_trial_alone()
    np.testing.assert_allclose(
        found.share, trial.shares(pnsight.queries.query.encode(towns.schema, found.answers.queries))
    )


def test_a_budget_is_not_spent_on_people_whom_the_tables_contradict_each_other_about(towns):
    found = select(towns, 1.0)
    assert all("Ain" in query for query in found.answers.queries)
    left_out = [note.values for note in found.notes if note.kind == "not_considered"]
    brest = float(towns.shares(pnsight.queries.query.encode(towns.schema, "town=Brest"))[0])
    assert left_out == [{"share": pytest.approx(brest), "why": "contradicted"}]
    assert found.totals()["treated"] == pytest.approx(1 - brest)


def test_if_everyone_is_contradicted_there_is_nothing_to_rank_or_to_buy(lalonde):
    for refused in (lambda: rank(lalonde), lambda: select(lalonde, 0.3)):
        with pytest.raises(IncoherentError, match="--trial-alone"):
            refused()
    assert rank(lalonde, trial_alone=True).answers.lower[0] == pytest.approx(0.078, abs=5e-4)
    assert select(lalonde, 0.5, trial_alone=True).totals()["guaranteed"] == pytest.approx(0.039, abs=5e-4)


def test_no_question_helps_where_the_tables_contradict_each_other_whatever_is_known(towns):
    assert ask(towns, "town=Brest").advice.kind == "nothing_decided_whatever_known"
    assert ask(towns, "", 0.3).advice.kind == "ask_first"
    assert list(left_open(towns, "town=Ain").decision) == ["not", ""]


def test_what_knowing_more_would_change_is_told_of_the_trials_people_if_it_answers_alone(towns):
    found = ask(towns, "", 0.3, trial_alone=True)
    rows = towns.study.experimental.sum(axis=1)
    share_of_ain = rows[:2].sum() / rows.sum()
    assert found.probability[found.level.index("Ain")] == pytest.approx(share_of_ain)
