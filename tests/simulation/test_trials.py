"""Populations of other structures: exact truth, coherent laws, and tables that are read back as what they are.

Seeds 101-110 are for reporting only and appear in no test.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import product

import numpy as np
import polars
import pytest

import pnsight
from golden.regenerate import TRIALS, fingerprints, frozen_trials
from pnsight import simulation as populations
from pnsight.data.arms_and_outcomes import arms_and_outcomes
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL
from pnsight.errors import AssumptionError, PopulationError
from pnsight.estimands.compiled import incompatibility
from pnsight.estimands.linear_program import ResponseTypeLP
from pnsight.queries import lattice
from pnsight.simulation import CovariateNetwork, FollowUp, TableDesign, log_linear_population

MEMBERS = frozen_trials()
ROWS = 60_000


def contrast_of(population):
    """The last arm that the experiment has, against the reference."""
    described = population.structure.description
    return described.tried[-1], described.arms[0]


# --- the oracle -----------------------------------------------------------------------------------------


def small_trial():
    """One covariate z, one hidden cause h, three arms and two outcomes."""
    return log_linear_population(
        "by hand",
        CovariateNetwork.independent(("z",), np.array([0.3])),
        arms_and_outcomes(("a", "b", "c"), ("0", "1")),
        TableDesign("arm", "outcome"),
        {"h": 0.6},
        {"X == 2": {"": 0.4, "h": 0.5}, "Y1": {"z*h": -0.7}, "Y0 == Y2": {"z": 0.9}},
    )


@pytest.mark.parametrize("z", [0, 1])
def test_a_types_share_is_its_odds_among_all_types_hidden_causes_summed_out(z):
    population = small_trial()
    expected = dict.fromkeys(product(range(3), range(2), range(2), range(2)), 0.0)
    for h, chance in ((-1, 0.4), (1, 0.6)):
        sign = 2 * z - 1
        odds = {
            (x, y0, y1, y2): math.exp((x == 2) * (0.4 + 0.5 * h) - 0.7 * y1 * sign * h + 0.9 * (y0 == y2) * sign)
            for x, y0, y1, y2 in expected
        }
        for kind, value in odds.items():
            expected[kind] += chance * value / sum(odds.values())
    found = population.types(np.array([[z]], dtype=np.int32))[0]
    assert [tuple(map(int, kind)) for kind in population.structure.types] == list(expected)
    np.testing.assert_allclose(found, list(expected.values()), atol=1e-15)


def truth_by_enumeration(population, query, holds):
    """Share of people of whom something holds, and the mass of the query, by loops over profiles and types."""
    network, total, mass = population.covariates, 0.0, 0.0
    names = [variable.name for variable in population.structure.variables]
    for z in product((0, 1), repeat=len(network.names)):
        if any(symbol not in ("X", str(level)) for symbol, level in zip(query, z, strict=True)):
            continue
        weight = 1.0
        for j, (parents, table) in enumerate(zip(network.parents, network.tables, strict=True)):
            one = float(table[tuple(z[parent] for parent in parents)])
            weight *= one if z[j] else 1 - one
        shares = population.types(np.array([z], dtype=np.int32))[0]
        mass += weight
        for kind, share in zip(population.structure.types, shares, strict=True):
            total += weight * share * holds(dict(zip(names, kind, strict=True)))
    return total / mass, mass


@pytest.mark.parametrize("name", ["three-doses", "survival", "noncompliance", "grades5:1"])
def test_the_true_value_is_that_of_every_profile_and_type_added_up(name):
    population, query = populations.get(name), "X1XX0XX1"
    arms = population.structure.description.arms
    treated = f"Y{len(arms) - 1}"
    expected, mass = truth_by_enumeration(population, query, lambda kind: kind[treated] > kind["Y0"])
    assert population.pns(query, contrast=(arms[-1], arms[0]))[0] == pytest.approx(expected, abs=1e-12)
    assert population.mixture(query)[0][0] == pytest.approx(mass, abs=1e-12)


def test_truths_of_conditions_horizons_and_compliers_are_those_of_the_people_meant():
    doses, survival, training = (populations.get(name) for name in ("three-doses", "survival", "noncompliance"))

    def among(population, event, given):
        both, _ = truth_by_enumeration(population, "11XXXXXX", lambda kind: event(kind) and given(kind))
        return both / truth_by_enumeration(population, "11XXXXXX", given)[0]

    asked = {"statement": "Y[high] >= partial and Y[low] < complete", "given": "X == placebo and Y == none"}
    expected = among(doses, lambda k: k["Y2"] >= 1 and k["Y1"] < 2, lambda k: k["X"] == 0 and k["Y0"] == 0)
    assert doses.true_value("11XXXXXX", **asked)[0] == pytest.approx(expected, abs=1e-12)
    expected = among(survival, lambda k: k["Y1"] > 1 and k["Y0"] <= 1, lambda k: True)
    assert survival.pns("11XXXXXX", horizon=90)[0] == pytest.approx(expected, abs=1e-12)
    expected = among(training, lambda k: k["Y1"] > k["Y0"], lambda k: (k["D0"], k["D1"]) == (0, 1))
    assert training.pns("11XXXXXX", among="compliers")[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", [*populations.TRIAL_NAMES, *(f"{kind}:2" for kind in populations.TRIAL_KINDS)])
def test_bounds_are_those_of_the_linear_program_at_the_exact_law(name):
    population = populations.get(name)
    contrast = contrast_of(population)
    codes = lattice.all_profiles(population.schema)[::61]
    law, answer = population.law(codes), population.bounds(codes, contrast=contrast)
    estimand = population.estimand(contrast=contrast)
    everyone = np.ones(population.structure.n_types)
    for row, (lower, upper) in enumerate(zip(answer.lower, answer.upper, strict=True)):
        program = ResponseTypeLP(population.structure, law.cells[row], everyone == 1)
        found = program.extremes(estimand.value(population.structure), everyone)
        np.testing.assert_allclose([lower, upper], found, atol=1e-7)


@pytest.mark.parametrize("name", MEMBERS)
def test_every_law_is_coherent_and_the_truth_within_its_bounds(name):
    population = populations.get(name)
    contrast = contrast_of(population)
    profiles = lattice.all_profiles(population.schema)
    assert incompatibility(population.law(profiles)).max() < 1e-12
    mass, types = population.covariates.mass(profiles), population.types(profiles)
    assert mass.sum() == pytest.approx(1)
    assert (mass.min() > 0, types.min() >= 0) == (True, True)
    np.testing.assert_allclose(types.sum(axis=1), 1)
    for codes in (profiles, lattice.all_queries(population.schema)[::7]):
        answer, true = population.bounds(codes, contrast=contrast), population.pns(codes, contrast=contrast)
        assert set(answer.status) == {"ok"}
        assert (answer.lower - 1e-12 <= true).all()
        assert (true <= answer.upper + 1e-12).all()


@pytest.mark.parametrize("name", MEMBERS)
def test_some_benefit_and_some_are_harmed(name):
    population = populations.get(name)
    contrast = contrast_of(population)
    assert population.pns("", contrast=contrast)[0] > 0.05
    assert population.true_value("", "harm", contrast=contrast)[0] > 0.05


@pytest.mark.parametrize("name", [name for name in MEMBERS if name != "noncompliance-alone"])
def test_those_who_choose_an_arm_would_not_respond_as_everyone_of_their_profile(name):
    """Total variation between their outcomes under it and everyone's, mean over arms and people."""
    population = populations.get(name)
    people, profiles = population.structure.people, lattice.all_profiles(population.schema)
    described, types, gaps = population.structure.description, population.types(profiles), []
    for k in range(len(described.arms)):
        outcomes = np.stack([people[f"Y{k}"] == y for y in range(len(described.outcomes))]).astype(float)
        everyone, chose = types @ outcomes.T, (types * (people["X"] == k)) @ outcomes.T
        gaps.append(np.abs(everyone - chose / chose.sum(axis=1, keepdims=True)).sum(axis=1) / 2)
    assert population.covariates.mass(profiles) @ np.mean(gaps, axis=0) > 0.02


@pytest.mark.parametrize("name", MEMBERS)
def test_every_variable_of_a_type_depends_on_the_covariates(name):
    population = populations.get(name)
    profiles, structure = lattice.all_profiles(population.schema), population.structure
    types = population.types(profiles)
    for variable in structure.variables if OBSERVATIONAL in structure.tables else structure.variables[1:]:
        share = types @ (structure.people[variable.name] == len(variable.values) - 1)
        fixed = (name, variable.name) == ("noncompliance-alone", "D0")  # nobody comes uninvited
        assert bool(share.std() > 0.02) != fixed, variable.name


@pytest.mark.parametrize("name", MEMBERS)
def test_population_is_frozen(name):
    """Regenerate on purpose only: python tests/golden/regenerate.py"""
    frozen = json.loads(TRIALS.read_text(encoding="utf-8"))[name]
    found = fingerprints(populations.get(name))
    assert found.keys() == frozen.keys()
    for part, values in frozen.items():
        np.testing.assert_allclose(found[part], values, atol=1e-9, rtol=0, err_msg=part)


@pytest.mark.parametrize("kind", populations.TRIAL_KINDS)
@pytest.mark.parametrize("d", [1, 3, 10])
def test_other_numbers_of_covariates_work(kind, d):
    population = populations.random_trial(kind, 1, covariates=d)
    assert population.schema.names == tuple(f"z{i}" for i in range(1, d + 1))
    assert population.mixture("")[1][0].sum() == pytest.approx(1)
    assert population.sample(40, 30, seed=1).rows_of(EXPERIMENTAL).sum() == 40


# --- assumptions ----------------------------------------------------------------------------------------


def test_what_holds_of_everyone_may_be_assumed():
    training, screening = populations.get("noncompliance"), populations.get("noncompliance-alone")
    assumed = training.bounds("", "effect", among="compliers", assume="no-defiers")
    true = training.true_value("", "effect", among="compliers")
    np.testing.assert_allclose([assumed.lower, assumed.upper], [true, true], atol=1e-9)
    narrow, wide = screening.bounds("", assume="one-sided"), screening.bounds("")
    assert (narrow.lower[0] >= wide.lower[0] - 1e-12, narrow.upper[0] <= wide.upper[0] + 1e-12) == (True, True)


@pytest.mark.parametrize(
    ("name", "assume", "message"),
    [
        ("noncompliance:1", "no-defiers", "does not hold of"),
        ("mediator", "exogenous", "not known of population 'mediator'"),
        ("confounder", "monotone", "does not hold of"),
        ("three-doses", "one-sided", "do not take what they are assigned"),
    ],
)
def test_what_does_not_hold_of_everyone_may_not(name, assume, message):
    with pytest.raises(AssumptionError, match=message):
        populations.get(name).bounds("", assume=assume, contrast=contrast_of(populations.get(name)))


# --- tables ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*populations.TRIAL_NAMES, *(f"{kind}:1" for kind in populations.TRIAL_KINDS)])
def test_the_tables_are_read_back_as_the_structure_with_the_sample_as_its_counts(name):
    population = populations.get(name)
    tables = [polars.DataFrame(columns) if columns else None for columns in population.tables(3_000, 2_000, seed=3)]
    found, study = pnsight.read_study(*tables, **population.reading), population.sample(3_000, 2_000, seed=3)
    assert (found.structure, found.schema) == (study.structure, study.schema) == (population.structure, study.schema)
    np.testing.assert_array_equal(found.profiles, study.profiles)
    np.testing.assert_allclose(found.counts, study.counts, rtol=0, atol=1e-9)  # censored rows count in parts
    for field in ("treatment", "outcome", "treated", "success"):
        assert getattr(found, field) == getattr(study, field)


def in_full(population):
    """The population with nobody censored."""
    return replace(population, design=replace(population.design, follow_up=None))


@pytest.mark.parametrize("name", [*populations.TRIAL_NAMES, *(f"{kind}:1" for kind in populations.TRIAL_KINDS)])
def test_sampled_frequencies_agree_with_the_oracle_law(name):
    """Everyone and each level of each covariate, every cell within five standard errors."""
    population = in_full(populations.get(name))
    open_ = np.full(8, -1)
    queries = np.array([open_, *(np.where(np.arange(8) == j, v, open_) for j in range(8) for v in (0, 1))], np.int32)
    study = population.sample(ROWS, ROWS, seed=5)
    assert not study.partly_observed
    cells = study.counts[:, : study.structure.n_cells]
    counts = lattice.sum_over(study.schema, queries, study.profiles, cells)
    law = population.law(queries)
    expected = study.structure.for_cells(study.structure.by_group(counts)) * law.cells
    error = np.sqrt(expected * (1 - law.cells))
    np.testing.assert_array_less(np.abs(counts - expected), 5 * error + 1e-6)
    mass = np.minimum(population.mixture(queries)[0], 1.0)
    for table in study.structure.tables:
        rows = counts[:, study.structure.columns_of(table)].sum(axis=1)
        np.testing.assert_array_less(np.abs(rows - ROWS * mass), 5 * np.sqrt(ROWS * mass * (1 - mass)) + 1e-6)


@pytest.mark.parametrize(("name", "assignment"), [("three-doses", (0.5, 0.2, 0.3)), ("untried-arm", 0.3)])
def test_the_experiment_assigns_arms_with_the_probabilities_asked_for(name, assignment):
    population = populations.get(name)
    table, _ = population.tables(ROWS, 1, seed=1, assignment=assignment)
    expected = np.array(assignment if isinstance(assignment, tuple) else (1 - assignment, assignment))
    tried = population.structure.description.tried
    rows = np.array([(table[population.design.treatment] == arm).sum() for arm in tried])
    assert rows.sum() == ROWS
    np.testing.assert_array_less(np.abs(rows - ROWS * expected), 5 * np.sqrt(ROWS * expected * (1 - expected)))


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        (0.5, "0.5, one probability; give one for each of the arms placebo, low, high"),
        ((0.5, 0.5), "0.5,0.5; give a probability above 0"),
        ((0.5, 0.5, 0.5), "together 1"),
        ((0.5, 0.5, 0.0), "above 0"),
        ((0.5, 0.5, float("nan")), "above 0"),
    ],
)
def test_probabilities_that_are_none_of_the_arms_are_refused(assignment, message):
    with pytest.raises(PopulationError, match=message):
        populations.get("three-doses").tables(5, 5, 1, assignment)


def test_a_population_without_a_registry_has_no_observational_table():
    population = populations.get("noncompliance-alone")
    experiment, registry = population.tables(50, 40, seed=1)
    assert list(experiment) == [*population.schema.names, "invited_to", "came_to", "healthy"]
    assert registry == {}
    assert population.sample(50, 40, seed=1).experiment_alone


def test_nobody_defies_and_nobody_comes_uninvited_where_that_is_so():
    table, _ = populations.get("noncompliance-alone").tables(5_000, 1, seed=2)
    assert not ((table["invited_to"] == "none") & (table["came_to"] == "screening")).any()
    assert (table["invited_to"] != table["came_to"]).mean() > 0.1


# --- censoring ------------------------------------------------------------------------------------------


def test_a_censored_row_is_the_whole_one_cut_short():
    population = populations.get("survival")
    for cut, whole in zip(population.tables(4_000, 3_000, 3), in_full(population).tables(4_000, 3_000, 3), strict=True):
        died = cut["died"] == 1
        assert whole["died"].all()
        np.testing.assert_array_equal(cut["days"][died], whole["days"][died])
        assert (cut["days"][~died] < whole["days"][~died]).all()
        assert 0.4 < (~died & (cut["days"] <= 365)).mean() < 0.6


def test_people_are_followed_as_long_as_the_design_says():
    """Uniform entry and exponential dropout: the share still followed at a time, by profile, is a product of two."""
    follow_up = FollowUp(100.0, 500.0, 300.0, (0.5, -0.2))
    for z in product((0, 1), repeat=2):
        profiles = np.repeat(np.array([z], dtype=np.int32), ROWS, axis=0)
        times = follow_up.draw(np.random.default_rng([4, *z]), profiles)
        rate = math.exp(0.5 * (2 * z[0] - 1) - 0.2 * (2 * z[1] - 1)) / 300
        for at in (50.0, 200.0, 400.0):
            expected = min(1.0, (500 - at) / 400) * math.exp(-rate * at)
            error = math.sqrt(expected * (1 - expected) / ROWS)
            assert abs((times > at).mean() - expected) < 5 * error


def test_the_law_is_found_in_censored_tables():
    population = populations.get("survival")
    study = population.sample(20_000, 20_000, seed=6)
    assert study.partly_observed
    found = pnsight.data.law.Law.from_counts(study.cell_rows, study.structure).cells[0]
    expected = population.law("").cells[0]
    rows = study.structure.for_cells(study.structure.by_group(study.cell_rows[:, : len(found)]))[0]
    np.testing.assert_array_less(np.abs(found - expected), 5 * np.sqrt(expected * (1 - expected) / rows))


# --- names ----------------------------------------------------------------------------------------------


def test_the_papers_populations_and_kinds_are_listed_apart():
    assert not set(populations.NAMES) & set(populations.TRIAL_NAMES)
    assert not set(populations.KINDS) & set(populations.TRIAL_KINDS)


@pytest.mark.parametrize("given", ["three-dose", "arm3:1"])
def test_an_unknown_name_lists_the_known_ones(given):
    with pytest.raises(PopulationError, match=r"three-doses.*arms3"):
        populations.get(given)


def test_an_unknown_kind_is_named_with_the_nearest_known_one():
    with pytest.raises(PopulationError, match=r"'arms4'; there are arms3.*Did you mean 'arms3'\?"):
        populations.random_trial("arms4", 1)
