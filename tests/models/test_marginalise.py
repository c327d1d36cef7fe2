"""Marginalisation: the types of a query are the mean over the people it covers, enumerated or sampled."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pnsight.data.schema import OPEN, Covariate, Schema
from pnsight.models.mlp_numpy import mean_probabilities
from pnsight.models.response_types.enumerated_profiles import EnumeratedProfiles
from pnsight.models.response_types.latent_classes import LatentClasses
from pnsight.models.response_types.sampled_profiles import SampledProfiles
from pnsight.queries import lattice

ROUNDING = 1e-12
SCHEMA = Schema(
    tuple(Covariate(f"c{j}", tuple(f"level {k}" for k in range(levels))) for j, levels in enumerate((2, 3, 1, 4)))
)
EVERY = lattice.all_profiles(SCHEMA)
QUERIES = lattice.all_queries(SCHEMA)
EVERYONE = np.full((1, 4), OPEN, dtype=np.int32)
EXACT = (QUERIES != OPEN).all(axis=1)
PEOPLE = {"first table": (1.0, 0.0), "second table": (0.0, 1.0), "both": (0.3, 0.7)}

people = pytest.mark.parametrize("weights", [np.array(weights) for weights in PEOPLE.values()], ids=list(PEOPLE))


def covers(query) -> np.ndarray:
    return ((query == OPEN) | (query == EVERY)).all(axis=1)


def larger_half(types: np.ndarray) -> np.ndarray:
    """Not linear in the types: the larger share of two halves, and its square."""
    half = np.maximum(types[:, :4].sum(axis=1), types[:, 4:].sum(axis=1))
    return np.stack([half, half**2], axis=1)


# --- all profiles listed --------------------------------------------------------------------------------


def listed(tables=2, seed=0) -> EnumeratedProfiles:
    rng = np.random.default_rng(seed)
    types = rng.dirichlet(np.ones(8), size=len(EVERY))
    masses = rng.dirichlet(np.ones(len(EVERY)), size=tables)
    errors = rng.random((len(EVERY), 3))
    return EnumeratedProfiles(SCHEMA, types.astype(np.float32), masses, errors.astype(np.float32))


def by_hand(mixing, query, weights, values) -> np.ndarray:
    """The weighted mean over the profiles of one query, one after the other."""
    total, mass = np.zeros(values.shape[1]), 0.0
    for place in np.flatnonzero(covers(query)):
        share = sum(float(weight) * float(table[place]) for weight, table in zip(weights, mixing.masses, strict=True))
        total += share * values[place].astype(float)
        mass += share
    return total / mass


@people
def test_listed_profiles_give_every_query_the_weighted_mean_of_its_profiles(weights):
    mixing = listed()
    types = mixing.types(QUERIES, weights)
    assert types.shape == (len(QUERIES), 8)
    expected = [by_hand(mixing, query, weights, mixing.profile_types) for query in QUERIES]
    # Types are stored in single precision and add up to one again here: they are off by its rounding.
    np.testing.assert_allclose(types, expected, atol=1e-6)
    np.testing.assert_allclose(types.sum(axis=1), 1, atol=ROUNDING)


@people
def test_the_error_of_a_query_is_the_mean_of_its_profiles_by_their_people(weights):
    mixing = listed()
    expected = [by_hand(mixing, query, weights, mixing.profile_errors) for query in QUERIES]
    np.testing.assert_allclose(mixing.errors(QUERIES, weights), expected, atol=1e-12)


@people
def test_a_query_gets_the_same_answer_alone_as_among_others(weights):
    mixing = listed()
    together = mixing.types(QUERIES, weights)
    for place, query in enumerate(QUERIES):
        np.testing.assert_allclose(mixing.types(query[None], weights)[0], together[place], atol=ROUNDING)
    np.testing.assert_allclose(mixing.types(QUERIES[EXACT], weights), together[EXACT], atol=ROUNDING)


def test_single_profiles_have_the_types_that_are_stored():
    mixing = listed()
    np.testing.assert_array_equal(mixing.profile_types_at(EVERY[::-1]), mixing.profile_types[::-1])


def test_values_remembered_of_one_population_are_not_given_for_another():
    mixing = listed()
    for weights in map(np.array, PEOPLE.values()):
        afresh = listed().types(QUERIES, weights)
        for _ in range(2):  # the second time from memory
            np.testing.assert_array_equal(mixing.types(QUERIES, weights), afresh)


def test_a_copy_remembers_nothing_of_what_it_was_copied_from():
    mixing, weights = listed(), np.array([0.5, 0.5])
    before = mixing.types(QUERIES, weights)
    for again in (copy.deepcopy(mixing), pickle.loads(pickle.dumps(mixing)), replace(mixing)):
        assert vars(again).keys() == {field.name for field in fields(mixing)}
        np.testing.assert_array_equal(again.types(QUERIES, weights), before)


@given(seed=st.integers(0, 2**32 - 1), weight=st.floats(0, 1))
def test_the_answer_for_a_query_lies_between_those_for_its_parts(seed, weight):
    types = listed(seed=seed).types(QUERIES, np.array([weight, 1 - weight]))
    answers = dict(zip(map(tuple, QUERIES.tolist()), types, strict=True))
    for (c0, c1, c2, c3), whole in answers.items():
        if c1 == OPEN:
            parts = [answers[c0, level, c2, c3] for level in range(3)]
            assert (whole >= np.min(parts, axis=0) - ROUNDING).all()
            assert (whole <= np.max(parts, axis=0) + ROUNDING).all()


def test_without_covariates_there_is_one_answer():
    errors = np.array([[0.1, 0.2, 0.3]], np.float32)
    mixing = EnumeratedProfiles(Schema(), np.full((1, 8), 1 / 8, np.float32), np.ones((2, 1)), errors)
    nobody = np.zeros((3, 0), np.int32)
    np.testing.assert_allclose(mixing.types(nobody, np.array([0.0, 1.0])), np.full((3, 8), 1 / 8))
    np.testing.assert_allclose(mixing.errors(nobody, np.array([0.0, 1.0])), errors.repeat(3, axis=0))


def test_some_tables_and_groups_can_be_taken_out():
    mixing = listed()
    alone = mixing.only([0], [0, 1])
    np.testing.assert_allclose(alone.types(QUERIES, np.ones(1)), mixing.types(QUERIES, np.array([1.0, 0.0])))
    errors = mixing.errors(QUERIES, np.array([1.0, 0.0]))
    np.testing.assert_allclose(alone.errors(QUERIES, np.ones(1)), errors[:, :2])


# --- profiles counted and drawn -------------------------------------------------------------------------


def random_network(columns, rng, hidden=6):
    sizes = (columns, hidden, hidden, 8)
    return tuple(
        (rng.normal(size=(rows, inputs)).astype(np.float32) / np.sqrt(inputs), rng.normal(size=rows).astype(np.float32))
        for inputs, rows in pairwise(sizes)
    )


def random_classes(rng, classes) -> LatentClasses:
    levels = [rng.dirichlet(np.full(size, 2.0), size=classes) for size in SCHEMA.shape]
    return LatentClasses(rng.dirichlet(np.ones(classes)), np.concatenate(levels, axis=1), SCHEMA.shape)


def counted(networks=2, draws=1024, seed=0, own_rows=False, table_rows=(0.0, 0.0)) -> SampledProfiles:
    """Half of the profiles counted, in so few rows that those drawn stand for all the others.

    With own rows, the types of counted profiles are halfway between the networks' and what the rows show.
    """
    rng = np.random.default_rng(seed)
    inputs = SCHEMA.effect_coding(EVERY)
    trained = [random_network(inputs.shape[1], rng) for _ in range(networks)]
    place = np.sort(rng.permutation(len(EVERY))[: len(EVERY) // 2])
    types = mean_probabilities(trained, inputs[place])
    if own_rows:
        types = (types + rng.dirichlet(np.ones(8), size=len(place))) / 2
    return SampledProfiles(
        SCHEMA,
        EVERY[place],
        types.astype(np.float32),
        rng.dirichlet(np.ones(len(place)), size=2).astype(np.float32),
        np.array([0.4, 0.7]),
        np.array(table_rows),
        [random_classes(rng, 1), random_classes(rng, 3)],
        trained,
        np.array([[0.1, 0.2, 0.3], [0.2, 0.3, 0.5]]),
        rng.random((draws, 1 + len(SCHEMA.shape))),
    )


def place_of(mixing) -> np.ndarray:
    return np.ravel_multi_index(tuple(mixing.profiles.T), SCHEMA.shape)


def as_listed(mixing) -> EnumeratedProfiles:
    """The same networks, classes and shares with every profile listed."""
    place, errors = place_of(mixing), np.repeat(mixing.group_errors[1:], len(EVERY), axis=0)
    types = mean_probabilities(mixing.networks, SCHEMA.effect_coding(EVERY))
    types[place] = mixing.profile_types
    mass = (1 - mixing.empirical_weight)[:, None] * np.stack([classes.mass(EVERY) for classes in mixing.smooth])
    mass[:, place] += mixing.empirical_weight[:, None] * mixing.empirical
    return EnumeratedProfiles(SCHEMA, types.astype(np.float32), mass, errors.astype(np.float32))


def monte_carlo_error(mixing, query) -> np.ndarray:
    """Standard error of the types of a query, shape (8,): the larger of the two tables'.

    The standard deviation is that over the profiles that the query covers, by enumeration. The share that is drawn is
    at most 1.
    """
    inside = covers(query)
    values = as_listed(mixing).profile_types[inside].astype(float)
    errors = []
    for classes in mixing.smooth:
        mass = classes.mass(EVERY[inside])
        mass /= mass.sum()
        spread = np.sqrt(np.maximum(mass @ values**2 - (mass @ values) ** 2, 0))
        errors.append(spread / np.sqrt(len(mixing.sobol_points)))
    return np.max(errors, axis=0)


@people
@pytest.mark.parametrize("own_rows", [False, True])
def test_counted_profiles_answer_open_queries_as_listed_ones_do(own_rows, weights):
    """Up to five standard errors of the draws, and the rounding of what is stored in single precision."""
    mixing = counted(draws=4096, own_rows=own_rows)
    expected, found = as_listed(mixing).types(QUERIES, weights), mixing.types(QUERIES, weights)
    for place in np.flatnonzero(~EXACT):
        allowed = 5 * monte_carlo_error(mixing, QUERIES[place]) + 1e-6
        assert (np.abs(found[place] - expected[place]) <= allowed).all()


@people
def test_the_more_rows_a_query_has_the_more_its_counted_profiles_stand_for(weights):
    """With none it is those counted and those drawn by their weights; from a thousand on those counted alone."""
    apart = []
    for rows in (0.0, 30.0, 300.0, 3000.0):
        mixing = counted(own_rows=True, table_rows=(rows, rows))
        sure = replace(mixing, empirical_weight=np.ones(2))
        apart.append(np.abs(mixing.types(EVERYONE, weights) - sure.types(EVERYONE, weights)).sum())
    assert all(more < less for less, more in pairwise(apart))
    assert apart[-1] < 1e-9


@people
def test_how_people_are_shared_out_does_not_depend_on_what_stands_for_them(weights):
    mixing = counted(own_rows=True, table_rows=(500.0, 2000.0))
    np.testing.assert_allclose(mixing.shares(QUERIES, weights), as_listed(mixing).shares(QUERIES, weights), atol=1e-6)


def test_an_exact_query_with_rows_is_answered_by_its_own_types_and_else_by_the_networks():
    mixing = counted(own_rows=True)
    types, place = mixing.types(EVERY, np.array([0.3, 0.7])), place_of(mixing)
    bare = np.setdiff1d(np.arange(len(EVERY)), place)
    own = mixing.profile_types.astype(float)
    np.testing.assert_allclose(types[place], own / own.sum(axis=1, keepdims=True), atol=ROUNDING)
    # One row or many at a time: the sums of a layer may be taken in another order, in single precision.
    networks = mean_probabilities(mixing.networks, SCHEMA.effect_coding(EVERY))
    np.testing.assert_allclose(types[bare], networks[bare], atol=1e-6)
    np.testing.assert_allclose(mixing.profile_types_at(EVERY), types, atol=1e-6)


def test_where_everyone_is_counted_an_open_query_is_the_mean_of_its_profiles_own_types():
    mixing = counted(own_rows=True)
    sure = replace(mixing, empirical_weight=np.array([1.0, 1.0]))
    for query in QUERIES[~EXACT][::5]:
        inside = np.flatnonzero(((query == OPEN) | (query == sure.profiles)).all(axis=1))
        if len(inside):
            found = sure.types(query[None], np.array([0.0, 1.0]))
            weight = sure.empirical[1, inside].astype(float)
            np.testing.assert_allclose(found[0], weight @ sure.profile_types[inside] / weight.sum(), atol=1e-6)


@people
def test_the_error_of_a_query_goes_by_the_share_of_its_people_who_were_counted(weights):
    mixing = counted()
    found, known = mixing.errors(EVERY, weights), np.zeros(len(EVERY))
    share = (weights * mixing.empirical_weight) @ mixing.empirical.astype(float)
    known[place_of(mixing)] = share / as_listed(mixing).shares(EVERY, weights)[place_of(mixing)]
    of_counted, of_others = mixing.group_errors
    np.testing.assert_allclose(found, known[:, None] * of_counted + (1 - known[:, None]) * of_others, atol=1e-6)


@people
def test_answers_are_distributions(weights):
    types = counted(own_rows=True, table_rows=(100.0, 200.0)).types(QUERIES, weights)
    assert (types >= 0).all()
    np.testing.assert_allclose(types.sum(axis=1), 1, atol=ROUNDING)


def test_counted_profiles_of_one_table_can_be_taken_out():
    mixing = counted(own_rows=True, table_rows=(500.0, 2000.0))
    alone, first = mixing.only([0], [0, 1]), np.array([1.0, 0.0])
    np.testing.assert_allclose(alone.types(QUERIES, np.ones(1)), mixing.types(QUERIES, first))
    np.testing.assert_allclose(alone.shares(QUERIES, np.ones(1)), mixing.shares(QUERIES, first))
    np.testing.assert_allclose(alone.errors(QUERIES, np.ones(1)), mixing.errors(QUERIES, first)[:, :2])


# --- stored ---------------------------------------------------------------------------------------------


def assert_survives(mixing, again, queries=QUERIES):
    weights = np.array([0.3, 0.7])
    np.testing.assert_array_equal(mixing.types(queries, weights), again.types(queries, weights))
    np.testing.assert_array_equal(mixing.errors(queries, weights), again.errors(queries, weights))
    np.testing.assert_array_equal(mixing.shares(queries, weights), again.shares(queries, weights))


def test_listed_profiles_survive_as_arrays():
    mixing = listed()
    assert_survives(mixing, EnumeratedProfiles.from_arrays(SCHEMA, EVERY, mixing.arrays()))


def test_counted_profiles_survive_as_arrays():
    """More than ten networks, so that the order of their numbers is not that of the words."""
    mixing = counted(networks=11, own_rows=True, table_rows=(500.0, 2000.0))
    arrays = dict(reversed(mixing.arrays().items()))
    again = SampledProfiles.from_arrays(SCHEMA, mixing.profiles, arrays)
    assert len(again.networks) == 11
    assert_survives(mixing, again, QUERIES[::9])


@pytest.mark.parametrize("name", ["profile_types", "masses", "profile_errors"])
def test_arrays_of_other_profiles_are_refused(name):
    arrays = dict(listed().arrays())
    arrays[name] = arrays[name][..., :-1] if name == "masses" else arrays[name][:-1]
    with pytest.raises(ValueError, match="do not fit covariates of 24"):
        EnumeratedProfiles.from_arrays(SCHEMA, EVERY, arrays)


# --- means of what is made of types -----------------------------------------------------------------------


@people
def test_means_of_listed_profiles_are_weighted_means_of_what_each_profile_gives(weights):
    mixing = listed()
    means = mixing.means(QUERIES, weights, larger_half)
    own = larger_half(mixing.profile_types.astype(float))
    expected = [by_hand(mixing, query, weights, own) for query in QUERIES]
    np.testing.assert_allclose(means, expected, atol=1e-6)


def test_means_where_everyone_is_counted_are_those_of_the_profiles_with_rows():
    mixing = counted(own_rows=True)
    sure = replace(mixing, empirical_weight=np.array([1.0, 1.0]))
    for query in QUERIES[::7]:
        inside = np.flatnonzero(((query == OPEN) | (query == sure.profiles)).all(axis=1))
        if len(inside):
            found = sure.means(query[None], np.array([0.0, 1.0]), larger_half)
            weight = sure.empirical[1, inside].astype(float)
            own = larger_half(sure.profile_types[inside].astype(float))
            np.testing.assert_allclose(found[0], weight @ own / weight.sum(), atol=1e-6)


def test_no_query_has_no_mean():
    for mixing in (listed(), counted()):
        assert mixing.means(QUERIES[:0], np.array([0.3, 0.7]), larger_half).shape == (0, 2)
