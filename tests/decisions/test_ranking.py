"""Rankings: the best by a bound, none of them a near-copy of a more general one, and how far the best are too high."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pnsight
from cases import write_sexes
from noted import kinds, values
from pnsight.data.schema import OPEN, Schema
from pnsight.data.study import Study
from pnsight.decisions import rank
from pnsight.decisions.group_search import MAX_FIXED, MAX_NARROWED, MAX_WHOLE, search_groups
from pnsight.decisions.winners_curse import overestimation
from pnsight.errors import QuantityError, QueryError
from pnsight.queries.bound_table import BoundTable
from pnsight.queries.query import encode, format_queries


def more_general(query: np.ndarray) -> np.ndarray:
    """All queries that leave more open, everyone included."""
    fixed = np.flatnonzero(query != OPEN)
    found = np.tile(query, (2 ** len(fixed) - 1, 1))
    for row in range(len(found)):
        found[row, [place for bit, place in enumerate(fixed) if not row >> bit & 1]] = OPEN
    return found


@pytest.mark.parametrize("margin", [0.0, 0.01, 0.02])
@pytest.mark.parametrize("by", ["lower", "upper"])
def test_no_query_is_listed_that_does_not_add_to_every_more_general_one(fitted, by, margin):
    found = rank(fitted, top=30, by=by, margin=margin)
    assert len(found) > 3
    for row, query in enumerate(encode(fitted.schema, list(found.answers.queries))):
        above = more_general(query)
        if len(above):
            low = found.answers.interval(by)[0][row]
            best = np.max(fitted.bounds(above).interval(by)[0])
            assert low >= best + margin - 1e-9
            assert found.adds[row] == pytest.approx(low - best, abs=1e-9)


@pytest.mark.parametrize("by", ["lower", "upper"])
def test_without_intervals_the_estimate_ranks(without_intervals, by):
    found = rank(without_intervals, top=10, by=by)
    ends = getattr(found.answers, by)
    assert list(ends) == sorted(ends, reverse=True)
    assert found.overestimated is None
    assert "overestimation_unknown" in kinds(found.notes)


@pytest.mark.parametrize("model", ["fitted", "plug_in"])
def test_with_intervals_the_cautious_end_ranks(model, request):
    found = rank(request.getfixturevalue(model), top=10)
    low = found.answers.interval("lower")[0]
    assert list(low) == sorted(low, reverse=True)
    assert found.overestimated is not None
    assert found.overestimated > 0
    assert values(found.notes, "ranked_cautiously")["too_high"] == found.overestimated


def test_small_groups_are_left_out(plug_in):
    found = rank(plug_in, top=50, least_share=0.05, least_support=1500)
    rows = [found.answers.support_experimental, found.answers.support_observational]
    assert (found.share >= 0.05).all()
    assert (np.min(rows, axis=0) >= 1500).all()
    np.testing.assert_allclose(found.share, found.answers.support_observational / 20_000)


def test_the_ranking_of_a_study_that_can_be_checked_by_hand(tmp_path):
    model = pnsight.PlugIn().fit(pnsight.read_study(*write_sexes(tmp_path), treatment="x", outcome="y"))
    found = rank(model)
    assert found.columns()["query"] == ["M", "X"]  # women have less than everyone
    assert found.columns()["lower"] == pytest.approx([0.49, 0.3395])
    men, everyone = found.answers.interval("lower")[0]
    assert found.columns()["adds"] == [pytest.approx(men - everyone), None]
    assert found.columns()["share"] == [pytest.approx(0.5), 1.0]
    assert list(found.columns())[:4] == ["query", "share", "adds", "lower"]
    assert "lower bound on pns" in repr(found)


def wide(covariates: int) -> Study:
    """A study of three profiles with so many covariates."""
    schema = Schema.binary([f"z{j}" for j in range(covariates)])
    profiles = np.eye(3, covariates, dtype=np.int32)
    counts = np.array([[90.0, 10, 10, 90], [40, 60, 40, 60], [50, 50, 30, 70]])
    return Study.from_tables(schema, profiles, counts, counts)


def test_of_very_many_queries_those_that_fix_few_covariates_are_looked_at():
    model = pnsight.PlugIn().fit(wide(30))
    found = rank(model, top=500, least_support=1)
    fixed = (encode(model.schema, list(found.answers.queries)) != OPEN).sum(axis=1)
    assert fixed.max() <= 3
    assert values(found.notes, "groups_ranked")["most_fixed"] == 3


@pytest.mark.parametrize(("covariates", "whole"), [(10, None), (11, 2), (40, 2), (80, 1), (400, 1)])
def test_no_more_queries_are_looked_at_than_there_is_time_for(covariates, whole):
    found = rank(pnsight.PlugIn().fit(wide(covariates)), top=1, least_support=1)
    looked_at = values(found.notes, "groups_ranked")
    assert (looked_at["all_fixing"], looked_at["of"]) == (whole, 3**covariates)
    assert (looked_at["groups"] == looked_at["of"]) == (whole is None)
    if whole is not None:
        assert looked_at["most_fixed"] == MAX_FIXED
        assert looked_at["groups"] <= MAX_WHOLE + (MAX_FIXED - whole) * MAX_NARROWED


@pytest.mark.parametrize(("most", "whole", "fixed"), [(59_049, None, None), (59_048, 2, 3), (200, 1, 3), (20, 0, 3)])
def test_fewer_queries_are_looked_at_if_asked_for(plug_in, most, whole, fixed):
    looked_at = values(rank(plug_in, most_candidates=most).notes, "groups_ranked")
    assert (looked_at["all_fixing"], looked_at["most_fixed"], looked_at["of"]) == (whole, fixed, 59_049)


def planted(rows: int, seed: int) -> pd.DataFrame:
    """Twenty-five coins and two arms; treatment helps those alone for whom three of the coins fell a certain way."""
    rng = np.random.default_rng(seed)
    coins, x = rng.integers(0, 2, (rows, 25)), rng.integers(0, 2, rows)
    helped = (coins[:, 3] == 1) & (coins[:, 11] == 0) & (coins[:, 20] == 1)
    y = rng.random(rows) < np.where(helped & (x == 1), 0.7, 0.3)
    return pd.DataFrame(coins, columns=[f"c{j}" for j in range(25)]).assign(x=x, y=y.astype(int))


def test_a_group_of_three_covariates_is_found_among_many():
    model = pnsight.PlugIn().fit(pnsight.read_study(planted(10_000, 1), planted(10_000, 2), treatment="x", outcome="y"))
    found = rank(model)
    assert list(encode(model.schema, [found.answers.queries[0]])[0]) == list(
        encode(model.schema, ["c3=1,c11=0,c20=1"])[0]
    )
    assert found.share[0] == pytest.approx(1 / 8, abs=0.02)


def test_a_search_comes_upon_what_looking_at_everything_finds(plug_in):
    everything, searched = rank(plug_in), rank(plug_in, most_candidates=1000)
    few = [query for query in everything.answers.queries if sum(sign != "X" for sign in query) <= MAX_FIXED]
    assert few[0] in searched.answers.queries


def test_every_more_general_group_of_one_that_was_found_is_there():
    schema = Schema.binary(map(str, range(12)))
    rng = np.random.default_rng(0)
    found = search_groups(schema, lambda codes: rng.random(len(codes)) < 2, lambda codes: rng.random(len(codes)), 5)
    there = {query.tobytes() for query in found.codes}
    assert len(there) == len(found.codes)
    assert all(each.tobytes() in there for query in found.codes for each in more_general(query))
    assert (found.unselected == ((found.codes != OPEN).sum(axis=1) <= 2)).all()


def test_everyone_is_all_of_the_people(fitted):
    assert rank(fitted, least_share=1, margin=0).answers.queries == format_queries(
        fitted.schema, encode(fitted.schema, "")
    )


def test_a_list_that_is_shorter_than_asked_for_says_why(fitted):
    found = rank(fitted, top=5000, margin=0.05)
    why = values(found.notes, "short_list")
    assert (why["listed"], why["top"]) == (len(found), 5000)
    assert why["others"] > 0
    assert not any(note.kind == "short_list" for note in rank(fitted, top=1).notes)


def test_nothing_to_list_is_an_empty_ranking(fitted):
    found = rank(fitted, least_support=1e9)
    assert len(found) == 0
    assert values(found.notes, "groups_ranked")["enough"] == 0


@pytest.mark.parametrize(
    "mistake",
    [
        {"by": "middle"},
        {"top": 0},
        {"margin": -1},
        {"least_share": 2},
        {"margin": float("nan")},
        {"most_candidates": 0},
        {"by": "harm", "quantity": "pn"},
    ],
)
def test_mistakes_are_named(plug_in, mistake):
    with pytest.raises(QueryError, match=str(next(iter(mistake.values())))):
        rank(plug_in, **mistake)


def test_benefit_is_asked_of_the_model(plug_in, monkeypatch):
    asked = {}

    def bounds(codes, estimand):
        asked.update(quantity=estimand.quantity.name, payoffs=estimand.payoffs.as_tuple())
        raise QuantityError("enough is known")

    monkeypatch.setattr(plug_in, "bounds", bounds)
    with pytest.raises(QuantityError):
        rank(plug_in, by="benefit", payoffs=(1, 2, 3, 4))
    assert asked == {"quantity": "benefit", "payoffs": (1, 2, 3, 4)}


def test_by_harm_is_by_the_lower_bound_on_harm(plug_in):
    by_harm, by_lower = rank(plug_in, by="harm"), rank(plug_in, by="lower", quantity="harm")
    assert by_harm.columns() == by_lower.columns()
    assert by_harm.caption == "groups by the lower bound on harm"


# --- the best of many -----------------------------------------------------------------------------------


def estimates(truth: np.ndarray, error: np.ndarray, seed: int) -> BoundTable:
    """Lower bounds that miss the truth by so much, with intervals that say so."""
    lower = truth + error * np.random.default_rng(seed).standard_normal(len(truth))
    reach, rows = 1.6448536 * error, np.ones(len(truth))
    ends = [lower - reach, lower + reach, lower - reach, lower + reach]
    return BoundTable("pns", [""] * len(truth), lower, lower, rows, rows, np.full(len(truth), "ok"), *ends, level=0.9)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_said_of_the_best_of_many_is_what_they_are_too_high_by(seed):
    rng = np.random.default_rng([seed, 1])
    truth, error = rng.normal(0.5, 0.05, 20_000), rng.uniform(0.01, 0.1, 20_000)
    answers = estimates(truth, error, seed)
    best = (answers.lower >= np.sort(answers.lower)[-200]).astype(float)
    by = (answers.lower - truth)[best > 0]
    assert overestimation(answers, "lower", best) == pytest.approx(by.mean(), abs=4 * by.std() / np.sqrt(len(by)))


def test_estimates_without_error_are_not_too_high():
    answers = estimates(np.linspace(0.1, 0.9, 50), np.full(50, 1e-9), 0)
    assert overestimation(answers, "lower", np.eye(50)[-1]) == pytest.approx(0, abs=1e-9)


def test_where_all_truths_are_alike_the_best_is_all_error():
    answers = estimates(np.full(2000, 0.5), np.full(2000, 0.1), 0)
    best = np.eye(2000)[answers.lower.argmax()]
    assert overestimation(answers, "lower", best) == pytest.approx(answers.lower.max() - 0.5, abs=0.03)
