"""The covariate distribution: over profiles, smooth where that predicts held-out rows better."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pnsight.data.schema import OPEN, Covariate, Schema
from pnsight.models.response_types.config import LatentClassConfig
from pnsight.models.response_types.latent_classes import (
    CovariateDistribution,
    LatentClasses,
    _indicators,
    fit_covariate_distributions,
)
from pnsight.queries import lattice
from strategies import codes_of

ROUNDING = 1e-12


def schema_of(*shape) -> Schema:
    return Schema(tuple(Covariate(f"c{j}", tuple(map(str, range(levels)))) for j, levels in enumerate(shape)))


@st.composite
def latent_classes(draw):
    """A few classes of up to three covariates with one to four levels, and their schema."""
    schema = schema_of(*draw(st.lists(st.integers(1, 4), max_size=3)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return schema, random_classes(schema.shape, draw(st.integers(1, 4)), rng)


def random_classes(shape, classes, rng) -> LatentClasses:
    levels = [rng.dirichlet(np.ones(size), size=classes) for size in shape]
    return LatentClasses(
        rng.dirichlet(np.full(classes, 9.0)), np.concatenate([np.empty((classes, 0)), *levels], axis=1), tuple(shape)
    )


def counted(schema, mass, rows, seed) -> np.ndarray:
    """Rows by profile of a sample, profiles in the order of `all_profiles`."""
    return np.random.default_rng(seed).multinomial(rows, mass / mass.sum()).astype(float)


def fitted(schema, *tables, seed=0, config=LatentClassConfig()) -> list[CovariateDistribution]:
    return fit_covariate_distributions(
        schema, lattice.all_profiles(schema), tables, np.random.default_rng(seed), config
    )


def whole_law(law, schema) -> np.ndarray:
    """P(z) of every profile."""
    return law.empirical_weight * law.empirical + (1 - law.empirical_weight) * law.smooth.mass(
        lattice.all_profiles(schema)
    )


def independent(*chances) -> np.ndarray:
    """P(z) of binary covariates that do not depend on each other, in the order of `all_profiles`."""
    mass = np.ones(1)
    for chance in chances:
        mass = np.outer(mass, [1 - chance, chance]).ravel()
    return mass


# --- latent classes -------------------------------------------------------------------------------------


@given(found=latent_classes())
def test_all_profiles_together_have_mass_one(found):
    schema, classes = found
    mass = classes.mass(lattice.all_profiles(schema))
    assert (mass > 0).all()
    assert mass.sum() == pytest.approx(1, abs=ROUNDING)


@given(found=latent_classes(), data=st.data())
def test_the_mass_of_a_query_is_that_of_the_profiles_it_covers(found, data):
    schema, classes = found
    queries, profiles = data.draw(codes_of(schema)), lattice.all_profiles(schema)
    mass = classes.mass(profiles)
    for query, total in zip(queries, classes.mass(queries), strict=True):
        inside = ((query == OPEN) | (profiles == query)).all(axis=1)
        assert total == pytest.approx(mass[inside].sum(), abs=ROUNDING)


@given(found=latent_classes(), data=st.data())
def test_drawn_categories_are_where_the_uniform_numbers_fall(found, data):
    schema, classes = found
    (query,) = data.draw(codes_of(schema, most=1).filter(len))
    uniform = np.random.default_rng(0).random((20, 1 + len(schema.shape)))
    responsibilities, _ = classes.responsibilities(_indicators(schema.shape, query[None]))
    for number, drawn in zip(uniform, classes.draw(query, uniform), strict=True):
        member = int((number[0] >= np.cumsum(responsibilities[0])[:-1]).sum())
        starts = np.cumsum([0, *schema.shape])
        for j, (start, stop) in enumerate(pairwise(starts)):
            edges = np.cumsum(classes.category_probabilities[member, start:stop])[:-1]
            assert drawn[j] == (query[j] if query[j] != OPEN else (number[1 + j] >= edges).sum())


def test_a_profile_of_very_many_covariates_has_some_mass_and_is_drawn_from_the_classes_it_may_belong_to():
    """Its probability, 1e-330 or so in each class, is less than a number can be."""
    shape = (2,) * 1100
    levels = np.tile([[0.5, 0.5], [0.45, 0.55]], 1100)
    classes = LatentClasses(np.array([0.5, 0.5]), levels, shape)
    query = np.ones(1100, np.int32)
    query[0] = OPEN
    assert (classes.mass(query[None]) > 0).all()
    responsibilities, log_mass = classes.responsibilities(np.tile([0.0, 1.0], 1100)[None])
    log_each = np.log(0.5) + 1100 * np.log([0.5, 0.55])
    assert log_mass[0] == pytest.approx(np.logaddexp(*log_each))
    np.testing.assert_allclose(responsibilities[0], np.exp(log_each - log_mass[0]))
    drawn = classes.draw(query, np.random.default_rng(0).random((50, 1101)))
    assert (drawn[:, 1:] == 1).all()
    assert set(drawn[:, 0]) == {0, 1}


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_where_all_laws_are_alike_the_simplest_is_chosen(shape):
    schema = schema_of(*shape)
    for seed in range(5):
        for law in fitted(schema, np.array([700.0]), np.array([1100.0]), seed=seed):
            assert (len(law.smooth.class_probabilities), law.empirical_weight, law.pooled) == (1, 0.0, False)


@given(seed=st.integers(0, 2**32 - 1))
def test_within_one_class_covariates_are_independent(seed):
    schema = schema_of(2, 3, 4)
    classes = random_classes(schema.shape, 1, np.random.default_rng(seed))
    profiles = lattice.all_profiles(schema)
    product = np.ones(len(profiles))
    for j in range(3):
        only = np.full_like(profiles, OPEN)
        only[:, j] = profiles[:, j]
        product *= classes.mass(only)
    np.testing.assert_allclose(classes.mass(profiles), product, atol=ROUNDING)


@pytest.mark.parametrize("query", [(OPEN, OPEN, OPEN), (1, OPEN, OPEN), (OPEN, 2, OPEN), (0, OPEN, 1), (1, 2, 0)])
def test_draws_keep_the_fixed_levels_and_follow_the_conditional_law(query):
    schema, rng, draws = schema_of(2, 3, 4), np.random.default_rng(5), 20_000
    classes, query = random_classes(schema.shape, 3, rng), np.array(query, dtype=np.int32)
    drawn = classes.draw(query, rng.random((draws, 4)))
    fixed = query != OPEN
    assert (drawn[:, fixed] == query[fixed]).all()
    profiles = lattice.all_profiles(schema)
    covered = profiles[((query == OPEN) | (profiles == query)).all(axis=1)]
    expected = classes.mass(covered) / classes.mass(covered).sum()
    found = np.array([(drawn == profile).all(axis=1).mean() for profile in covered])
    assert (np.abs(found - expected) <= 5 * np.sqrt(expected * (1 - expected) / draws)).all()


def test_the_same_numbers_draw_the_same_people():
    classes, uniform = random_classes((2, 3), 2, np.random.default_rng(0)), np.random.default_rng(1).random((50, 3))
    query = np.array([OPEN, OPEN], dtype=np.int32)
    np.testing.assert_array_equal(classes.draw(query, uniform), classes.draw(query, uniform))


# --- fitting --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (1,), (2, 2), (3, 4), (2, 1, 5)])
def test_a_fitted_law_is_a_distribution(shape):
    schema = schema_of(*shape)
    rng = np.random.default_rng(1)
    tables = [rng.multinomial(300, rng.dirichlet(np.ones(schema.n_profiles))).astype(float) for _ in range(2)]
    for law in fitted(schema, *tables):
        assert 0 <= law.empirical_weight < 1
        assert law.empirical.sum() == pytest.approx(1)
        assert whole_law(law, schema).sum() == pytest.approx(1)


def test_without_covariates_everyone_has_the_one_profile():
    (law,) = fitted(Schema(), np.array([7.0]))
    nobody_described = np.zeros((1, 0), dtype=np.int32)
    assert law.smooth.mass(nobody_described) == pytest.approx([1])
    assert law.smooth.draw(nobody_described[0], np.random.default_rng(0).random((5, 1))).shape == (5, 0)


def test_one_class_has_the_marginal_shares_of_the_counts():
    schema = schema_of(2, 3)
    rows = np.array([10.0, 20, 30, 40, 50, 60])
    (law,) = fitted(schema, rows, config=LatentClassConfig(classes=(1,)))
    # Half a row is added to every level, so that none is impossible.
    expected = [60.5 / 211, 150.5 / 211, 50.5 / 211.5, 70.5 / 211.5, 90.5 / 211.5]
    np.testing.assert_allclose(law.smooth.category_probabilities[0], expected)
    assert law.smooth.class_probabilities == pytest.approx([1])
    assert list(law.scores) == [1]


def test_where_covariates_are_independent_the_fit_is_nearer_the_truth_than_the_counts():
    schema = schema_of(*(2,) * 7)
    mass = independent(0.2, 0.5, 0.4, 0.7, 0.5, 0.3, 0.6)
    (law,) = fitted(schema, counted(schema, mass, 1000, seed=2))
    assert len(law.smooth.class_probabilities) == 1
    assert np.abs(whole_law(law, schema) - mass).sum() < np.abs(law.empirical - mass).sum() / 2


@pytest.mark.parametrize("seed", range(3))
def test_dependent_covariates_are_not_taken_for_independent(seed):
    """Two covariates that nearly always agree, beside one of three levels that has nothing to do with them."""
    schema = schema_of(2, 2, 3)
    profiles = lattice.all_profiles(schema)
    agree = profiles[:, 0] == profiles[:, 1]
    mass = np.where(agree, 0.98, 0.02) / 6
    (law,) = fitted(schema, counted(schema, mass, 2000, seed))
    assert len(law.smooth.class_probabilities) > 1 or law.empirical_weight > 0.9
    # Independence would put one half on profiles that disagree; the truth is .02, known to a standard error of .003.
    assert whole_law(law, schema)[~agree].sum() < 0.05


def test_levels_by_the_dozen_are_learned():
    schema = schema_of(12, 2)
    mass = np.outer(np.arange(1, 13) / 78, [0.3, 0.7]).ravel()
    (law,) = fitted(schema, counted(schema, mass, 5000, seed=4))
    # Total variation of a multinomial of 24 cells is about sqrt(24 / (2 pi 5000)) = .028 as counted.
    assert np.abs(whole_law(law, schema) - mass).sum() / 2 < 0.03


def test_a_level_that_nobody_has_is_rare_but_not_impossible():
    schema = schema_of(3)
    (law,) = fitted(schema, np.array([50.0, 50, 0]))
    assert 0 < law.smooth.mass(np.array([[2]], dtype=np.int32))[0] < 0.02


def test_only_profiles_with_rows_need_to_be_listed():
    schema = schema_of(*(2,) * 40)
    rng = np.random.default_rng(0)
    profiles = np.unique(rng.integers(0, 2, size=(60, 40), dtype=np.int32), axis=0)
    (law,) = fit_covariate_distributions(schema, profiles, [np.ones(len(profiles))], rng)
    everyone = np.full((1, 40), OPEN, dtype=np.int32)
    assert law.smooth.mass(everyone) == pytest.approx([1])


# --- the other table's rows -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_a_small_table_is_pooled_with_a_large_one_of_the_same_people(seed):
    schema = schema_of(*(2,) * 5)
    mass = independent(0.2, 0.5, 0.4, 0.7, 0.3)
    small, large = counted(schema, mass, 200, seed), counted(schema, mass, 5000, seed + 100)
    law, _ = fitted(schema, small, large)
    assert law.pooled
    np.testing.assert_allclose(law.empirical, (small + large) / 5200)


@pytest.mark.parametrize("seed", range(3))
def test_tables_of_other_people_are_kept_apart(seed):
    schema = schema_of(3, 2)
    younger, older = (np.outer(ages, [0.5, 0.5]).ravel() for ages in ([0.7, 0.2, 0.1], [0.2, 0.3, 0.5]))
    tables = [counted(schema, mass, 1000, seed + k) for k, mass in enumerate((younger, older))]
    for law, rows in zip(fitted(schema, *tables), tables, strict=True):
        assert not law.pooled
        np.testing.assert_allclose(law.empirical, rows / 1000)


def test_a_single_table_has_no_other_to_pool_with():
    (law,) = fitted(schema_of(2, 2), np.array([10.0, 20, 30, 40]))
    assert not law.pooled


def test_the_evidence_names_every_number_of_classes_and_the_chosen_one_is_the_best():
    schema = schema_of(2, 2, 2)
    (law,) = fitted(schema, counted(schema, independent(0.3, 0.5, 0.6), 500, seed=0))
    assert list(law.scores) == [1, 2, 4, 8, 16, 32]
    assert max(law.scores, key=law.scores.get) == len(law.smooth.class_probabilities)


def test_the_same_generator_gives_the_same_law():
    schema = schema_of(2, 3)
    rows = counted(schema, np.arange(1.0, 7), 400, seed=0)
    (one,), (other,) = fitted(schema, rows, seed=3), fitted(schema, rows, seed=3)
    np.testing.assert_array_equal(whole_law(one, schema), whole_law(other, schema))
