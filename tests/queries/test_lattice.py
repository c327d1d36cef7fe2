"""The lattice: sums over what each query covers, all at once or a few at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pnsight.data.profiles import ProfileLookup
from pnsight.data.schema import OPEN, Covariate, Schema
from pnsight.errors import LimitError
from pnsight.queries import lattice
from pnsight.queries.query import encode, format_queries
from strategies import codes_of, studies


def counted_directly(queries: np.ndarray, profiles: np.ndarray, values: np.ndarray) -> np.ndarray:
    """One query at a time, one profile at a time."""
    sums = np.zeros((len(queries), values.shape[1]))
    for i, query in enumerate(queries):
        for profile, value in zip(profiles, values, strict=True):
            if all(asked in (OPEN, has) for asked, has in zip(query, profile, strict=True)):
                sums[i] += value
    return sums


@given(study=studies())
def test_roll_up_equals_a_direct_count_in_the_order_of_all_queries(study):
    found = lattice.roll_up(study.schema, study.profiles, study.counts)
    expected = counted_directly(lattice.all_queries(study.schema), study.profiles, study.counts)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shape", [(), (1,), (2,), (3, 1), (2, 3, 2)])
def test_roll_up_works_for_any_number_of_covariates(shape):
    schema = Schema(tuple(Covariate(f"c{j}", tuple(map(str, range(n)))) for j, n in enumerate(shape)))
    profiles = lattice.all_profiles(schema)
    values = np.arange(2.0 * len(profiles)).reshape(-1, 2)
    np.testing.assert_array_equal(
        lattice.roll_up(schema, profiles, values),
        counted_directly(lattice.all_queries(schema), profiles, values),
    )


@given(study=studies(), data=st.data())
def test_matching_queries_to_profiles_equals_a_direct_count(study, data):
    queries = data.draw(codes_of(study.schema))
    found = lattice.sum_over(study.schema, queries, study.profiles, study.counts)
    np.testing.assert_array_equal(found, counted_directly(queries, study.profiles, study.counts))


@given(study=studies(), data=st.data())
def test_queries_that_fix_some_covariates_alike_are_summed_as_directly(study, data):
    queries = data.draw(codes_of(study.schema))
    alike = data.draw(st.lists(st.booleans(), min_size=len(study.schema.names), max_size=len(study.schema.names)))
    queries[:, alike] = queries[:1, alike]
    found = lattice.sum_over(study.schema, queries, study.profiles, study.counts)
    np.testing.assert_array_equal(found, counted_directly(queries, study.profiles, study.counts))


@given(study=studies(), data=st.data())
def test_the_profiles_a_query_covers_are_those_that_a_direct_count_counts(study, data):
    queries = data.draw(codes_of(study.schema))
    each = counted_directly(queries, study.profiles, np.eye(len(study.profiles)))
    for query, counted in zip(queries, each, strict=True):
        np.testing.assert_array_equal(lattice.matching_profiles(study.profiles, query), np.flatnonzero(counted))


WAYS = {
    "rolled up": {"_ROLL_UP_COST": -(10**9), "_PASS_COST": -(10**6)},
    "in passes": {"_ROLL_UP_COST": 10**9, "_PASS_COST": -(10**6)},
    "matched together": {"_ROLL_UP_COST": 10**9, "_PASS_COST": 10**9},
    "matched one by one": {"_ROLL_UP_COST": 10**9, "_PASS_COST": 10**9, "_MANY_PROFILES": 0},
}
"""What a value of the roll-up and the begin of a pass are said to cost, for each way of summing to be the cheapest."""


@pytest.mark.parametrize("way", WAYS)
@given(study=studies(), data=st.data())
@settings(max_examples=50)
def test_every_way_of_summing_equals_a_direct_count(way, study, data):
    queries = data.draw(codes_of(study.schema))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in WAYS[way].items():
            patch.setattr(lattice, name, value)
        found = lattice.sum_over(study.schema, queries, study.profiles, study.counts)
    np.testing.assert_array_equal(found, counted_directly(queries, study.profiles, study.counts))


@pytest.mark.parametrize("limit", [0, lattice.MAX_QUERIES])
def test_above_the_limit_nothing_is_enumerated_and_the_sums_are_the_same(limit, monkeypatch):
    monkeypatch.setattr(lattice, "MAX_QUERIES", limit)
    monkeypatch.setattr(lattice, "_ROLL_UP_COST", 0)
    monkeypatch.setattr(lattice, "_PASS_COST", 0)
    rng = np.random.default_rng(1)
    schema = Schema(tuple(Covariate(f"c{j}", tuple(map(str, range(n)))) for j, n in enumerate((2, 3, 1, 4))))
    profiles = np.array(list(np.ndindex(*schema.shape)), dtype=np.int32)[::2]
    values = rng.integers(0, 9, size=(len(profiles), 8)).astype(float)
    queries = np.stack([rng.integers(OPEN, n, size=500) for n in schema.shape], axis=1).astype(np.int32)
    found = lattice.sum_over(schema, queries, profiles, values)
    np.testing.assert_array_equal(found, counted_directly(queries, profiles, values))


def test_profiles_too_many_to_number_are_matched_in_parts(monkeypatch):
    monkeypatch.setattr(lattice, "_MAX_PAIRS", 10)
    schema = Schema.binary(f"z{j}" for j in range(70))
    profiles = np.random.default_rng(1).integers(0, 2, size=(8, 70)).astype(np.int32)
    queries = np.concatenate([profiles[:5], 1 - profiles[:1]])
    values = np.arange(8.0)[:, None]
    np.testing.assert_array_equal(
        lattice.sum_over(schema, queries, profiles, values), counted_directly(queries, profiles, values)
    )


@pytest.mark.parametrize("width", [0, 3, 40, 70])
def test_profiles_are_found_in_a_list_in_any_order_even_where_they_are_too_many_to_number(width):
    rng = np.random.default_rng(width)
    profiles = rng.permutation(np.unique(rng.integers(0, 2, size=(200, width)), axis=0)).astype(np.int32)
    listed, others = profiles[: len(profiles) // 2 + 1], profiles[len(profiles) // 2 + 1 :]
    index = ProfileLookup(Schema.binary(f"z{j}" for j in range(width)), listed)
    order = rng.permutation(len(listed))
    np.testing.assert_array_equal(index.find(listed[order]), order)
    np.testing.assert_array_equal(index.find(others), np.full(len(others), -1))


def test_nothing_is_found_in_an_empty_list():
    schema = Schema.binary("ab")
    index = ProfileLookup(schema, np.zeros((0, 2), np.int32))
    np.testing.assert_array_equal(index.find(lattice.all_profiles(schema)), [-1] * 4)


@pytest.mark.parametrize("columns", [1, 2, 3, 9])
@pytest.mark.parametrize("passes", [0, lattice._MANY_PASSES])
def test_values_are_added_up_to_the_last_digit_alike_in_few_passes_and_in_many(columns, passes):
    rng = np.random.default_rng(0)
    values, groups = rng.normal(size=(500, columns)), [rng.integers(0, size, 500) for size in (1, 8, 8, 300)]
    add_up = lattice._adder(values, passes)
    for group in groups:
        expected = np.zeros((301, columns))
        np.add.at(expected, group, values)
        np.testing.assert_array_equal(add_up(group, 301), expected)


def test_all_queries_that_fix_up_to_three_of_many_covariates_equal_a_direct_count():
    rng = np.random.default_rng(1)
    schema = Schema(tuple(Covariate(f"z{j}", tuple("abcd"[: 2 + j % 3])) for j in range(12)))
    profiles = rng.integers(0, schema.shape, size=(3000, 12)).astype(np.int32)
    values = rng.integers(0, 9, size=(3000, 5)).astype(float)
    queries = lattice.queries_fixing_at_most(schema, 3)
    some = rng.integers(0, len(queries), 300)
    expected = lattice.membership_matrix(queries[some], profiles) @ values
    np.testing.assert_array_equal(lattice.sum_over(schema, queries, profiles, values)[some], expected)


@pytest.mark.parametrize("people", [40, 20_000])
@pytest.mark.parametrize("number", [1, 3, 7])
def test_values_are_weighted_before_they_are_added_up(people, number):
    """However many queries and people there are, so whichever way sums are taken."""
    shape, rng = (3, 4, 2, 5), np.random.default_rng(people + number)
    schema = Schema(tuple(Covariate(f"c{j}", tuple(map(str, range(n)))) for j, n in enumerate(shape)))
    profiles = np.column_stack([rng.integers(0, levels, people) for levels in shape]).astype(np.int32)
    queries = np.where(rng.random((number, 4)) < 0.5, profiles[:number], OPEN).astype(np.int32)
    values, weights = rng.normal(size=(people, 3)), rng.exponential(size=people)
    found = lattice.sum_over(schema, queries, profiles, values, weights=weights)
    expected = counted_directly(queries, profiles, values * weights[:, None])
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_no_queries_give_no_sums():
    schema = Schema.binary("ab")
    found = lattice.sum_over(schema, np.zeros((0, 2), np.int32), lattice.all_profiles(schema), np.ones((4, 8)))
    assert found.shape == (0, 8)


def test_no_profiles_give_sums_of_zero():
    schema = Schema.binary("ab")
    queries = lattice.all_queries(schema)
    found = lattice.sum_over(schema, queries, np.zeros((0, 2), np.int32), np.ones((0, 8)))
    np.testing.assert_array_equal(found, np.zeros((9, 8)))


def test_spaces_list_every_query_once():
    schema = Schema((Covariate("a", ("0", "1")), Covariate("b", ("p", "q", "r"))))
    exact, mask = lattice.all_profiles(schema), lattice.all_queries(schema)
    assert exact.tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    assert format_queries(schema, mask)[-1] == "XX"
    assert len({tuple(row) for row in mask}) == len(mask) == schema.n_queries == 12
    assert {tuple(row) for row in exact} == {tuple(row) for row in mask if OPEN not in row}
    assert lattice.SPACES.keys() == {"exact", "mask"}


def test_without_covariates_both_spaces_hold_everyone_only():
    for space in lattice.SPACES.values():
        assert space(Schema()).shape == (1, 0)


@pytest.mark.parametrize("space", lattice.SPACES)
def test_a_space_too_large_to_list_is_refused_with_its_size_and_what_to_do(space):
    size = {"exact": 2**40, "mask": 3**40}[space]
    with pytest.raises(LimitError, match=rf"40 covariates make {size:,} queries, more than the 20,000,000.*observed"):
        lattice.SPACES[space](Schema.binary(f"z{i}" for i in range(40)))


def test_rolling_up_too_large_a_space_is_refused_too():
    schema = Schema.binary(f"z{i}" for i in range(20))
    with pytest.raises(LimitError, match=r"20 covariates make 3,486,784,401 queries"):
        lattice.roll_up(schema, np.zeros((1, 20), np.int32), np.ones((1, 8)))


def test_single_queries_of_a_space_too_large_to_list_are_still_answered():
    schema = Schema.binary(f"z{i}" for i in range(40))
    profiles = np.eye(40, dtype=np.int32)
    queries = np.full((3, 40), OPEN, dtype=np.int32)
    queries[1, 0], queries[2, 0] = 1, 0
    found = lattice.sum_over(schema, queries, profiles, np.ones((40, 1)))
    assert found.ravel().tolist() == [40, 1, 39]


def test_opening_one_covariate_at_a_time():
    assert lattice.profile_and_parents("101") == ["101", "X01", "1X1", "10X"]


@given(study=studies(), max_fixed=st.integers(0, 5))
def test_general_queries_are_all_those_that_fix_few_covariates(study, max_fixed):
    every = lattice.all_queries(study.schema)
    expected = every[(every != OPEN).sum(axis=1) <= max_fixed]
    found = lattice.queries_fixing_at_most(study.schema, max_fixed)
    assert len(found) == lattice.n_queries_fixing_at_most(study.schema, max_fixed)
    assert sorted(map(tuple, found)) == sorted(map(tuple, expected))
    assert (np.diff((found != OPEN).sum(axis=1)) >= 0).all()


def test_too_many_general_queries_are_refused():
    with pytest.raises(LimitError, match="200 covariates"):
        lattice.queries_fixing_at_most(Schema.binary([f"z{j}" for j in range(200)]), 4)


def test_each_covariate_that_a_query_fixes_is_opened_in_turn():
    schema = Schema.binary(["a", "b", "c", "d"])
    (query,) = encode(schema, "1X0X")
    assert format_queries(schema, lattice.query_and_parents(query)) == ["1X0X", "XX0X", "1XXX"]
