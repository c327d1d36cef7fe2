"""Whom to treat with a budget: no more is spent than there is, and no other choice of people would gain more."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

import pnsight
from cases import write_sexes
from laws import p_y_do_x, p_y_do_x0
from noted import kinds, values
from pnsight import simulation as populations
from pnsight.data.schema import Covariate, Schema
from pnsight.data.study import Study
from pnsight.decisions import select
from pnsight.errors import ModelError, PnsightError, QuantityError
from pnsight.queries import lattice
from pnsight.queries.query import format_queries
from strategies import studies

GAINS = ("guaranteed", "net", "best_case")


def some_uncontradicted(study: Study) -> pnsight.PlugIn:
    """A model that has someone to spend a budget on: the tables do not contradict each other about everybody."""
    model = pnsight.PlugIn().fit(study)
    assume(not model.contradicted(lattice.all_profiles(study.schema)).all())
    return model


@given(study=studies(experiment_alone=None), budget=st.floats(0, 1), by=st.sampled_from(GAINS))
def test_a_budget_is_kept_and_nobody_is_treated_twice(study, budget, by):
    found = select(some_uncontradicted(study), budget, by=by)
    assert found.totals()["spent"] <= budget + 1e-12
    assert (found.treated <= found.crowd + 1e-12).all()
    assert found.crowd.sum() <= 1 + 1e-12
    assert len(set(found.answers.queries)) == len(found.answers.queries)
    for row in range(len(found.treated)):
        assert found.guaranteed[row] <= found.best_case[row]
        assert found.net[row] <= found.guaranteed[row] + 1e-12


@given(study=studies(experiment_alone=None), budget=st.floats(0, 1))
def test_the_gain_grows_with_the_budget_ever_more_slowly(study, budget):
    found = select(some_uncontradicted(study), budget)
    curve = {name: np.array(values, dtype=float) for name, values in found.curve().items()}
    assert list(curve) == ["spent", "treated", *GAINS]
    assert all(values[0] == 0 for values in curve.values())
    slopes = np.diff(curve["guaranteed"]) / np.diff(curve["spent"])
    assert (slopes > 0).all()
    assert (np.diff(slopes) <= 1e-9).all()
    assert found.totals()["guaranteed"] == pytest.approx(np.interp(budget, curve["spent"], curve["guaranteed"]))
    assert found.totals()["best_case"] == pytest.approx(np.interp(budget, curve["spent"], curve["best_case"]))


@given(study=studies(), budget=st.floats(0, 30), by=st.sampled_from(GAINS), data=st.data())
def test_no_other_choice_gains_more(study, budget, by, data):
    """A linear program over how many to treat of each profile is the referee."""
    model = some_uncontradicted(study)
    codes = lattice.all_profiles(study.schema)
    texts = format_queries(study.schema, codes)
    prices = data.draw(st.lists(st.integers(1, 5), min_size=len(codes), max_size=len(codes)))
    cost = dict(zip(texts, map(float, prices), strict=True))
    found = select(model, budget, people=10, cost=cost, by=by)
    answers, law = model.bounds(codes), model.law(codes)
    gain = {"guaranteed": answers.lower, "net": p_y_do_x(law) - p_y_do_x0(law), "best_case": answers.upper}[by]
    gain = np.where(answers.status == "ok", gain, 0.0)
    crowd = 10 * model.shares(codes)
    best = linprog(-gain, A_ub=[prices], b_ub=[budget], bounds=list(zip(np.zeros(len(crowd)), crowd, strict=True)))
    assert found.totals()[by] == pytest.approx(-best.fun, abs=1e-7)
    assert found.totals()["spent"] <= budget + 1e-9


def test_whole_profiles_are_chosen_as_trying_every_set_of_them_would():
    schema = Schema.binary(["a", "b"])
    experimental = np.array([[90.0, 10, 10, 90], [60, 40, 40, 60], [50, 50, 50, 50], [80, 20, 30, 70]])
    study = Study.from_tables(schema, lattice.all_profiles(schema), experimental, None)
    lower, crowd = np.array([0.8, 0.2, 0.0, 0.5]), 25.0
    for size in range(5):
        best = max(
            sum(lower[row] for row in range(4) if taken[row]) * crowd
            for taken in product((0, 1), repeat=4)
            if sum(taken) <= size
        )
        found = select(pnsight.PlugIn().fit(study), size * crowd, people=100)
        assert found.totals()["guaranteed"] == pytest.approx(best)
        assert found.totals()["treated"] == min(size, 3) * crowd  # nothing is guaranteed to the third profile


@pytest.fixture
def sexes(tmp_path):
    """Women with a PNS of 0.279, men with one of 0.49 and harm of 0.21, as many of either."""
    return pnsight.PlugIn().fit(pnsight.read_study(*write_sexes(tmp_path), treatment="x", outcome="y"))


def test_a_budget_of_people_of_shares_and_of_money_come_to_the_same(sexes):
    by_people, by_share = select(sexes, 600, people=1000), select(sexes, 0.6)
    by_money = select(sexes, 1200, people=1000, cost=2)
    assert by_people.columns()["query"] == by_share.columns()["query"] == ["M", "F"]
    assert by_people.columns()["treated"] == by_money.columns()["treated"] == [500.0, pytest.approx(100)]
    assert by_share.columns()["treated"] == [0.5, pytest.approx(0.1)]
    assert by_money.columns()["spent"] == [1000.0, pytest.approx(200)]
    assert by_people.totals()["guaranteed"] == pytest.approx(500 * 0.49 + 100 * 0.279)
    assert by_people.totals()["net"] == pytest.approx(500 * 0.28 + 100 * 0.279)
    assert "treat 600.0 of 1,000 people: at least 272.9 and at most 272.9 respond because of it" in by_people.caption
    assert "treat 0.6 of the population: at least 0.2729" in repr(by_share)


def test_what_a_person_costs_changes_who_comes_first(sexes):
    found = select(sexes, 100, people=1000, cost={"": 2, "sex=F": 1})
    assert found.columns()["query"] == ["F"]
    assert found.columns()["treated"] == [100.0]


def test_the_net_effect_can_order_otherwise_than_the_guarantee():
    """Of the first profile half are helped and half harmed; of the second a third are helped and none harmed."""
    schema = Schema.binary(["z"])
    experimental = np.array([[50.0, 50, 50, 50], [30, 60, 0, 90]])
    observational = np.array([[50.0, 0, 50, 0], [15, 30, 0, 45]])
    model = pnsight.PlugIn().fit(Study.from_tables(schema, lattice.all_profiles(schema), experimental, observational))
    assert select(model, 0.1).columns()["query"] == ["0"]
    assert select(model, 0.1, by="net").columns()["query"] == ["1"]


def test_those_more_harmed_than_helped_are_pointed_out():
    schema = Schema.binary(["z"])
    experimental = np.array([[40.0, 60, 60, 40], [30, 60, 0, 90]])
    observational = np.array([[40.0, 0, 60, 0], [15, 30, 0, 45]])
    model = pnsight.PlugIn().fit(Study.from_tables(schema, lattice.all_profiles(schema), experimental, observational))
    assert values(select(model, 1.0).notes, "harm_among_treated") == {"profiles": 1}
    assert "harm_among_treated" not in kinds(select(model, 1.0, by="net").notes)


def test_caution_guarantees_less_and_says_the_best_case_is_better(fitted):
    plain, careful = (select(fitted, 0.2, cautious=cautious) for cautious in (False, True))
    assert careful.totals()["guaranteed"] < plain.totals()["guaranteed"]
    assert (careful.guaranteed <= careful.answers.lower).all()
    assert (careful.best_case >= careful.answers.upper).all()
    assert values(plain.notes, "winners_curse")["too_high"] > 0


def test_profiles_with_few_rows_can_be_left_out(plug_in):
    found = select(plug_in, 0.1, least_support=100)
    rows = found.answers.support_experimental, found.answers.support_observational
    assert np.min(rows) >= 100
    why = {note.values["why"] for note in found.notes if note.kind == "not_considered"}
    assert {"few_rows", "no_answer"} <= why


def test_people_beyond_the_profiles_that_can_be_listed_are_those_with_rows():
    profiles = np.eye(3, 20, dtype=np.int32)
    counts = np.array([[90.0, 10, 10, 90], [40, 60, 40, 60], [50, 50, 30, 70]])
    model = pnsight.PlugIn().fit(Study.from_tables(Schema.binary([f"z{j}" for j in range(20)]), profiles, counts, None))
    found = select(model, 1.0)
    assert found.columns()["treated"] == [pytest.approx(1 / 3)] * 2
    assert found.totals()["guaranteed"] == pytest.approx((0.8 + 0.2) / 3)


def test_bounds_alone_have_no_net_effect(sexes):
    from sklearn.dummy import DummyRegressor

    study = populations.get("mediator").sample(experimental=20_000, observational=20_000, seed=1)
    model = pnsight.MaskMLP(regressor=DummyRegressor(), min_rows=100).fit(study)
    found = select(model, 0.1)
    assert np.isnan(found.net).all()
    assert "net of those harmed" not in found.caption
    with pytest.raises(ModelError, match="mask-mlp"):
        select(model, 0.1, by="net")


@pytest.mark.parametrize("quantity", ["pn", "ps", "pd", "pe", "harm"])
def test_what_is_not_a_gain_is_refused(sexes, quantity):
    with pytest.raises(QuantityError, match=f"{quantity} is not what treating"):
        select(sexes, 0.1, quantity=quantity)


@pytest.mark.parametrize(
    ("mistake", "named"),
    [
        ({"budget": -1}, "-1"),
        ({"budget": 5}, "people="),
        ({"budget": float("nan")}, "nan"),
        ({"budget": 5, "people": 0}, "0 people"),
        ({"budget": 5, "people": 1e308}, r"1e\+308 people; .* at most 1e\+15"),
        ({"budget": 5, "people": 10, "cost": 1e-320}, "a cost is 9.99989e-321"),
        ({"budget": 5, "people": 10, "cost": 1e308}, r"a cost is 1e\+308"),
        ({"budget": 1e308, "people": 10}, r"budget is 1e\+308"),
        ({"budget": 5, "people": 10, "cost": 0}, "a cost is 0"),
        ({"budget": 5, "people": 10, "cost": {"sex=F": -2}}, "-2"),
        ({"budget": 5, "people": 10, "cost": {"sex=F": 2}}, "no cost is given for 'M'"),
        ({"budget": 0.5, "cost": 3}, "people="),
        ({"budget": 0.5, "by": "luck"}, "'luck'"),
    ],
)
def test_mistakes_are_named(sexes, mistake, named):
    with pytest.raises(PnsightError, match=named):
        select(sexes, **mistake)


@pytest.mark.parametrize("reverse", [False, True])
def test_profiles_that_gain_alike_come_in_their_order_whatever_the_last_digit(reverse):
    """0.9 - 0.6 is not quite 0.3 - 0."""
    trial = np.array([[30.0, 70, 0, 100], [90, 10, 60, 40]])[:: -1 if reverse else 1]
    sexes = Schema((Covariate("sex", ("F", "M")),))
    model = pnsight.PlugIn().fit(Study.from_tables(sexes, np.array([[0], [1]], np.int32), trial))
    found = select(model, 0.4)
    assert found.answers.lower[0] != found.answers.lower[1]
    assert list(found.answers.queries) == ["F", "M"]
    assert found.treated.tolist() == pytest.approx([0.4, 0])
