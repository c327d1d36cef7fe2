"""Planning the next data: what is listed, what is expected, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import pnsight
from cases import LALONDE, half_contradicted
from laws import asking
from noted import values
from pnsight import simulation as populations
from pnsight.decisions import decide
from pnsight.decisions.planning import plan
from pnsight.decisions.planning import variance_left as doubt
from pnsight.decisions.rule import MIN_EFFECTIVE_ROWS
from pnsight.errors import IncoherentError, ModelError, PnsightError, QueryError
from pnsight.queries import lattice
from pnsight.queries.query import encode, format_queries
from quick_config import QUICK

LEVELS = [f"z{j}={level}" for j in range(1, 7) for level in (0, 1)]
THRESHOLD = 0.3


@pytest.fixture(scope="module")
def study():
    return populations.random_population("interaction", 1, covariates=6).sample(
        experimental=4000, observational=6000, seed=11
    )


@pytest.fixture(scope="module")
def model(study) -> pnsight.ResponseTypeModel:
    return pnsight.ResponseTypeModel(config=QUICK).fit(study)


@pytest.fixture(scope="module")
def trial_alone(study) -> pnsight.ResponseTypeModel:
    alone = pnsight.Study.from_tables(study.schema, study.profiles, study.experimental, None)
    return pnsight.ResponseTypeModel(config=QUICK).fit(alone.drop_empty_profiles())


@pytest.fixture(scope="module")
def wide() -> pnsight.ResponseTypeModel:
    """More profiles than are listed."""
    study = populations.random_population("index", 1, covariates=16).sample(
        experimental=500, observational=500, seed=11
    )
    return pnsight.ResponseTypeModel(config=QUICK).fit(study)


# --- what is listed -------------------------------------------------------------------------------------


def test_a_plan_lists_the_groups_that_settle_most_first(model):
    found = plan(model, THRESHOLD, candidates=LEVELS, top=5)
    assert list(found.columns()) == ["query", "share", "uncertain", "stays", "change", "treat", "not"]
    assert len(found.queries) == 5
    assert (np.diff(found.change) >= 0).all()
    assert (found.change < 0).all()
    assert "experimental" in found.caption
    assert "treat if pns is at least 0.3, with 90% confidence" in repr(found)


def test_what_changes_is_newly_decided_one_way_or_the_other(model):
    found = plan(model, THRESHOLD, rows=5000)
    assert found.change == pytest.approx(-(found.treat + found.leave))


def test_the_shares_are_those_of_the_model_and_of_its_cautious_decisions(model):
    found = plan(model, THRESHOLD, candidates=["z1=1", "", "z1=0"])
    rows = dict(zip(found.queries, zip(found.share, found.uncertain, found.stays, strict=True), strict=True))
    codes = lattice.all_profiles(model.schema)
    mass = model.shares(codes)
    uncertain = decide(model, codes, THRESHOLD, cautious=True).decision == "uncertain"
    for query in ("1XXXXX", "XXXXXX", "0XXXXX"):
        inside = lattice.membership_matrix(encode(model.schema, query), codes)[0] * mass
        assert rows[query][:2] == pytest.approx((inside.sum(), inside @ uncertain))
    assert np.array(rows["XXXXXX"]) == pytest.approx(np.array(rows["1XXXXX"]) + rows["0XXXXX"])


def test_near_copies_of_a_more_general_group_are_not_listed(model):
    found = plan(model, THRESHOLD, top=1000)
    settles = dict(zip(found.queries, -found.change, strict=True))
    for query, settled in settles.items():
        for general in format_queries(model.schema, lattice.query_and_parents(encode(model.schema, query)[0])[1:]):
            assert settled >= 1.05 * settles.get(general, 0)
    assert "XXXXXX" in settles
    assert found.at_random == pytest.approx(-settles["XXXXXX"], rel=1e-12)  # a sum in another order
    assert values(found.notes, "groups_compared")["most_fixed"] == 2


# --- what is expected -----------------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["experimental", "both"])
def test_the_more_rows_the_more_is_settled(model, table):
    changes = [plan(model, THRESHOLD, rows, table, candidates=[""]).change[0] for rows in (10, 1000, 10_000, 100_000)]
    assert changes[0] < 0
    assert (np.diff(changes) < 0).all()


def test_with_unlimited_rows_those_stay_uncertain_who_must(model):
    few, endless = (plan(model, THRESHOLD, rows, "both", candidates=[""]) for rows in (1000, 1e12))
    assert endless.fresh + endless.change[0] == pytest.approx(endless.stays[0], abs=1e-3)
    assert few.stays[0] == endless.stays[0]
    assert 0 < endless.stays[0] < endless.fresh


def test_rows_help_those_they_come_from_most(model):
    crowd = doubt.Crowd.of(model, None, 0)
    codes = encode(model.schema, "z1=1")
    added = crowd.added(codes, model.shares(codes), doubt.split(model.study, 4000, "experimental"))
    left = doubt.doubt_left(model, asking(), crowd, added)[0]
    inside = lattice.matching_profiles(crowd.codes, codes[0])
    outside = np.setdiff1d(np.arange(len(crowd.codes)), inside)
    assert left[:, inside].mean() < left[:, outside].mean() < 1
    assert added.own.sum() == pytest.approx(4000)
    assert (added.own[2] == 0).all()


def test_rows_of_a_table_that_does_not_bear_on_the_bounds_settle_nothing(model):
    """A benefit of one a person helped, less one a person harmed, is P(y_x) - P(y_x'): the trial's business alone."""
    crowd = doubt.Crowd.of(model, None, 0)
    added = crowd.added(encode(model.schema, ""), np.ones(1), doubt.split(model.study, 1e6, "observational"))
    benefit = asking(payoffs=(1, 0, 0, -1))
    assert doubt.doubt_left(model, benefit, crowd, added) == pytest.approx(np.ones((1, 2, len(crowd.codes))))
    assert doubt.doubt_left(model, asking(), crowd, added).mean() < 1


@pytest.mark.parametrize("assume", ["monotone", "exogenous", "monotone,exogenous"])
def test_assumptions_change_which_rows_bear_on_the_bounds(model, assume):
    crowd = doubt.Crowd.of(model, None, 0)
    added = crowd.added(encode(model.schema, ""), np.ones(1), doubt.split(model.study, 1e4, "both"))
    left, plain = (doubt.doubt_left(model, asking(assume=assumed), crowd, added) for assumed in (assume, ()))
    assert ((left > 0) & (left < 1)).all()
    assert not np.allclose(left, plain)


def test_where_nobody_is_near_the_threshold_nothing_changes(model):
    found = plan(model, -0.99, candidates=LEVELS, level=0.5, payoffs=(1, 0, 0, -1))  # of P(y_x) - P(y_x')
    codes = lattice.all_profiles(model.schema)
    share, rows = model.shares(codes), model.bounds(codes).effective_rows
    little = share * (rows < MIN_EFFECTIVE_ROWS)  # on which nothing is decided with caution, whatever the threshold
    inside = lattice.membership_matrix(encode(model.schema, list(found.queries)), codes)
    assert found.uncertain == pytest.approx(inside @ little / share.sum(), abs=1e-6)
    assert found.change == pytest.approx(np.zeros(10), abs=1e-4)


def test_the_same_seed_gives_the_same_plan(model):
    assert plan(model, THRESHOLD).columns() == plan(model, THRESHOLD).columns()


def test_a_part_of_the_profiles_speaks_for_all(model, monkeypatch):
    whole = plan(model, THRESHOLD, candidates=LEVELS, top=12)
    monkeypatch.setattr(doubt, "MOST_PROFILES", 48)
    part, again, *others = (
        plan(model, THRESHOLD, candidates=LEVELS, top=12, random_state=seed) for seed in (1, *range(1, 25))
    )
    assert part.columns() == again.columns() != others[0].columns()
    assert sum(part.stays) == pytest.approx(sum(whole.stays), rel=0.3)
    changes = np.array([found.change.mean() for found in (part, *others)])
    assert changes.mean() == pytest.approx(whole.change.mean(), abs=4 * changes.std(ddof=1) / np.sqrt(len(changes)))


def test_many_covariates_can_be_planned_for(wide):
    found = plan(wide, THRESHOLD, rows=1000)
    assert (found.change <= 0).all()
    assert found.at_random <= 0


def test_a_trial_alone_can_be_planned_for(trial_alone):
    found = plan(trial_alone, THRESHOLD, rows=4000, candidates=LEVELS)
    assert (found.change < 0).all()


@pytest.mark.parametrize(
    "options",
    [
        {"quantity": "pn"},
        {"payoffs": (100, -60, 0, -140)},
        {"refine": "covariates"},
        {"population": "experimental"},
        {"level": 0.5},
    ],
)
def test_a_plan_is_for_what_is_asked(model, options):
    found = plan(model, candidates=LEVELS, top=3, **options)
    assert np.isfinite(found.change).all()
    assert (found.uncertain <= found.share + 1e-12).all()


def test_less_confidence_leaves_fewer_uncertain(model):
    sure, bold = (plan(model, THRESHOLD, candidates=[""], level=level).uncertain[0] for level in (0.95, 0.5))
    assert bold < sure


# --- what is refused ------------------------------------------------------------------------------------


def test_planning_needs_intervals(study):
    with pytest.raises(ModelError, match="response-types model, and this is a plug-in model"):
        plan(pnsight.PlugIn().fit(study))
    with pytest.raises(ModelError, match="fitted without"):
        plan(pnsight.ResponseTypeModel(intervals=False, config=QUICK).fit(study))
    with pytest.raises(ModelError, match="not fitted yet"):
        plan(pnsight.ResponseTypeModel())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": 0}, "0 rows"),
        ({"rows": float("nan")}, "nan rows"),
        ({"rows": 1e300}, r"1e\+300 rows"),
        ({"table": "registry"}, "'registry'; expected experimental, observational, both"),
        ({"top": 0}, "top 0"),
        ({"level": 0}, "between 0 and 1"),
        ({"level": 1}, "between 0 and 1"),
        ({"least_share": 2}, "least share of people is 2"),
        ({"threshold": float("inf")}, "threshold is inf"),
        ({"candidates": ["z9=1"]}, "no covariate is called 'z9'"),
        ({"quantity": "pnz"}, "no quantity is called 'pnz'"),
        ({"population": "everyone"}, "population is 'everyone'"),
    ],
)
def test_mistakes_are_named(model, options, message):
    with pytest.raises(PnsightError, match=message):
        plan(model, **options)


def test_rows_need_a_table_to_go_to(trial_alone):
    with pytest.raises(QueryError, match="there is no observational table"):
        plan(trial_alone, table="both")


def test_people_whom_the_tables_contradict_each_other_about_are_left_out():
    found = plan(pnsight.ResponseTypeModel(config=QUICK).fit(half_contradicted()), THRESHOLD)
    assert values(found.notes, "contradicted_left_out") == {"groups": 2, "of": 4, "trial_can_answer": False}
    assert np.isfinite(found.change).all()
    assert (found.uncertain <= 0.5 + 1e-9).all()


def test_nothing_is_planned_where_the_tables_contradict_each_other_about_everyone():
    with pytest.raises(IncoherentError, match="further rows like these would settle nothing"):
        plan(pnsight.ResponseTypeModel(config=QUICK).fit(LALONDE.study()), THRESHOLD)
