"""Populations: the oracle sums out what is hidden, and samples come from the same law."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pnsight
from laws import p_xy, p_y_do_x, p_y_do_x0
from pnsight import simulation as populations
from pnsight.data.two_by_two import TWO_BY_TWO
from pnsight.errors import LimitError, PopulationError
from pnsight.queries import lattice
from pnsight.simulation import CovariateNetwork, StructuralPopulation, structural
from pnsight.simulation.structural import RESPONSES

POPULATIONS = [*populations.NAMES, *(f"{kind}:1" for kind in populations.KINDS)]
ROWS = 60_000


def small_population(p: float = 0.3) -> StructuralPopulation:
    """One observed covariate z, one hidden cause h; choice and responses by hand."""
    choice = np.array([[0.2, 0.9], [0.5, 0.4]])
    responses = np.array([[[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]], [[0.25] * 4, [0.0, 1.0, 0.0, 0.0]]])
    return StructuralPopulation(
        "by hand",
        CovariateNetwork.independent(("z",), np.array([p])),
        np.array([0.6]),
        lambda z, h: choice[z[:, 0]][:, h[:, 0]],
        lambda z, h: responses[z[:, 0]][:, h[:, 0]],
        (("Z", "X"), ("Z", "Y"), ("X", "Y")),
    )


# --- the oracle -----------------------------------------------------------------------------------------


def test_hidden_causes_are_summed_out():
    types = small_population().types(np.array([[0], [1]], dtype=np.int32))
    at_zero = 0.4 * np.outer([0.8, 0.2], [0.1, 0.2, 0.3, 0.4]) + 0.6 * np.outer([0.1, 0.9], [0.7, 0.1, 0.1, 0.1])
    at_one = 0.4 * np.outer([0.5, 0.5], [0.25] * 4) + 0.6 * np.outer([0.6, 0.4], [0, 1, 0, 0])
    np.testing.assert_allclose(types, [at_zero.ravel(), at_one.ravel()], atol=1e-15)


def test_response_types_run_over_choice_then_responses():
    assert [tuple(kind) for kind in TWO_BY_TWO.types] == [(x, *pair) for x in (0, 1) for pair in RESPONSES]


def test_a_query_mixes_its_profiles_by_their_mass():
    population = small_population()
    (mass,), (shares,) = population.mixture("")
    types = population.types(np.array([[0], [1]], dtype=np.int32))
    assert mass == pytest.approx(1)
    np.testing.assert_allclose(shares, 0.7 * types[0] + 0.3 * types[1])


def test_a_query_nobody_can_match_has_no_mass_and_no_answer():
    population = small_population(p=0.0)
    assert population.mixture("1")[0][0] == 0
    assert population.bounds("1").status.tolist() == ["undefined"]
    assert np.isnan(population.pns("1")[0])


def test_many_profiles_are_summed_in_parts_with_the_same_result(monkeypatch):
    population = populations.get("confounder")
    profiles = lattice.all_profiles(population.schema)[::97]
    at_once = population.types(profiles)
    monkeypatch.setattr(structural, "_STATES_AT_ONCE", 3 << len(population.hidden))
    np.testing.assert_allclose(population.types(profiles), at_once, atol=1e-14)
    assert population.types(profiles[:0]).shape == (0, 8)


@pytest.mark.parametrize("name", POPULATIONS)
def test_masses_and_types_are_probabilities(name):
    population = populations.get(name)
    profiles = lattice.all_profiles(population.schema)
    mass, types = population.covariates.mass(profiles), population.types(profiles)
    assert mass.sum() == pytest.approx(1)
    assert mass.min() > 0
    np.testing.assert_allclose(types.sum(axis=1), 1)
    assert types.min() >= 0


def test_too_many_profiles_are_refused_before_memory_runs_out():
    with pytest.raises(LimitError, match=r"'index:1' has 2,097,152 profiles"):
        populations.random_population("index", 1, covariates=21).law("")


def test_the_oracle_has_unlimited_support():
    answer = populations.get("mediator").bounds("")
    assert np.isinf(answer.support_experimental).all()
    assert np.isinf(answer.support_observational).all()


# --- samples --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", POPULATIONS)
def test_a_sample_is_its_rows_counted(name):
    population = populations.get(name)
    experiment, registry = (_frame(columns) for columns in population.tables(3_000, 2_000, seed=3))
    study = population.sample(3_000, 2_000, seed=3)
    counted = pnsight.read_study(experiment, registry, treatment="x", outcome="y")
    assert counted.schema == study.schema
    np.testing.assert_array_equal(counted.profiles, study.profiles)
    np.testing.assert_array_equal(counted.counts, study.counts)
    assert (study.experimental.sum(), study.observational.sum()) == (3_000, 2_000)
    assert (study.treatment, study.outcome) == ("x", "y")


def _frame(columns):
    import polars

    return polars.DataFrame(columns)


@pytest.mark.parametrize("name", POPULATIONS)
def test_sampled_frequencies_agree_with_the_oracle_law(name):
    """Everyone and each level of each covariate, every cell within five standard errors."""
    population = populations.get(name)
    open_ = np.full(10, -1)
    queries = np.array([open_, *(np.where(np.arange(10) == j, v, open_) for j in range(10) for v in (0, 1))], np.int32)
    study = population.sample(ROWS, ROWS, seed=5)
    counts = lattice.sum_over(study.schema, queries, study.profiles, study.counts)
    law, mass = population.law(queries), population.mixture(queries)[0]
    assert_frequencies(counts[:, 0], counts[:, :2].sum(axis=1), p_y_do_x(law))
    assert_frequencies(counts[:, 2], counts[:, 2:4].sum(axis=1), p_y_do_x0(law))
    for cell in range(len(TWO_BY_TWO.groups[-1].cells)):
        assert_frequencies(counts[:, 4 + cell], counts[:, 4:].sum(axis=1), p_xy(law)[:, cell])
    for table in (slice(0, 4), slice(4, 8)):
        assert_frequencies(counts[:, table].sum(axis=1), np.full(len(queries), ROWS), mass)
    assert_frequencies(counts[:, :2].sum(axis=1), counts[:, :4].sum(axis=1), np.full(len(queries), 0.5))


def assert_frequencies(successes: np.ndarray, trials: np.ndarray, probability: np.ndarray) -> None:
    sigma = np.sqrt(np.clip(probability * (1 - probability), 0, None) * trials)
    np.testing.assert_array_less(np.abs(successes - probability * trials), 5 * sigma + 1e-6)


@pytest.mark.parametrize("name", ["mediator", "index-dependent:1", "tree-dependent:1"])
def test_profiles_are_drawn_by_their_mass(name):
    """Pearson's statistic over profiles that expect ten rows or more, the rest pooled."""
    population = populations.get(name)
    profiles = lattice.all_profiles(population.schema)
    expected = ROWS * population.covariates.mass(profiles)
    drawn = population.covariates.draw(np.random.default_rng(8), ROWS)
    found = np.bincount(drawn @ (1 << np.arange(9, -1, -1)), minlength=1024).astype(float)
    common = expected >= 10
    expected = np.append(expected[common], expected[~common].sum())
    found = np.append(found[common], found[~common].sum())
    freedom = len(expected) - 1
    statistic = ((found - expected) ** 2 / expected).sum()
    assert abs(statistic - freedom) < 5 * np.sqrt(2 * freedom)


@pytest.mark.parametrize("assignment", [0.2, 0.5, 0.9])
def test_the_experiment_assigns_treatment_with_the_probability_asked_for(assignment):
    experiment, _ = populations.get("confounder").tables(ROWS, 1, seed=1, assignment=assignment)
    assert_frequencies(np.array([experiment["x"].sum()]), np.array([ROWS]), np.array([assignment]))


def test_the_same_seed_gives_the_same_rows_and_another_seed_others():
    population = populations.get("mediator")
    first, again, other = (population.tables(500, 400, seed=seed) for seed in (1, 1, 2))
    for table, repeated, different in zip(first, again, other, strict=True):
        assert all(np.array_equal(table[name], repeated[name]) for name in table)
        assert not all(np.array_equal(table[name], different[name]) for name in table)


def test_the_size_of_one_table_does_not_change_the_rows_of_the_other():
    population = populations.get("mediator")
    experiment, registry = population.tables(300, 200, seed=4)
    np.testing.assert_array_equal(population.tables(300, 999, seed=4)[0]["y"], experiment["y"])
    np.testing.assert_array_equal(population.tables(999, 200, seed=4)[1]["y"], registry["y"])


def test_the_two_tables_hold_different_people():
    experiment, registry = populations.get("mediator").tables(500, 500, seed=1)
    assert not all(np.array_equal(experiment[name], registry[name]) for name in experiment)


def test_tables_have_the_covariates_then_treatment_and_outcome_as_zeros_and_ones():
    for table in populations.get("direct").tables(50, 40, seed=1):
        assert list(table) == [*(f"z{i}" for i in range(1, 11)), "x", "y"]
        assert all(set(np.unique(column)) <= {0, 1} for column in table.values())


@pytest.mark.parametrize(("experimental", "observational"), [(0, 5), (5, 0), (-1, 5)])
def test_a_table_without_rows_cannot_be_sampled(experimental, observational):
    for draw in (populations.get("direct").sample, populations.get("direct").tables):
        with pytest.raises(PopulationError, match=f"cannot sample {experimental} experimental and {observational}"):
            draw(experimental, observational, 1)


@pytest.mark.parametrize("assignment", [0.0, 1.0, -0.1, 1.5, float("nan")])
def test_an_experiment_needs_both_arms_possible(assignment):
    with pytest.raises(PopulationError, match=f"assignment is {assignment}"):
        populations.get("direct").sample(5, 5, 1, assignment=assignment)


# --- covariate networks ---------------------------------------------------------------------------------


@given(seed=st.integers(0, 1000), d=st.integers(1, 6))
@settings(max_examples=30)
def test_the_mass_of_a_network_is_the_product_of_its_conditionals(seed, d):
    rng = np.random.default_rng(seed)
    parents = tuple(tuple(range(max(0, j - 2), j)) for j in range(d))
    tables = tuple(rng.uniform(size=(2,) * len(p)) for p in parents)
    network = CovariateNetwork(tuple(f"z{j}" for j in range(d)), parents, tables)
    profiles = np.array(list(np.ndindex(*(2,) * d)), dtype=np.int32)
    by_hand = [
        np.prod([t[tuple(z[list(p)])] if z[j] else 1 - t[tuple(z[list(p)])] for j, (p, t) in _each(parents, tables)])
        for z in profiles
    ]
    np.testing.assert_allclose(network.mass(profiles), by_hand)
    assert network.mass(profiles).sum() == pytest.approx(1)


def _each(parents, tables):
    return list(enumerate(zip(parents, tables, strict=True)))


@pytest.mark.parametrize("d", [62, 63, 64, 70])
def test_samples_of_many_covariates_are_counted(d):
    """Around the number of profiles that still fits a machine integer."""
    network = CovariateNetwork.independent(tuple(f"z{j}" for j in range(d)), np.full(d, 0.5))
    constant = small_population()
    wide = replace(
        constant,
        covariates=network,
        choice=partial(_constant, 0.5),
        responses=lambda z, h: np.full((len(z), len(h), 4), 0.25),
    )
    study = wide.sample(50, 60, seed=1)
    assert study.profiles.shape[1] == d
    assert (study.experimental.sum(), study.observational.sum()) == (50, 60)
    assert len(np.unique(study.profiles, axis=0)) == len(study.profiles) == 110


def _constant(value, z, h):
    return np.full((len(z), len(h)), value)
