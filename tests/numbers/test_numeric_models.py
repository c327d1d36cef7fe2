"""Models with numbers: what a point, a range and an open number mean, and that all that asks a model can ask it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import pnsight
from numeric_tables import COLUMNS, tables
from pnsight.errors import ModelError
from pnsight.estimands.linear_program import ResponseTypeLP
from pnsight.models.response_types.reference_people import draw_people, nearest_people
from quick_config import QUICK

WEIGHTS = np.array([0.0, 1.0])
"""People of the observational table."""


@pytest.fixture(scope="module")
def model() -> pnsight.ResponseTypeModel:
    study = pnsight.read_study(*tables(), **COLUMNS)
    return pnsight.ResponseTypeModel(config=QUICK, random_state=3).fit(study)


def test_the_old_are_helped_and_the_young_are_not(model):
    young, old = model.bounds(["age<35", "age>=75"]).upper, model.bounds(["age<35", "age>=75"]).lower
    assert young[0] < 0.5 < old[1]
    points = model.bounds([f"age={age}" for age in (40, 55, 70, 85)])
    assert (np.diff((points.lower + points.upper) / 2) > 0).all()


def test_a_query_that_fixes_everything_is_what_the_networks_say(model):
    found = model.marginaliser_
    codes = pnsight.queries.query.encode(model.schema, "age=52,weight=80.5,sex=f")
    assert np.allclose(found.types(codes, WEIGHTS), found.profile_types_at(codes))


def test_a_range_is_the_mean_over_the_people_in_it(model):
    found, study = model.marginaliser_, model.study
    codes = pnsight.queries.query.encode(model.schema, "age=40..65,sex=f")
    inside = pnsight.queries.lattice.membership_matrix(codes, study.profiles)[0] * study.observational.sum(axis=1)
    expected = inside @ found.profile_types_at(study.profiles) / inside.sum()
    assert np.allclose(found.types(codes, WEIGHTS)[0], expected, atol=1e-6)


def test_ranges_that_share_out_everybody_average_to_everybody(model):
    found, parts = model.marginaliser_, ["age<40", "age=40..64", "age>=65"]
    codes = pnsight.queries.query.encode(model.schema, [*parts, ""])
    *shares, whole = found.shares(codes, WEIGHTS)
    *types, everyone = found.types(codes, WEIGHTS)
    assert np.isclose(sum(shares), 1)
    assert np.isclose(whole, 1)
    assert np.allclose(np.array(shares) @ np.array(types), everyone, atol=1e-6)


def test_a_number_with_others_open_is_averaged_over_people_near_it_and_that_is_said(model):
    answer = model.bounds("age=52")
    (note,) = [one for one in answer.notes if one.kind == "averaged_near"]
    (width,) = note.values["widths"]
    assert width["covariate"] == "age"
    assert 0 < width["within"] < 15
    neighbours = model.marginaliser_.neighbours(pnsight.queries.query.encode(model.schema, "age=52")[0], WEIGHTS)
    assert np.isclose(neighbours.weights.sum(), 1)
    assert not any(one.kind == "averaged_near" for one in model.bounds("age=40..65").notes)


def test_answers_are_possible_and_intervals_hold_them(model):
    queries = ["", "age=52", "age=40..65,sex=m", "age>=65,weight<60", "weight=200", "age=52,weight=80.5,sex=f"]
    for quantity in ("pns", "harm", "pn"):
        found = model.bounds(queries, quantity)
        assert (found.status == "ok").all()
        assert (found.lower_low <= found.lower + 1e-9).all()
        assert (found.upper <= found.upper_high + 1e-9).all()
        assert (found.lower <= found.upper).all()
    estimand = model.estimand()
    value, given = estimand.value(model.structure), estimand.given(model.structure)
    possible = estimand.possible(model.structure)
    for cells, lower, upper in zip(model.law(queries).cells, *estimand.bounds_at(model.law(queries)), strict=True):
        program = ResponseTypeLP(model.structure, cells, possible).extremes(value, given.astype(float))
        assert np.allclose(program, (lower, upper), atol=1e-7)


def test_numbers_outside_those_seen_are_extrapolated(model):
    found = model.bounds(["age=140", "age=120..130", "age>=140", "age=52", "age>=90"])
    assert found.basis[:3].tolist() == ["extrapolated"] * 3
    assert "extrapolated" not in found.basis[3:]


def test_fewer_rows_are_never_surer(model):
    wide, narrow = model.bounds(["", "age=50..52,sex=f"]).effective_rows
    assert narrow < wide


def test_a_stored_model_answers_the_same_and_is_small(model, tmp_path):
    pnsight.save(model, tmp_path / "model")
    again, queries = pnsight.load(tmp_path / "model"), ["", "age=52", "age=40..65,sex=m", "weight<70", "age=400"]
    first, second = model.bounds(queries), again.bounds(queries)
    for name in ("lower", "upper", "lower_low", "upper_high", "basis"):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name
    assert again.study.schema == model.study.schema
    assert sum(file.stat().st_size for file in (tmp_path / "model").rglob("*")) < 1_000_000


def test_ranking_selecting_asking_and_deciding_go_by_readable_ranges(model):
    ranked = pnsight.rank(model, top=5, least_support=20).columns()
    assert any("age>=" in query for query in ranked["query"])
    chosen = pnsight.select(model, 0.1)
    assert len(chosen.answers)
    assert chosen.treated.sum() <= 0.1 + 1e-9
    questions = pnsight.ask(model, "sex=f", 0.4)
    assert "age" in questions.covariate
    assert set(questions.level) >= set(model.schema.covariate("age").levels)
    decided = pnsight.decide(model, ["age=80..90", "age<30"], 0.3)
    assert len(decided.decision) == 2


def test_scores_are_the_answers_of_single_people(model):
    people = tables(50, seed=9)[0][["age", "weight", "sex"]]
    people.loc[0, "age"] = 400
    scored = pnsight.score(model, people)
    direct = model.bounds(people)
    assert np.allclose(scored["lower"], direct.lower)
    assert np.allclose(scored["upper"], direct.upper)
    assert scored["basis"][0] == "extrapolated"


def test_models_that_count_by_level_ask_for_bands(model):
    for other in (pnsight.PlugIn(), pnsight.MaskMLP(epochs=1)):
        with pytest.raises(ModelError, match=r"age, weight are numbers; .*--bands age=4 --bands weight=4"):
            other.fit(model.study)


def test_plans_ask_for_bands(model):
    with pytest.raises(ModelError, match=r"planning goes by the rows of each profile.*--bands age=4"):
        pnsight.plan(model, 0.5)


def test_check_compares_groups_of_numbers(model):
    found = pnsight.check(model.study)
    assert found.ok
    trial, registry = tables(600)
    trial = trial[(trial.age < 50) | (trial.x == 1)]
    assert pnsight.check(pnsight.read_study(trial, registry, **COLUMNS)).verdicts["balance"].status != "ok"


def test_where_nothing_tells_people_apart_random_effects_of_groups_take_over():
    rng = np.random.default_rng(5)
    trial, registry = (table.assign(y=rng.integers(0, 2, len(table))) for table in tables(150))
    found = pnsight.ResponseTypeModel(config=QUICK).fit(pnsight.read_study(trial, registry, **COLUMNS))
    assert "Numbers: random effects go by their groups, and single people by a log-linear network" in found.explain()
    answer = found.bounds(["", "age=52", "age=40..65"])
    assert (answer.lower <= answer.upper).all()
    assert np.isfinite(answer.upper_high).all()


def test_three_arms():
    trial, registry = tables(500)
    rng = np.random.default_rng(2)
    for table in (trial, registry):
        table["x"] = np.where(table.x == 1, rng.choice(["low", "high"], len(table)), "none")
    study = pnsight.read_study(trial, registry, **COLUMNS, arms=["none", "low", "high"])
    found = pnsight.ResponseTypeModel(config=QUICK).fit(study).bounds(["age=52", "age>=60"], contrast="high:none")
    assert (found.lower <= found.upper).all()


def test_missing_numbers_have_a_group_of_their_own():
    trial, registry = tables(400)
    trial.loc[:39, "weight"] = np.nan
    registry.loc[:39, "weight"] = np.nan
    study = pnsight.read_study(trial, registry, **COLUMNS, missing="level")
    found = pnsight.ResponseTypeModel(config=QUICK).fit(study).bounds(["weight=missing", "weight>=70"])
    assert found.support_experimental.tolist() == [40, float((trial.weight >= 70).sum())]
    assert np.isfinite(found.lower).all()


@pytest.mark.parametrize("most", [5, 50, 500])
def test_reference_people_stand_for_everybody(most):
    rows = np.random.default_rng(0).integers(1, 9, 200).astype(float)
    drawn = draw_people(rows, most, np.random.default_rng(1))
    assert len(drawn) == min(most, 200)
    if most < 200:
        expected = most * rows / rows.sum()
        assert (np.abs(np.bincount(drawn, minlength=200) - expected) < 1).all()


def test_a_bounded_number_of_reference_people_answers_nearly_the_same(model):
    from dataclasses import replace

    few = replace(QUICK, numeric=replace(QUICK.numeric, max_people=400))
    bounded = pnsight.ResponseTypeModel(config=few, random_state=3).fit(model.study)
    assert len(bounded.marginaliser_.people) == 400
    for one, other in zip(bounded.marginaliser_.networks, model.marginaliser_.networks, strict=True):
        assert np.array_equal(one.layers[0][0], other.layers[0][0])  # the same seed gives the same digits
    found, exact = bounded.bounds(["", "age=40..65"]), model.bounds(["", "age=40..65"])
    assert np.abs(found.upper - exact.upper).max() < 0.05
    assert (bounded.marginaliser_.sampling_errors(np.full((1, 3), -1), WEIGHTS) > 0).all()


def test_a_table_of_queries_with_numbers_is_answered_row_by_row(model):
    table = pd.DataFrame({"age": ["52", "40..65", None], "sex": ["f", None, "m"]})
    assert model.bounds(table).queries == ["age=52,sex=f", "age=40..65", "sex=m"]


@pytest.fixture(scope="module")
def few_values() -> pnsight.ResponseTypeModel:
    """A model of numbers that many people share."""
    study = pnsight.read_study(
        *(table.assign(age=table.age // 20) for table in tables(600)), **COLUMNS, numeric=["age", "weight"]
    )
    return pnsight.ResponseTypeModel(config=QUICK, random_state=3).fit(study)


def test_a_number_that_many_people_have_is_averaged_over_all_of_them(few_values):
    found, study = few_values.marginaliser_, few_values.study
    codes = pnsight.queries.query.encode(few_values.schema, "age=2")
    inside = pnsight.queries.lattice.membership_matrix(codes, study.profiles)[0] * study.observational.sum(axis=1)
    assert inside.sum() > 200
    expected = inside @ found.profile_types_at(study.profiles) / inside.sum()
    assert np.allclose(found.types(codes, WEIGHTS)[0], expected, atol=1e-6)
    assert not any(one.kind == "averaged_near" for one in few_values.bounds("age=2").notes)


def test_in_a_small_table_a_range_with_everybody_is_everybody():
    study = pnsight.read_study(*tables(50), **COLUMNS)
    found = pnsight.ResponseTypeModel(config=QUICK, random_state=3).fit(study).marginaliser_
    everyone, *ranges = found.types(pnsight.queries.query.encode(study.schema, ["", "age>0", "weight<500"]), WEIGHTS)
    assert np.allclose(ranges, everyone, atol=1e-6)


def test_a_single_person_has_the_same_answer_whoever_else_is_asked_about():
    rng = np.random.default_rng(5)
    trial, registry = (table.assign(y=rng.integers(0, 2, len(table))) for table in tables(100))
    found = pnsight.ResponseTypeModel(config=QUICK).fit(pnsight.read_study(trial, registry, **COLUMNS))
    people = found.study.profiles
    assert np.allclose(found.bounds(people).lower[:64], found.bounds(people[:64]).lower, atol=1e-12)


def test_of_people_equally_far_nobody_is_chosen_by_chance():
    apart = np.array([0.3, 0.1, 0.3, 0.2, 0.3, 0.3, 0.3, 0.3])
    assert [part if np.isscalar(part) else part.tolist() for part in nearest_people(apart, 2)] == [[1, 3], 0.2]
    assert nearest_people(apart, 4)[0].tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert nearest_people(apart, 3)[0].tolist() == [1, 3]
    assert nearest_people(np.zeros(9), 20)[0].tolist() == list(range(9))
    assert nearest_people(np.zeros(9), 2)[0].tolist() == [0, 4, 8]


@pytest.fixture(scope="module")
def dated() -> pnsight.Study:
    """A study in which age is a date."""
    both = (table.assign(age=pd.Timestamp("2024-01-01") + pd.to_timedelta(table.age, "D")) for table in tables(200))
    return pnsight.read_study(*both, **COLUMNS, numeric=["age", "weight"])


def test_nobody_is_told_to_cut_dates_into_bands(dated):
    with pytest.raises(ModelError, match=r"bands with --bands weight=4 \(bands=\) and leave .* --exclude age"):
        pnsight.PlugIn().fit(dated)


def test_days_in_the_place_of_dates_cannot_be_read(dated):
    found = pnsight.ResponseTypeModel(config=QUICK).fit(dated)
    scored = pnsight.score(found, pd.DataFrame({"age": [45_000], "sex": ["f"]}))
    assert scored["status"].tolist() == ["invalid"]
    assert "it is a date, seen from 2024-" in scored["problem"][0]
