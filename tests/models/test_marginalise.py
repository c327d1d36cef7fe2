"""Marginalisation: the types of a query are the mean over the people it covers, enumerated or sampled."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pnsight.data.schema import OPEN, Covariate, Schema
from pnsight.models.mlp_numpy import mean_probabilities
from pnsight.models.response_types.enumerated_profiles import EnumeratedProfiles
from pnsight.models.response_types.latent_classes import LatentClasses
from pnsight.models.response_types.sampled_profiles import _SPREAD_PROFILES, SampledProfiles
from pnsight.queries import lattice

ROUNDING = 1e-12
SCHEMA = Schema(
    tuple(Covariate(f"c{j}", tuple(f"level {k}" for k in range(levels))) for j, levels in enumerate((2, 3, 1, 4)))
)
EVERY = lattice.all_profiles(SCHEMA)
QUERIES = lattice.all_queries(SCHEMA)
EXACT = (QUERIES != OPEN).all(axis=1)
PEOPLE = {"first table": (1.0, 0.0), "second table": (0.0, 1.0), "both": (0.3, 0.7)}

people = pytest.mark.parametrize("weights", [np.array(weights) for weights in PEOPLE.values()], ids=list(PEOPLE))


def covers(query) -> np.ndarray:
    return ((query == OPEN) | (query == EVERY)).all(axis=1)


# --- all profiles listed --------------------------------------------------------------------------------


def listed(members=3, tables=2, seed=0) -> EnumeratedProfiles:
    rng = np.random.default_rng(seed)
    types = rng.dirichlet(np.ones(8), size=(members, len(EVERY)))
    masses = rng.dirichlet(np.ones(len(EVERY)), size=(members, tables))
    return EnumeratedProfiles(SCHEMA, types.astype(np.float32), masses.astype(np.float32))


def by_hand(mixing, member, query, weights) -> np.ndarray:
    """The weighted mean over the profiles of one query, one after the other."""
    total, mass = np.zeros(8), 0.0
    for place in np.flatnonzero(covers(query)):
        share = sum(
            float(weight) * float(table[place]) for weight, table in zip(weights, mixing.masses[member], strict=True)
        )
        total += share * mixing.profile_types[member, place].astype(float)
        mass += share
    return total / mass


@people
def test_listed_profiles_give_every_query_the_weighted_mean_of_its_profiles(weights):
    mixing = listed()
    found = list(mixing.types(QUERIES, weights, members=3))
    assert len(found) == mixing.members == 3
    for member, types in enumerate(found):
        assert types.shape == (len(QUERIES), 8)
        expected = [by_hand(mixing, member, query, weights) for query in QUERIES]
        # Types are stored in single precision and add up to one again here: they are off by its rounding.
        np.testing.assert_allclose(types, expected, atol=1e-6)
        np.testing.assert_allclose(types.sum(axis=1), 1, atol=ROUNDING)


@people
def test_a_query_gets_the_same_answer_alone_as_among_others(weights):
    mixing = listed()
    together = np.stack(list(mixing.types(QUERIES, weights, members=3)), axis=1)
    for place, query in enumerate(QUERIES):
        alone = np.stack(list(mixing.types(query[None], weights, members=3)), axis=1)
        np.testing.assert_allclose(alone[0], together[place], atol=ROUNDING)
    only_exact = np.stack(list(mixing.types(QUERIES[EXACT], weights, members=3)), axis=1)
    np.testing.assert_allclose(only_exact, together[EXACT], atol=ROUNDING)


def test_only_the_members_asked_for_are_computed():
    mixing, weights = listed(), np.array([0.5, 0.5])
    (one,) = mixing.types(QUERIES, weights, members=1)
    first, *_ = mixing.types(QUERIES, weights, members=3)
    np.testing.assert_allclose(one, first, atol=ROUNDING)


def test_members_summed_in_groups_are_those_summed_at_once(monkeypatch):
    mixing, weights = listed(members=5), np.array([0.5, 0.5])
    at_once = list(mixing.types(QUERIES, weights, members=5))
    monkeypatch.setattr("pnsight.models.response_types.enumerated_profiles._SUMMED_VALUES", 2 * 8 * len(QUERIES))
    np.testing.assert_allclose(list(mixing.types(QUERIES, weights, members=5)), at_once, atol=ROUNDING)


def test_values_remembered_of_one_population_or_number_of_members_are_not_given_for_another():
    mixing = listed(members=5)
    for members in (1, 5, 3):
        for weights in map(np.array, PEOPLE.values()):
            afresh = list(listed(members=5).types(QUERIES, weights, members))
            for _ in range(2):  # the second time from memory
                np.testing.assert_array_equal(list(mixing.types(QUERIES, weights, members)), afresh)


def test_a_copy_remembers_nothing_of_what_it_was_copied_from():
    mixing, weights = listed(), np.array([0.5, 0.5])
    before = list(mixing.types(QUERIES, weights, members=3))
    for again in (copy.deepcopy(mixing), pickle.loads(pickle.dumps(mixing)), replace(mixing)):
        assert vars(again).keys() == {"schema", "profile_types", "masses"}
        np.testing.assert_array_equal(list(again.types(QUERIES, weights, members=3)), before)


@given(seed=st.integers(0, 2**32 - 1), weight=st.floats(0, 1))
def test_the_answer_for_a_query_lies_between_those_for_its_parts(seed, weight):
    mixing = listed(members=1, seed=seed)
    types = next(mixing.types(QUERIES, np.array([weight, 1 - weight]), members=1))
    answers = dict(zip(map(tuple, QUERIES.tolist()), types, strict=True))
    for (c0, c1, c2, c3), whole in answers.items():
        if c1 == OPEN:
            parts = [answers[c0, level, c2, c3] for level in range(3)]
            assert (whole >= np.min(parts, axis=0) - ROUNDING).all()
            assert (whole <= np.max(parts, axis=0) + ROUNDING).all()


def test_without_covariates_there_is_one_answer():
    types = np.full((1, 1, 8), 1 / 8, np.float32)
    mixing = EnumeratedProfiles(Schema(), types, np.ones((1, 2, 1), np.float32))
    (found,) = mixing.types(np.zeros((3, 0), np.int32), np.array([0.0, 1.0]), members=1)
    np.testing.assert_allclose(found, np.full((3, 8), 1 / 8))


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


def counted(networks=((0, 1), (0,), (1,), (2,)), draws=1024, seed=0, own_rows=False) -> SampledProfiles:
    """Half of the profiles counted; `networks` says which of a few networks each member is the mean of.

    With own rows, the types of counted profiles are halfway between the networks' and what the rows show.
    """
    rng = np.random.default_rng(seed)
    inputs = SCHEMA.effect_coding(EVERY)
    trained = [random_network(inputs.shape[1], rng) for _ in range(1 + max(k for group in networks for k in group))]
    members = [[trained[k] for k in group] for group in networks]
    place = np.sort(rng.permutation(len(EVERY))[: len(EVERY) // 2])
    types = np.stack([mean_probabilities(group, inputs[place]) for group in (members if own_rows else members[:1])])
    if own_rows:
        types = (types + rng.dirichlet(np.ones(8), size=len(place))) / 2
    shares_ = np.repeat(rng.dirichlet(np.ones(len(place)), size=(1, 2)), len(members), axis=0)
    return SampledProfiles(
        SCHEMA,
        EVERY[place],
        types.astype(np.float32),
        shares_.astype(np.float32),
        np.array([0.4, 0.7]),
        [random_classes(rng, 1), random_classes(rng, 3)],
        members,
        rng.random((draws, 1 + len(SCHEMA.shape))),
    )


def as_listed(mixing) -> EnumeratedProfiles:
    """The same networks, classes and shares with every profile listed."""
    inputs = SCHEMA.effect_coding(EVERY)
    place = np.ravel_multi_index(tuple(mixing.profiles.T), SCHEMA.shape)
    types, masses = [], []
    for member, networks in enumerate(mixing.networks):
        types.append(mean_probabilities(networks, inputs))
        if member < len(mixing.profile_types):
            types[member][place] = mixing.profile_types[member]
        mass = (1 - mixing.empirical_weight)[:, None] * np.stack([classes.mass(EVERY) for classes in mixing.smooth])
        mass[:, place] += mixing.empirical_weight[:, None] * mixing.empirical[member]
        masses.append(mass)
    return EnumeratedProfiles(SCHEMA, np.array(types, np.float32), np.array(masses, np.float32))


def monte_carlo_error(mixing, query, member) -> np.ndarray:
    """Standard error of a member's types of a query, shape (8,): the larger of the two tables'.

    The estimate is a mean over all draws, the others add a mean difference over the first `_SPREAD_PROFILES`. Standard
    deviations are those over the profiles that the query covers, by enumeration. The share that is drawn is at most 1.
    """
    inside = covers(query)
    estimate, other = (as_listed(mixing).profile_types[k, inside].astype(float) for k in (0, member))
    errors = []
    for classes in mixing.smooth:
        mass = classes.mass(EVERY[inside])
        mass /= mass.sum()
        first, second = (
            np.sqrt(np.maximum(mass @ values**2 - (mass @ values) ** 2, 0)) for values in (estimate, other - estimate)
        )
        errors.append(first / np.sqrt(len(mixing.sobol_points)) + second / np.sqrt(_SPREAD_PROFILES))
    return np.max(errors, axis=0)


@people
@pytest.mark.parametrize("own_rows", [False, True])
def test_counted_profiles_answer_open_queries_as_listed_ones_do(own_rows, weights):
    """Up to five standard errors of the draws, and the rounding of what is stored in single precision."""
    mixing = counted(draws=4096, own_rows=own_rows)
    expected = list(as_listed(mixing).types(QUERIES, weights, members=4))
    found = list(mixing.types(QUERIES, weights, members=4))
    for member in range(4):
        for place in np.flatnonzero(~EXACT):
            allowed = 5 * monte_carlo_error(mixing, QUERIES[place], member) + 1e-6
            assert (np.abs(found[member][place] - expected[member][place]) <= allowed).all()


def test_an_exact_query_with_rows_is_answered_by_its_own_types_and_else_by_the_networks():
    mixing = counted(own_rows=True)
    found = list(mixing.types(EVERY, np.array([0.3, 0.7]), members=4))
    place = np.ravel_multi_index(tuple(mixing.profiles.T), SCHEMA.shape)
    bare = np.setdiff1d(np.arange(len(EVERY)), place)
    inputs = SCHEMA.effect_coding(EVERY)
    for member, types in enumerate(found):
        own = mixing.profile_types[member].astype(float)
        np.testing.assert_allclose(types[place], own / own.sum(axis=1, keepdims=True), atol=ROUNDING)
        # One row or many at a time: the sums of a layer may be taken in another order, in single precision.
        np.testing.assert_allclose(types[bare], mean_probabilities(mixing.networks[member], inputs)[bare], atol=1e-6)


def test_without_own_rows_every_member_answers_an_exact_query_by_its_networks():
    mixing, inputs = counted(), SCHEMA.effect_coding(EVERY)
    for member, types in enumerate(mixing.types(EVERY, np.array([0.3, 0.7]), members=4)):
        np.testing.assert_allclose(types, mean_probabilities(mixing.networks[member], inputs), atol=1e-6)


def test_where_everyone_is_counted_an_open_query_is_the_mean_of_its_profiles_own_types():
    mixing = counted(own_rows=True)
    sure = replace(mixing, empirical_weight=np.array([1.0, 1.0]))
    for query in QUERIES[~EXACT][::5]:
        inside = np.flatnonzero(((query == OPEN) | (query == sure.profiles)).all(axis=1))
        if len(inside):
            (found,) = sure.types(query[None], np.array([0.0, 1.0]), members=1)
            weight = sure.empirical[0, 1, inside].astype(float)
            np.testing.assert_allclose(found[0], weight @ sure.profile_types[0, inside] / weight.sum(), atol=1e-6)


def test_members_that_equal_the_estimate_answer_as_it_does():
    mixing = counted(networks=((0,), (0,)), own_rows=True)
    estimate, other = mixing.types(QUERIES[~EXACT], np.array([0.5, 0.5]), members=2)
    np.testing.assert_allclose(other, estimate, atol=ROUNDING)


@people
def test_answers_are_distributions(weights):
    for types in counted(own_rows=True).types(QUERIES, weights, members=4):
        assert (types >= 0).all()
        np.testing.assert_allclose(types.sum(axis=1), 1, atol=ROUNDING)


# --- stored ---------------------------------------------------------------------------------------------


def test_listed_profiles_survive_as_arrays():
    mixing, weights = listed(), np.array([0.3, 0.7])
    again = EnumeratedProfiles.from_arrays(SCHEMA, EVERY, mixing.arrays())
    for before, after in zip(mixing.types(QUERIES, weights, 3), again.types(QUERIES, weights, 3), strict=True):
        np.testing.assert_array_equal(before, after)


def test_counted_profiles_survive_as_arrays():
    """More than ten members and networks, so that the order of their numbers is not that of the words."""
    groups = (tuple(range(11)), *((k,) for k in range(11)))
    mixing, weights = counted(networks=groups, own_rows=True), np.array([0.3, 0.7])
    arrays = dict(reversed(mixing.arrays().items()))
    again = SampledProfiles.from_arrays(SCHEMA, mixing.profiles, arrays)
    assert again.members == mixing.members == 12
    assert [len(group) for group in again.networks] == [11] + [1] * 11
    some = QUERIES[::9]
    for before, after in zip(mixing.types(some, weights, 12), again.types(some, weights, 12), strict=True):
        np.testing.assert_array_equal(before, after)


# --- means of what is made of types -----------------------------------------------------------------------


def larger_half(types: np.ndarray) -> np.ndarray:
    """Not linear in the types: the larger share of two halves, and its square."""
    half = np.maximum(types[:, :4].sum(axis=1), types[:, 4:].sum(axis=1))
    return np.stack([half, half**2], axis=1)


@people
def test_means_of_listed_profiles_are_weighted_means_of_what_each_profile_gives(weights):
    mixing = listed()
    found = list(mixing.means(QUERIES, weights, 3, larger_half))
    for member, means in enumerate(found):
        mass = weights @ mixing.masses[member]
        own = larger_half(mixing.profile_types[member].astype(float))
        for place, query in enumerate(QUERIES):
            inside = covers(query) * mass
            np.testing.assert_allclose(means[place], inside @ own / inside.sum(), atol=1e-6)


def test_means_where_everyone_is_counted_are_those_of_the_profiles_with_rows():
    mixing = counted(own_rows=True)
    sure = replace(mixing, empirical_weight=np.array([1.0, 1.0]))
    for query in QUERIES[::7]:
        inside = np.flatnonzero(((query == OPEN) | (query == sure.profiles)).all(axis=1))
        if len(inside):
            (found,) = sure.means(query[None], np.array([0.0, 1.0]), 1, larger_half)
            weight = sure.empirical[0, 1, inside].astype(float)
            own = larger_half(sure.profile_types[0, inside].astype(float))
            np.testing.assert_allclose(found[0], weight @ own / weight.sum(), atol=1e-6)


def test_no_query_has_no_mean():
    for mixing in (listed(), counted()):
        for found in mixing.means(QUERIES[:0], np.array([0.3, 0.7]), 2, larger_half):
            assert found.shape == (0, 2)
