"""The plug-in: a query's own rows, put into the formulas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from closed_forms import QUANTITIES
from laws import empirical_law, p_xy, p_y_do_x, p_y_do_x0
from pnsight import PlugIn
from pnsight import simulation as populations
from pnsight.data.schema import OPEN, Covariate, Schema
from pnsight.data.study import Study
from pnsight.errors import ModelError, QuantityError, QueryError
from pnsight.estimands import bounds, incompatibility
from pnsight.estimands.resolve import resolve_crossed_bounds
from pnsight.notes import Note
from pnsight.queries import lattice
from strategies import codes_of, studies

WHOLE = ("pns", "harm")


@given(study=studies(experiment_alone=None), data=st.data())
def test_bounds_are_the_formulas_at_the_querys_own_rows(study, data):
    codes = data.draw(codes_of(study.schema))
    model = PlugIn().fit(study)
    for quantity in QUANTITIES if study.observational is not None else WHOLE:
        answer = model.bounds(codes, quantity)
        for row, query in enumerate(codes):
            covered = ((query == OPEN) | (study.profiles == query)).all(axis=1)
            experimental = study.experimental[covered].sum(axis=0, keepdims=True)
            observational = (
                None if study.observational is None else study.observational[covered].sum(axis=0, keepdims=True)
            )
            lower, upper, status = resolve_crossed_bounds(*bounds(empirical_law(experimental, observational), quantity))
            np.testing.assert_allclose([answer.lower[row], answer.upper[row]], [lower[0], upper[0]], atol=1e-12)
            assert answer.status[row] == status[0]
            assert answer.support_experimental[row] == experimental.sum()
            assert answer.support_observational[row] == (0 if observational is None else observational.sum())


@given(study=studies(experiment_alone=None))
def test_answers_never_cross_and_are_absent_where_the_status_is_not_ok(study):
    answer = PlugIn().fit(study).bounds(lattice.all_queries(study.schema))
    ok = answer.status == "ok"
    assert np.all((answer.lower[ok] >= 0) & (answer.lower[ok] <= answer.upper[ok]) & (answer.upper[ok] <= 1))
    assert np.isnan(answer.lower[~ok]).all()
    assert np.isnan(answer.upper[~ok]).all()
    assert set(answer.status) <= {"ok", "incoherent", "undefined"}


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("name", ["confounder", "mediator", "tree-dependent:1"])
def test_fed_a_populations_own_masses_it_is_the_oracle(name, quantity):
    population = populations.get(name)
    profiles = lattice.all_profiles(population.schema)
    law, mass = population.law(profiles), population.covariates.mass(profiles)
    arms = np.stack([p_y_do_x(law), 1 - p_y_do_x(law), p_y_do_x0(law), 1 - p_y_do_x0(law)], axis=1) / 2
    study = Study.from_tables(population.schema, profiles, mass[:, None] * arms, mass[:, None] * p_xy(law))
    queries = lattice.all_queries(population.schema)[::5]
    found, truth = PlugIn().fit(study).bounds(queries, quantity), population.bounds(queries, quantity)
    np.testing.assert_array_equal(found.status, truth.status)
    np.testing.assert_allclose(found.lower, truth.lower, atol=1e-9)
    np.testing.assert_allclose(found.upper, truth.upper, atol=1e-9)


ONE = Schema((Covariate("sex", ("F", "M")),))


def model_of(experimental, observational=None) -> PlugIn:
    profiles = np.array([[0], [1]], dtype=np.int32)
    counts = [None if c is None else np.array(c, float) for c in (experimental, observational)]
    return PlugIn().fit(Study.from_tables(ONE, profiles, *counts))


def test_a_profile_without_rows_in_one_table_is_undefined():
    model = model_of([[1, 1, 1, 1], [0, 0, 0, 0]], [[1, 1, 1, 1], [1, 1, 1, 1]])
    answer = model.bounds(["sex=F", "sex=M"])
    assert answer.status.tolist() == ["ok", "undefined"]
    assert answer.support_experimental.tolist() == [4, 0]
    assert answer.support_observational.tolist() == [4, 4]


def test_a_profile_without_one_experimental_arm_is_undefined():
    assert model_of([[2, 1, 0, 0], [1, 1, 1, 1]]).bounds("F").status.tolist() == ["undefined"]


def test_a_level_that_was_never_seen_with_another_is_undefined_not_an_error():
    schema = Schema((Covariate("sex", ("F", "M")), Covariate("age", ("0", "1"))))
    study = Study.from_tables(schema, np.array([[0, 0]], np.int32), np.ones((1, 4)), np.ones((1, 4)))
    assert PlugIn().fit(study).bounds("M1").status.tolist() == ["undefined"]


def test_necessity_is_undefined_where_nobody_treated_responded():
    model = model_of([[0, 5, 2, 3], [1, 1, 1, 1]], [[0, 5, 2, 3], [1, 1, 1, 1]])
    assert model.bounds("F", "pn").status.tolist() == ["undefined"]
    assert model.bounds("F", "ps").status.tolist() == ["ok"]


@pytest.mark.parametrize("quantity", ["pn", "ps", "pd", "pe"])
def test_an_experiment_alone_refuses_what_conditions_on_choice(quantity):
    with pytest.raises(QuantityError, match=f"^{quantity} conditions on what people chose"):
        model_of([[1, 1, 1, 1], [1, 1, 1, 1]]).bounds("", quantity)


def test_an_experiment_alone_gives_the_wider_bounds():
    counts = [[489, 511, 210, 790], [490, 510, 210, 790]]
    alone = model_of(counts).bounds("")
    np.testing.assert_allclose([alone.lower[0], alone.upper[0]], [0.2795, 0.4895])
    assert alone.support_observational.tolist() == [0]


def test_no_query_means_everyone():
    model = model_of([[1, 2, 3, 4], [4, 3, 2, 1]])
    assert model.bounds().queries == ["X"]
    assert model.bounds().support_experimental.tolist() == [20]


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(ModelError, match=r"this PlugIn is not fitted yet; call fit\(study\) first"):
        PlugIn().bounds("")


def test_mistakes_in_queries_and_quantities_are_named():
    model = model_of([[1, 1, 1, 1], [1, 1, 1, 1]])
    with pytest.raises(QueryError, match="'G'"):
        model.bounds("sex=G")
    with pytest.raises(QuantityError, match="'pnss'"):
        model.bounds("", "pnss")


def test_more_rows_bring_the_plug_in_to_the_oracle():
    """Five standard errors of the noisiest frequency bound the error of either end: each end moves by at most the
    sum of the moves of a, b and two cells."""
    population = populations.get("confounder")
    rows = 200_000
    answer, truth = PlugIn().fit(population.sample(rows, rows, seed=6)).bounds(""), population.bounds("")
    allowed = 5 * 4 * 0.5 / np.sqrt(rows / 2)
    assert abs(answer.lower[0] - truth.lower[0]) < allowed
    assert abs(answer.upper[0] - truth.upper[0]) < allowed


def test_a_study_can_be_given_other_counts():
    study = model_of([[1, 1, 1, 1], [1, 1, 1, 1]], [[1, 2, 3, 4], [4, 3, 2, 1]]).study
    doubled = study.with_counts(2 * study.counts)
    np.testing.assert_array_equal(doubled.counts, 2 * study.counts)
    assert doubled.with_tables(experimental=study.experimental, observational=study.observational).schema == ONE
    alone = study.with_tables(observational=None)
    assert alone.with_counts(alone.counts).observational is None


# --- profile by profile -----------------------------------------------------------------------------------

UNEVEN = [[64, 16, 6, 14], [3, 17, 8, 72]], [[10, 10, 10, 10], [30, 30, 30, 30]]


@pytest.mark.parametrize(
    ("population", "women"), [("observational", 40 / 160), ("experimental", 0.5), ("pooled", 140 / 360)]
)
def test_open_queries_mix_the_profiles_own_laws_by_their_share_of_the_population(population, women):
    law = PlugIn(mix="profiles", population=population).fit(model_of(*UNEVEN).study).law("")
    assert p_y_do_x(law)[0] == pytest.approx(women * 0.8 + (1 - women) * 0.15)
    assert p_y_do_x0(law)[0] == pytest.approx(women * 0.3 + (1 - women) * 0.1)
    np.testing.assert_allclose(p_xy(law)[0], 0.25)


@pytest.mark.parametrize("population", ["observational", "experimental", "pooled"])
def test_adding_up_rows_and_mixing_profiles_agree_on_exact_queries(population):
    study = model_of(*UNEVEN).study
    rows = PlugIn().fit(study).bounds(["F", "M"])
    profiles = PlugIn(mix="profiles", population=population).fit(study).bounds(["F", "M"])
    assert rows.columns() == profiles.columns()


@given(study=studies(experiment_alone=None), data=st.data())
def test_even_assignment_makes_both_mixes_the_same(study, data):
    """Each profile has its rows in both arms alike, and the registry has the experiment's mix of profiles."""
    arms = study.experimental[:, :2] + 1
    trial = np.concatenate([arms, arms[:, ::-1]], axis=1)
    registry = None if study.observational is None else trial[:, [1, 3, 0, 2]]
    even = study.with_tables(experimental=trial, observational=registry)
    codes = data.draw(codes_of(study.schema))
    rows, profiles = PlugIn().fit(even).law(codes), PlugIn(mix="profiles").fit(even).law(codes)
    np.testing.assert_allclose(profiles.cells, rows.cells, atol=1e-12)


@given(study=studies(experiment_alone=None), data=st.data())
def test_a_mixture_of_coherent_profiles_is_coherent(study, data):
    model = PlugIn(mix="profiles", population="experimental").fit(study)
    own = empirical_law(study.experimental, study.observational)
    if (incompatibility(own)[~np.isnan(p_y_do_x(own) + p_y_do_x0(own))] == 0).all():
        law = model.law(data.draw(codes_of(study.schema)))
        assert np.nan_to_num(incompatibility(law)).max(initial=0) < 1e-12


def sparse(lacking: float):
    """Women with both arms, and men, who have no untreated, as that share of all."""
    women, men = 100 * (1 - lacking), 100 * lacking
    return model_of([[20, 20, 10, 30], [5, 5, 0, 0]], [[women / 2, 0, 0, women / 2], [men / 2, 0, 0, men / 2]]).study


def test_a_few_people_without_both_arms_are_left_out_and_that_is_said():
    answer = PlugIn(mix="profiles").fit(sparse(0.04)).bounds(["", "F"])
    assert answer.status.tolist() == ["ok", "ok"]
    assert answer.lower[0] == answer.lower[1]
    assert [note.kind for note in answer.notes] == ["people_left_out"]
    assert answer.notes[0].values == {"answers": 1, "of": 2, "share": pytest.approx(0.04), "refined": False}
    assert str(answer.notes[0]) in repr(answer)
    assert str(answer.notes[0]) in answer._repr_html_()


def test_with_more_people_without_both_arms_there_is_no_answer():
    answer = PlugIn(mix="profiles").fit(sparse(0.06)).bounds(["", "F"])
    assert answer.status.tolist() == ["undefined", "ok"]
    unanswered = {"queries": 1, "of": 2, "share": 0.05, "refined": False}
    assert answer.notes == (Note("queries_unanswered", unanswered, "warning"),)


def test_what_it_was_given_is_what_it_is_saved_with():
    model = PlugIn("pn", "profiles", "pooled")
    assert PlugIn(**model.parameters()).parameters() == model.parameters()
    assert (PlugIn().capabilities.pools_rows, model.capabilities.pools_rows) == (True, False)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"mix": "people"}, r"mix is 'people'; expected one of 'rows', 'profiles'"),
        ({"mix": "profiles", "population": "both"}, r"population is 'both'; expected one of 'observational'"),
        ({"population": "pooled"}, r"population 'pooled' says whose profiles.*mix='profiles'"),
    ],
)
def test_choices_that_make_no_sense_are_refused(how, message):
    with pytest.raises(ModelError, match=message):
        PlugIn(**how).fit(sparse(0.04))
