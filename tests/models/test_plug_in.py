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
    """As computed; what is answered has none of those that the tables contradict each other about."""
    codes = data.draw(codes_of(study.schema))
    model = PlugIn().fit(study)
    for quantity in QUANTITIES if study.observational is not None else WHOLE:
        answer = model.compute_bounds(codes, model.estimand(quantity))
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
    assert set(answer.status) <= {"ok", "incoherent", "undefined", "contradicted"}


@given(study=studies(), quantity=st.sampled_from(sorted(QUANTITIES)))
def test_an_answer_is_what_was_computed_unless_the_tables_contradict_each_other(study, quantity):
    model, codes = PlugIn().fit(study), lattice.all_queries(study.schema)
    answer, computed = model.bounds(codes, quantity), model.compute_bounds(codes, model.estimand(quantity))
    refused = model.contradicted(codes)
    assert (answer.status[refused] == "contradicted").all()
    assert np.isnan([answer.lower[refused], answer.upper[refused]]).all()
    np.testing.assert_array_equal(answer.status[~refused], computed.status[~refused])
    np.testing.assert_array_equal(answer.lower[~refused], computed.lower[~refused])
    np.testing.assert_array_equal(answer.upper[~refused], computed.upper[~refused])


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
    for name, values in rows.columns().items():
        assert profiles.columns()[name] == pytest.approx(values)


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


def contradictory(share: float):
    """Women who fit, and men of whom nobody is treated and responds, and too many are treated and do not."""
    women, men = 100 * (1 - share), 100 * share
    trial = [[80, 20, 40, 60], [90, 10, 50, 50]]
    return model_of(trial, [[0.4 * women, 0.1 * women, 0.2 * women, 0.3 * women], [0, men / 2, men / 4, men / 4]])


def test_profiles_that_no_population_has_leave_a_refined_answer_incoherent_even_if_they_add_nothing():
    answer = contradictory(0.06).bounds(["", "F", "M"], "pn", refine="covariates")
    assert answer.status.tolist() == ["incoherent", "ok", "incoherent"]
    assert np.isnan(answer.lower[[0, 2]]).all()
    assert np.isnan(answer.value_low[[0, 2]]).all()
    assert [note.kind for note in answer.notes if note.severity == "warning"] == [
        "noisy_profiles",
        "queries_unanswered",
    ]


def test_a_few_people_whose_profiles_no_population_has_are_left_out_and_that_is_said():
    answer = contradictory(0.04).bounds(["", "F"], "pn", refine="covariates")
    assert answer.status.tolist() == ["ok", "ok"]
    assert answer.lower[0] == pytest.approx(answer.lower[1])
    assert "people_left_out" in [note.kind for note in answer.notes]


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


# --- intervals ----------------------------------------------------------------------------------------------

ENDS = ("lower", "upper")
COHERENT = [[64, 16, 24, 56], [30, 70, 20, 80]], [[30, 10, 15, 25], [15, 35, 10, 40]]
ASKED = {
    "as it is": {},
    "conditional": {"quantity": "pn"},
    "benefit": {"payoffs": (100, -60, 0, -140)},
    "refined": {"refine": "covariates"},
    "refined and conditional": {"refine": "covariates", "quantity": "ps"},
    "corrected": {"median_unbiased": True},
    "together": {"simultaneous": True},
}


def answered(study: Study, codes, how: str = "rows", **asked):
    """Answers whether or not the tables contradict each other."""
    model = PlugIn(mix=how).fit(study)
    return model.compute_bounds(codes, model.estimand(**asked))


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
@given(study=studies(experiment_alone=None), how=st.sampled_from(["rows", "profiles"]))
def test_intervals_hold_what_they_are_about_and_are_absent_without_an_answer(study, how, asked):
    if study.observational is None and asked.get("quantity") in ("pn", "ps"):
        return
    answer = answered(study, lattice.all_queries(study.schema), how, **asked)
    ok = answer.status == "ok"
    least, most = (-140, 100) if "payoffs" in asked else (0, 1)
    for end in ENDS:
        low, high = answer.interval(end)
        estimate = getattr(answer, end)
        assert ((least <= low[ok]) & (low[ok] <= estimate[ok]) & (estimate[ok] <= high[ok]) & (high[ok] <= most)).all()
        assert np.isnan(low[~ok]).all()
        assert np.isnan(high[~ok]).all()
    assert ((answer.value_low[ok] <= answer.lower[ok]) & (answer.upper[ok] <= answer.value_high[ok])).all()
    assert np.isnan(answer.value_low[~ok]).all()
    assert np.isnan(answer.value_high[~ok]).all()
    assert answer.level == 0.9


def test_the_interval_of_an_experiment_is_that_of_its_shares():
    """From an experiment alone PNS is at most P(y_x), here 6 of 60: Agresti and Coull's interval at 90%."""
    answer = model_of([[6, 54, 20, 80], [0, 0, 0, 0]]).bounds("F")
    assert answer.upper[0] == 0.1
    assert answer.upper_low[0] == pytest.approx(0.0504, abs=5e-5)
    assert answer.upper_high[0] == pytest.approx(0.1841, abs=5e-5)


def test_the_trial_alone_has_intervals_too():
    study = model_of([[60, 40, 30, 70], [30, 70, 20, 80]], [[50, 50, 50, 50], [40, 60, 30, 70]]).study
    alone = PlugIn().fit(study.with_tables(observational=None)).bounds(["", "F"])
    found = PlugIn().fit(study).bounds(["", "F"], trial_alone=True)
    assert found.columns() == alone.columns()
    assert (found.lower_low < found.lower).all()


def test_fewer_rows_make_longer_intervals_of_profiles_and_of_all():
    many, few = (model_of(*(np.array(counts) * times for counts in COHERENT)).study for times in (25, 1))
    for asked in ({}, {"refine": "covariates"}):
        for how in ("rows", "profiles"):
            wide, narrow = (answered(study, lattice.all_queries(ONE), how, **asked) for study in (few, many))
            lengths = [answer.upper_high - answer.upper_low for answer in (wide, narrow)]
            assert (lengths[0] > 3 * lengths[1]).all()


def test_standardised_shares_count_as_many_rows_as_know_them_as_well():
    """Two halves of the people, of whom the trial has 90 and 10 in an arm: 1 / (.25/90 + .25/10) rows, or 36."""
    study = model_of([[18, 72, 18, 72], [2, 8, 2, 8]], [[500, 4500, 500, 4500]] * 2).study
    profiles, rows = (PlugIn(mix=how).fit(study).bounds("") for how in ("profiles", "rows"))
    assert profiles.upper[0] == rows.upper[0] == pytest.approx(0.2)  # P(y_x)
    lengths = [answer.upper_high[0] - answer.upper_low[0] for answer in (profiles, rows)]
    assert lengths[0] / lengths[1] == pytest.approx(np.sqrt(100 / 36), rel=0.1)


def test_profiles_with_one_row_are_not_taken_for_certain():
    """A hundred profiles with one row in each arm: every share is 0 or 1, and their mean as uncertain as 100 rows."""
    schema = Schema((Covariate("site", tuple(map(str, range(100)))),))
    codes = np.arange(100, dtype=np.int32)[:, None]
    responds = np.arange(100) % 2 == 0
    arm = np.stack([responds, ~responds], axis=1).astype(float)
    study = Study.from_tables(schema, codes, np.concatenate([arm, arm[:, ::-1]], axis=1))
    one, all_rows = (PlugIn(mix=how).fit(study).bounds("") for how in ("profiles", "rows"))
    assert one.upper_high[0] - one.upper[0] == pytest.approx(all_rows.upper_high[0] - all_rows.upper[0], rel=0.05)


def test_corrected_ends_lie_outside_the_others_and_say_so():
    study = model_of(*COHERENT).study
    plain, corrected = (PlugIn().fit(study).bounds(["F", "M", ""], median_unbiased=given) for given in (False, True))
    assert (corrected.lower <= plain.lower).all()
    assert (corrected.upper >= plain.upper).all()
    assert (corrected.upper > plain.upper).any()
    assert Note("median_unbiased") in corrected.notes
    np.testing.assert_array_equal(corrected.lower_high, plain.lower_high)


def test_intervals_that_hold_together_are_wider_the_more_there_are():
    model = PlugIn().fit(model_of(*COHERENT).study)
    alone, three, twice = (
        model.bounds(queries, simultaneous=given)
        for queries, given in ((["F", "M", ""], False), (["F", "M", ""], True), (["F", "M", "", "F"], True))
    )
    assert (three.upper_high > alone.upper_high).all()
    np.testing.assert_array_equal(three.upper_high, twice.upper_high[:3])  # the same people count once
    assert Note("simultaneous", {"answers": 3, "level": 0.9}) in three.notes
    np.testing.assert_allclose(three.standard_error("upper"), alone.standard_error("upper"), rtol=0.1)


def shares_held(population, rows, draws, least=100, **asked) -> dict[str, np.ndarray]:
    """How often the intervals of each study hold the truth, over queries that have so many rows in each arm."""
    codes = lattice.all_queries(population.schema)
    truth = population.bounds(codes, **asked)
    held: dict[str, list[float]] = {}
    for seed in range(draws):
        study = population.sample(*rows, seed=seed)
        answer = answered(study, codes, **asked)
        arms = study.structure.by_group(lattice.sum_over(study.schema, codes, study.profiles, study.counts))
        some = (answer.status == "ok") & (arms[:, :2] >= least).all(axis=1)
        for end in ENDS:
            (low, high), value = answer.interval(end), getattr(truth, end)
            held.setdefault(end, []).append(((low <= value + 1e-9) & (value <= high + 1e-9))[some].mean())
            within = (answer.value_low <= value + 1e-9) & (value <= answer.value_high + 1e-9)
            held.setdefault(f"value at {end}", []).append(within[some].mean())
    return {name: np.array(found) for name, found in held.items()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "most"), [({}, 0.96), ({"quantity": "pn"}, 1.0), ({"refine": "covariates"}, 0.97)], ids=str
)
def test_intervals_hold_the_truth_as_often_as_they_say(asked, most):
    """Over 27 queries each of 90 studies, whose queries overlap, so studies are counted and not answers.

    The PN of many groups is 0 or 1 at an end, and then it is held nearly always.
    """
    found = [
        shares_held(populations.random_population(kind, 3, covariates=3), (1200, 4000), draws=15, **asked)
        for kind in populations.KINDS
    ]
    for name in found[0]:
        shares = np.concatenate([each[name] for each in found])
        assert 0.9 - 2 * shares.std() / np.sqrt(len(shares)) < shares.mean() < most, name
