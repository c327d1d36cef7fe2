"""Random populations with numbers: frozen, confounded, exact at single people, averaged within ranges.

Seeds 101-110 are for reporting only and appear in no test.
"""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from golden.regenerate import NUMERIC_POPULATIONS, frozen_numeric, numeric_fingerprints
from laws import p_xy, p_y_do_x, p_y_do_x0
from pnsight import simulation as populations
from pnsight.data.law import Law
from pnsight.errors import PopulationError, QueryError

NAMES = ("age", "bmi", "blood_pressure", "cholesterol", "creatinine", "pulse")
YES_NO = ("female", "smoker", "diabetes", "on_statins")
MEMBERS = [f"{kind}:{seed}" for kind in populations.NUMERIC_KINDS for seed in (1, 2)]


def people_of(population, rows=4_000, seed=5):
    return population.covariates.draw(np.random.default_rng(seed), rows)


def test_there_are_three_shapes_each_with_independent_and_dependent_covariates():
    assert set(populations.NUMERIC_KINDS) == {
        f"{shape}{suffix}" for shape in ("smooth", "stepped", "numeric-interaction") for suffix in ("", "-dependent")
    }


@pytest.mark.parametrize("name", frozen_numeric())
def test_population_is_frozen(name):
    """Regenerate on purpose only: python tests/golden/regenerate.py"""
    frozen = json.loads(NUMERIC_POPULATIONS.read_text(encoding="utf-8"))[name]
    found = numeric_fingerprints(populations.get(name))
    assert found.keys() == frozen.keys()
    for part, values in frozen.items():
        np.testing.assert_allclose(found[part], values, atol=1e-9, rtol=0, err_msg=part)


@pytest.mark.parametrize("name", MEMBERS)
def test_some_benefit_and_some_are_harmed_and_effects_change_sign(name):
    population = populations.get(name)
    types = population.types(people_of(population))
    np.testing.assert_allclose(types.sum(axis=1), 1)
    shares = types.mean(axis=0).reshape(2, 2, 2)
    assert min(shares[:, 0, 1].sum(), shares[:, 1, 0].sum()) > 0.02
    law = Law.from_types(types, population.structure)
    effect = p_y_do_x(law) - p_y_do_x0(law)
    assert effect.min() < -0.02 < 0.02 < effect.max()


@pytest.mark.parametrize("name", MEMBERS)
def test_hidden_causes_confound_people_with_the_same_covariates(name):
    population = populations.get(name)
    law = population.law_at(people_of(population))
    chosen_and_responded, chosen_and_not, _, _ = p_xy(law).T
    gap = p_y_do_x(law) - chosen_and_responded / (chosen_and_responded + chosen_and_not)
    assert np.abs(gap).mean() > 0.01


@pytest.mark.parametrize("name", MEMBERS)
def test_covariates_depend_on_each_other_exactly_when_the_kind_says_so(name):
    population = populations.get(name)
    distance = np.abs(np.corrcoef(people_of(population).T) - np.eye(10)).max()
    assert distance > 0.2 if "-dependent" in name else distance < 5 / np.sqrt(4_000)


def test_tables_hold_plain_numbers():
    experimental, observational = populations.get("smooth-dependent:1").tables(3_000, 2_000, seed=3)
    for table, rows in ((experimental, 3_000), (observational, 2_000)):
        assert tuple(table) == (*NAMES, *YES_NO, "x", "y")
        assert {len(column) for column in table.values()} == {rows}
        assert all(len(np.unique(table[name])) > 20 for name in NAMES)
        assert all(np.unique(table[name]).tolist() == [0, 1] for name in (*YES_NO, "x", "y"))
        assert table["age"].dtype.kind == "i"
        np.testing.assert_array_equal(table["bmi"], np.round(table["bmi"], 1))


def test_the_same_seed_draws_the_same_tables():
    population = populations.get("stepped:1")
    first, again, other = (population.tables(200, 200, seed=seed)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first["bmi"], again["bmi"])
    assert (first["bmi"] != other["bmi"]).any()


@pytest.mark.parametrize("name", ["smooth:1", "stepped-dependent:1", "numeric-interaction-dependent:2"])
@pytest.mark.parametrize(
    "ranges", [{}, {"age": (40, 65), "smoker": (1, 1)}, {"age": (52, 52)}, {"bmi": (30.0, 99.0), "pulse": (0, 70)}]
)
def test_laws_within_ranges_are_those_of_the_people_there(name, ranges):
    """A large draw of people, of whom those within are kept: its error is known, and five of them are allowed."""
    population = populations.get(name)
    people = people_of(population, 200_000)
    within = np.ones(len(people), dtype=bool)
    for covariate, (low, high) in ranges.items():
        column = people[:, population.covariates.names.index(covariate)]
        within &= (low <= column) & (column <= high)
    types, found = population.types(people[within]), population.types_within(ranges)
    share = within.mean()
    assert abs(found.mass - share) <= 5 * np.sqrt(share * (1 - share) / len(people)) + 1e-9
    allowed = 5 * np.hypot(types.std(axis=0) / np.sqrt(len(types)), found.error) + 1e-9
    assert (np.abs(found.mean - types.mean(axis=0)) <= allowed).all()
    assert found.error.max() < 1e-3
    assert found.mean.sum() == pytest.approx(1)


@pytest.mark.parametrize("name", ["smooth:1", "numeric-interaction-dependent:1"])
def test_a_single_person_is_exact(name):
    population = populations.get(name)
    for values in people_of(population, 5):
        single = dict(zip(population.covariates.names, zip(values, values, strict=True), strict=True))
        np.testing.assert_allclose(
            population.law_within(single).cells, population.law_at(values).cells, atol=1e-12, rtol=0
        )


def test_masses_of_ranges_add_up_to_one():
    population = populations.get("smooth-dependent:2")
    ages = [population.types_within({"age": (age, age + 19), "female": (1, 1)}) for age in range(0, 100, 20)]
    women = population.types_within({"female": (1, 1)})
    assert sum(each.mass for each in ages) == pytest.approx(women.mass, abs=1e-4)
    mean = sum(each.mass * each.mean for each in ages) / women.mass
    np.testing.assert_allclose(mean, women.mean, atol=1e-3)


def test_nobody_is_within_an_empty_range():
    found = populations.get("smooth:1").types_within({"age": (40.2, 40.8)})
    assert found.mass == 0
    assert np.isnan(found.mean).all()


def test_mistakes_are_named():
    population = populations.get("smooth:1")
    with pytest.raises(QueryError, match=re.escape("'agee'") + r".*Did you mean 'age'\?"):
        population.law_within({"agee": (1, 2)})
    with pytest.raises(PopulationError, match=r"'smoth'.*Did you mean 'smooth'"):
        populations.numeric_population("smoth", 1)
    with pytest.raises(PopulationError, match="numbers among its covariates"):
        population.bounds("")
    with pytest.raises(PopulationError, match="numbers among its covariates"):
        population.sample(10, 10, seed=1)


@pytest.mark.parametrize("name", MEMBERS)
def test_scores_are_weighted_sums_of_their_terms(name):
    population = populations.get(name)
    people = population.covariates.standardised(people_of(population, 500))
    for score in population.scores:
        terms = score.terms(people)
        weights = np.linalg.lstsq(terms, score(people), rcond=None)[0]
        np.testing.assert_allclose(terms @ weights, score(people), atol=1e-9)
    assert population.terms(people_of(population, 3)).shape == (3, 3 * terms.shape[1])
