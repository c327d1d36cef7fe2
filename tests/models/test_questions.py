"""Benefit, assumptions and refinement asked of fitted models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas
import pytest

from cases import CHURN, CHURN_EXPECTED, CHURN_PAYOFFS, MEN, TOLERANCE, WOMEN
from closed_forms import QUANTITIES
from laws import asking, p_xy, p_y_do_x, p_y_do_x0
from noted import kinds, values
from pnsight import MaskMLP, PlugIn, ResponseTypeModel, load, read_study, save
from pnsight import simulation as populations
from pnsight.data.schema import OPEN, Covariate, Schema
from pnsight.data.study import Study
from pnsight.data.two_by_two import TWO_BY_TWO, two_by_two_law
from pnsight.errors import AssumptionError, ModelError, QuantityError, TableError
from pnsight.models.response_types.config import MAX_ENUMERATED_PROFILES
from pnsight.notes import Note
from pnsight.queries import lattice
from quick_config import QUICK

PAYOFFS = (100, -60, 0, -140)
KINDS = [*((quantity, None) for quantity in QUANTITIES), ("benefit", PAYOFFS), ("benefit", (-5, 3, 2, 4))]
SETS = ["monotone", "exogenous", ("monotone", "exogenous")]
SEXES = Schema((Covariate("sex", ("F", "M")),))


def study_of(*counts, schema=SEXES) -> Study:
    counts = np.array(counts, dtype=float)
    return Study.from_tables(
        schema, lattice.all_profiles(schema), counts[:, :4], counts[:, 4:] if counts.shape[1] == 8 else None
    )


@pytest.fixture(scope="module")
def sexes() -> Study:
    return study_of(*([*case.experimental, *case.observational] for case in (WOMEN, MEN)))


def exact_study(population: populations.Population, rows: float = 1e6) -> Study:
    """Counts in exact proportion: a study without noise."""
    profiles = lattice.all_profiles(population.schema)
    law, mass = population.law(profiles), rows * population.covariates.mass(profiles)[:, None]
    arms = np.stack([p_y_do_x(law), 1 - p_y_do_x(law), p_y_do_x0(law), 1 - p_y_do_x0(law)], axis=1) / 2
    return Study.from_tables(population.schema, profiles, mass * arms, mass * p_xy(law))


BLESSED = {"monotone": "mediator", "exogenous": "covariate", ("monotone", "exogenous"): "direct-positive"}
"""Populations of the catalog of which an assumption is true."""


# --- the plug-in --------------------------------------------------------------------------------------------


def test_case_d_refined(sexes):
    answer = PlugIn().fit(sexes).bounds("", refine="covariates")
    np.testing.assert_allclose([answer.lower[0], answer.upper[0]], [0.3845, 0.3845], atol=TOLERANCE)
    assert answer.notes[0] == Note("refined")


def test_case_e_from_a_trial():
    model = PlugIn().fit(study_of(CHURN["G1"], CHURN["G2"], schema=Schema((Covariate("group", ("G1", "G2")),))))
    answer = model.bounds(["group=G1", "group=G2"], "benefit", payoffs=CHURN_PAYOFFS)
    assert answer.quantity == "benefit"
    np.testing.assert_allclose(np.stack([answer.lower, answer.upper], axis=1), list(CHURN_EXPECTED.values()), atol=5e-5)
    assert answer.status.tolist() == ["ok", "ok"]
    assert answer.notes == (Note("payoffs", {"complier": 100, "always": -60, "never": 0, "defier": -140}),)
    assert "-5.142857" in repr(answer)


@pytest.mark.parametrize(("quantity", "payoffs"), KINDS)
@pytest.mark.parametrize("name", ["confounder", "mediator", "tree-dependent:1"])
def test_fed_a_populations_own_masses_its_refined_bounds_are_the_oracles(name, quantity, payoffs):
    population = populations.get(name)
    queries = lattice.all_queries(population.schema)[::40]
    model = PlugIn().fit(exact_study(population))
    found = model.bounds(queries, quantity, payoffs=payoffs, refine="covariates")
    truth = population.bounds(queries, quantity, payoffs=payoffs, refine="covariates")
    np.testing.assert_array_equal(found.status, truth.status)
    np.testing.assert_allclose(found.lower, truth.lower, atol=1e-6)
    np.testing.assert_allclose(found.upper, truth.upper, atol=1e-6)


@pytest.mark.parametrize("refine", ["none", "covariates"])
@pytest.mark.parametrize(("quantity", "payoffs"), KINDS)
@pytest.mark.parametrize("assume", SETS)
def test_a_true_assumption_tightens_and_keeps_the_truth(assume, quantity, payoffs, refine):
    population = populations.get(BLESSED[assume])
    queries = lattice.all_queries(population.schema)[::101]
    model = PlugIn().fit(exact_study(population))
    plain = model.bounds(queries, quantity, payoffs=payoffs, refine=refine)
    found = model.bounds(queries, quantity, payoffs=payoffs, assume=assume, refine=refine)
    truth = population.true_value(queries, quantity, payoffs=payoffs)
    ok = found.status == "ok"
    assert ok.any()
    slack = 1e-5 if quantity == "benefit" else 1e-7
    assert np.all(plain.lower[ok] <= found.lower[ok] + slack)
    assert np.all(found.upper[ok] <= plain.upper[ok] + slack)
    assert np.all((found.lower[ok] <= truth[ok] + slack) & (truth[ok] <= found.upper[ok] + slack))
    if "monotone" in assume:
        np.testing.assert_allclose(found.lower[ok], found.upper[ok], atol=slack)


def test_exogenous_holds_given_the_covariates_and_not_without_them():
    """Two profiles, each by lot; together the treated are of another kind, so an average must not pool them."""
    study = study_of([90, 10, 80, 20, 720, 80, 160, 40], [20, 80, 10, 90, 40, 160, 80, 720])
    answer = PlugIn().fit(study).bounds("", assume="exogenous", refine="covariates")
    law = two_by_two_law(np.array([0.9, 0.2]), np.array([0.8, 0.1]))
    expected = np.mean(asking("pns").bounds_at(law), axis=1)
    np.testing.assert_allclose([answer.lower[0], answer.upper[0]], expected, atol=1e-9)
    plain = PlugIn().fit(study).bounds("", assume="exogenous")
    assert plain.lower[0] <= answer.lower[0] + 1e-12
    assert answer.upper[0] <= plain.upper[0] + 1e-12


def test_exogenous_pools_both_tables():
    """48 of 100 in the trial, 520 of 1,000 who chose it: 568 of 1,100."""
    study = study_of([48, 52, 22, 78, 520, 480, 205, 795], [48, 52, 22, 78, 520, 480, 205, 795])
    answer = PlugIn().fit(study).bounds("F", assume="exogenous")
    a, b = 568 / 1100, 227 / 1100
    np.testing.assert_allclose([answer.lower[0], answer.upper[0]], [a - b, min(a, 1 - b)])


def test_exogenous_fills_an_arm_that_has_no_rows():
    study = study_of([0, 0, 20, 80, 500, 500, 200, 800], [50, 50, 20, 80, 500, 500, 200, 800])
    model = PlugIn().fit(study)
    assert model.bounds("F").status.tolist() == ["undefined"]
    assert model.bounds("F", assume="exogenous").lower[0] == pytest.approx(0.3)


def test_a_contradicted_assumption_is_refused_for_the_people_it_is_wrong_about(sexes):
    model = PlugIn().fit(sexes)
    women = model.bounds("F", "ps", assume="monotone")
    assert women.lower[0] == pytest.approx(1)
    assert values(women.notes, "assumption_contradicted_elsewhere")["elsewhere"] == ("sex=M",)
    for query in ("M", "", ["F", "M"]):
        with pytest.raises(AssumptionError) as refused:
            model.bounds(query, assume="monotone")
        said = values(refused.value.args, "assumption_contradicted")
        assert said["comparisons"] == 9
        assert said["found"]["group"] == "sex=M"
        assert said["found"]["left"] == {"text": "P(y)", "where": "observational", "value": pytest.approx(0.7)}


def test_an_assumption_is_tested_on_the_study_of_the_last_fit(sexes):
    unharmed = study_of([900, 100, 100, 900, 450, 50, 50, 450], [900, 100, 100, 900, 450, 50, 50, 450])
    model = PlugIn().fit(unharmed)
    assert model.bounds("sex=M", assume="monotone").status[0] == "ok"
    with pytest.raises(AssumptionError):
        model.fit(sexes).bounds("sex=M", assume="monotone")
    assert model.fit(unharmed).bounds("sex=M", assume="monotone").status[0] == "ok"


def test_noise_across_the_edge_still_gives_an_answer():
    """Ten rows an arm of which the untreated respond once more: no contradiction, and no harm assumed."""
    answer = PlugIn().fit(study_of([5, 5, 6, 4], [7, 3, 2, 8])).bounds(["F", "M", ""], assume="monotone")
    assert answer.status.tolist() == ["ok"] * 3
    np.testing.assert_allclose(answer.lower, [0, 0.5, 0.2])
    np.testing.assert_allclose(answer.upper, [0, 0.5, 0.2])


def test_a_profile_without_rows_makes_a_refined_answer_undefined_and_says_so():
    study = study_of([5, 5, 4, 6, 3, 3, 3, 3], [5, 5, 0, 0, 3, 3, 3, 3])
    answer = PlugIn().fit(study).bounds(["", "F"], refine="covariates")
    assert answer.status.tolist() == ["undefined", "ok"]
    said = values(answer.notes, "queries_unanswered")
    assert (said["queries"], said["of"], said["refined"]) == (1, 2, True)


def test_a_small_part_without_rows_is_left_out_and_said_so():
    study = study_of([500, 500, 400, 600, 300, 300, 300, 300], [5, 5, 0, 0, 3, 3, 3, 3])
    answer = PlugIn().fit(study).bounds("", refine="covariates")
    assert answer.status.tolist() == ["ok"]
    said = values(answer.notes, "people_left_out")
    assert (said["answers"], said["of"], said["refined"]) == (1, 1, True)


def test_small_profiles_are_warned_of_when_refining():
    model = PlugIn().fit(study_of([5, 5, 4, 6, 3, 3, 3, 3], [5000, 5000, 4000, 6000, 3000, 3000, 3000, 3000]))
    notes = model.bounds("", refine="covariates").notes
    said = values(notes, "noisy_profiles")
    assert said["rows"] == 300
    assert 0 < said["share"] < 0.005
    assert "noisy_profiles" not in kinds(model.bounds("").notes)


def test_an_observational_table_alone_answers_only_where_choice_is_as_if_by_lot(tmp_path):
    table = {"sex": ["F"] * 300 + ["M"] * 100, "x": [1, 0] * 200, "y": ([1] * 90 + [0] * 60 + [1] * 30 + [0] * 20) * 2}
    study = read_study(observational=pandas.DataFrame(table), treatment="x", outcome="y")
    assert not study.experimental.any()
    model = PlugIn().fit(study)
    a, b = (study.observational[0, k] / study.observational[0, k : k + 2].sum() for k in (0, 2))
    answer = model.bounds("F", assume="exogenous")
    np.testing.assert_allclose([answer.lower[0], answer.upper[0]], [max(0, a - b), min(a, 1 - b)])
    assert kinds(answer.notes)[0] == "assumption_untestable"
    bare = model.bounds("F")
    assert bare.status.tolist() == ["undefined"]
    assert kinds(bare.notes)[0] == "no_experiment"
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").bounds("F", assume="exogenous").lower[0] == answer.lower[0]
    with pytest.raises(ModelError, match=r"no experimental table.*The plug-in .*can answer"):
        ResponseTypeModel(config=QUICK).fit(study)


def test_a_study_needs_a_table():
    with pytest.raises(TableError, match="neither an experimental nor an observational table"):
        read_study(treatment="x", outcome="y")
    with pytest.raises(TableError, match="assignment is column 'p' of an experimental table"):
        read_study(observational=pandas.DataFrame({"x": [0], "y": [1]}), treatment="x", outcome="y", assignment="p")


# --- the response-type model --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def study() -> Study:
    return populations.random_population("index", 1, covariates=3).sample(3000, 3000, seed=1)


@pytest.fixture(scope="module")
def learned(study) -> ResponseTypeModel:
    return ResponseTypeModel(config=QUICK).fit(study)


@pytest.fixture(scope="module")
def bare(study) -> ResponseTypeModel:
    """Without intervals it does not know how far its laws may be off, so a query's own rows do not count again."""
    return ResponseTypeModel(intervals=False, config=QUICK).fit(study)


@pytest.fixture(scope="module")
def unharmed_study() -> Study:
    """Of a population in which nobody is harmed and choice has no hidden cause."""
    known = populations.random_population("index", 2, covariates=3)

    def responses(z, h):
        shares = known.responses(z, h).copy()
        shares[:, :, 3] += shares[:, :, 2]
        shares[:, :, 2] = 0
        return shares

    population = replace(known, responses=responses, choice=lambda z, h: known.choice(z, h[:1]).repeat(len(h), axis=1))
    return population.sample(3000, 3000, seed=1)


@pytest.fixture(scope="module")
def unharmed(unharmed_study) -> ResponseTypeModel:
    return ResponseTypeModel(config=QUICK).fit(unharmed_study)


def assert_answered(answer, span):
    assert set(answer.status) == {"ok"}
    ends = np.stack([*answer.interval("lower"), *answer.interval("upper"), answer.lower, answer.upper])
    assert not np.isnan(ends).any()
    assert ends.min() >= span[0]
    assert ends.max() <= span[1]
    slack = 1e-9 * max(1, *map(abs, span))
    assert np.all(answer.lower <= answer.upper)
    assert np.all(answer.interval("lower")[0] <= answer.lower + slack)
    assert np.all(answer.upper <= answer.interval("upper")[1] + slack)


@pytest.mark.parametrize("refine", ["none", "covariates"])
@pytest.mark.parametrize(("quantity", "payoffs"), KINDS)
def test_every_question_has_an_answer_with_intervals_within_its_span(learned, quantity, payoffs, refine):
    answer = learned.bounds(lattice.all_queries(learned.schema), quantity, payoffs=payoffs, refine=refine)
    assert_answered(answer, asking(quantity, payoffs).span)


@pytest.mark.parametrize("people", ["observational", "experimental", "pooled"])
@pytest.mark.parametrize(("quantity", "payoffs"), KINDS)
def test_refined_bounds_are_the_weighted_mean_of_the_profiles(bare, quantity, payoffs, people):
    """Computed here profile by profile, from the model's own law and masses."""
    queries, profiles = lattice.all_queries(bare.schema), lattice.all_profiles(bare.schema)
    rows = bare.study.counts[:, :4].sum(), bare.study.counts[:, 4:].sum()
    weights = {"experimental": (1, 0), "observational": (0, 1), "pooled": np.array(rows) / sum(rows)}[people]
    mass = np.asarray(weights) @ bare.marginaliser_.masses
    question = asking(quantity, payoffs, refine="covariates")
    parts = question.profile_terms(bare.law(profiles))
    inside = np.array([((query == OPEN) | (query == profiles)).all(axis=1) for query in queries]) * mass
    lower, upper = question.bounds_from_mean_terms(inside @ parts / inside.sum(axis=1, keepdims=True), TWO_BY_TWO)
    answer = bare.bounds(queries, quantity, population=people, payoffs=payoffs, refine="covariates")
    atol = 1e-3 if quantity == "benefit" else 1e-5  # types are stored in single precision
    np.testing.assert_allclose(answer.lower, lower, atol=atol)
    np.testing.assert_allclose(answer.upper, upper, atol=atol)


@pytest.mark.parametrize("people", ["observational", "experimental", "pooled"])
@pytest.mark.parametrize(("quantity", "payoffs"), KINDS)
def test_refined_bounds_lie_within_the_others(learned, quantity, payoffs, people):
    """Those of a single profile are the same: there is nothing to average."""
    queries = lattice.all_queries(learned.schema)
    plain = learned.bounds(queries, quantity, population=people, payoffs=payoffs)
    inner = learned.bounds(queries, quantity, population=people, payoffs=payoffs, refine="covariates")
    slack = 1e-9 * max(1, *map(abs, asking(quantity, payoffs).span))
    assert np.all(plain.lower <= inner.lower + slack)
    assert np.all(inner.upper <= plain.upper + slack)
    exact = (queries != OPEN).all(axis=1)
    np.testing.assert_allclose(inner.lower[exact], plain.lower[exact], atol=slack)
    np.testing.assert_allclose(inner.upper[exact], plain.upper[exact], atol=slack)


@pytest.mark.parametrize("refine", ["none", "covariates"])
@pytest.mark.parametrize(("quantity", "payoffs"), KINDS)
@pytest.mark.parametrize("assume", SETS)
def test_every_question_has_an_answer_under_assumptions_that_stand(unharmed, assume, quantity, payoffs, refine):
    queries = lattice.all_queries(unharmed.schema)
    answer = unharmed.bounds(queries, quantity, payoffs=payoffs, assume=assume, refine=refine)
    assert_answered(answer, asking(quantity, payoffs).span)
    assert "assumption_not_contradicted" in kinds(answer.notes)
    if "monotone" in assume:
        np.testing.assert_allclose(answer.lower, answer.upper)


def test_an_assumption_that_does_not_stand_is_refused(learned):
    with pytest.raises(AssumptionError, match="The tables contradict it"):
        learned.bounds("", assume="monotone")


def test_exogenous_says_what_an_exact_profile_has_of_both_tables(unharmed_study):
    """One profile, so nothing is mixed: the closed form at the pooled shares."""
    unharmed = ResponseTypeModel(intervals=False, config=QUICK).fit(unharmed_study)
    profile = lattice.all_profiles(unharmed.schema)[:1]
    law = unharmed.law(profile)
    arms = unharmed.study.counts.sum(axis=0)
    treated, control, registry = arms[:2].sum(), arms[2:4].sum(), arms[4:].sum()
    xy, xy0, x0y, x0y0 = p_xy(law)[0]
    a = (treated * p_y_do_x(law)[0] + registry * xy) / (treated + registry * (xy + xy0))
    b = (control * p_y_do_x0(law)[0] + registry * x0y) / (control + registry * (x0y + x0y0))
    answer = unharmed.bounds(profile, assume="exogenous")
    np.testing.assert_allclose([answer.lower[0], answer.upper[0]], [max(0, a - b), min(a, 1 - b)], atol=1e-6)


def test_many_covariates_can_be_refined_too():
    population = populations.random_population("index", 1, covariates=15)
    assert population.schema.n_profiles > MAX_ENUMERATED_PROFILES
    model = ResponseTypeModel(config=QUICK).fit(population.sample(4000, 4000, seed=1))
    assert model.marginaliser_.representation == "sampled"
    queries = [{}, {"z1": 1}, {"z1": 1, "z2": 0, "z3": 1}, dict.fromkeys(population.schema.names, 1)]
    for quantity, payoffs in (("pns", None), ("pn", None), ("benefit", PAYOFFS)):
        plain = model.bounds(queries, quantity, payoffs=payoffs)
        inner = model.bounds(queries, quantity, payoffs=payoffs, refine="covariates")
        assert_answered(inner, asking(quantity, payoffs).span)
        slack = 1e-3 if quantity == "benefit" else 1e-5
        assert np.all(plain.lower <= inner.lower + slack)
        assert np.all(inner.upper <= plain.upper + slack)
        np.testing.assert_allclose(inner.lower[-1], plain.lower[-1], atol=slack)  # an exact query has one profile


def test_a_trial_alone_can_be_refined():
    population = populations.random_population("index", 1, covariates=2)
    study = population.sample(2000, 2000, seed=1).with_tables(observational=None)
    for model in (PlugIn().fit(study), ResponseTypeModel(intervals=False, config=QUICK).fit(study)):
        plain, inner = model.bounds(""), model.bounds("", refine="covariates")
        assert plain.lower[0] <= inner.lower[0] + 1e-6
        assert inner.upper[0] <= plain.upper[0] + 1e-6


# --- models of bounds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"assume": "monotone"}, "cannot heed assume monotone; fit a response-types or plug-in model"),
        ({"refine": "covariates"}, "cannot heed refine covariates"),
        ({"quantity": "benefit", "payoffs": PAYOFFS}, "cannot heed payoffs"),
    ],
)
def test_a_bound_regressor_refuses_what_takes_a_law(asked, said):
    study = populations.random_population("index", 1, covariates=3).sample(20_000, 20_000, seed=1)
    model = MaskMLP(epochs=1, min_rows=100).fit(study)
    with pytest.raises(QuantityError, match=said):
        model.bounds("", **asked)


@pytest.mark.parametrize("model", [PlugIn(quantity="benefit"), ResponseTypeModel(quantity="benefit")])
def test_a_model_is_not_fitted_for_a_benefit(model, sexes):
    with pytest.raises(QuantityError, match="payoffs are given when asking"):
        model.fit(sexes)
