"""The lattice of queries: sums of profiles' values over the profiles that match each query.

With levels L1..Ld there are (L1+1)...(Ld+1) queries. The sums of all of them cost one pass of axis sums; a few queries
are matched against the profiles directly, without enumerating anything. The parents of a query fix one covariate less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations, pairwise, product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pnsight._text import large_number
from pnsight._typing import FloatArray
from pnsight.data.number_codes import covers, is_range
from pnsight.data.profiles import ProfileLookup
from pnsight.data.schema import OPEN, OPEN_SYMBOL, Codes, Schema
from pnsight.errors import LimitError

MAX_QUERIES = 20_000_000
"""Queries that are enumerated at once; more, with their sums, would need several gigabytes."""

_MAX_PAIRS = 4_000_000
"""Pairs of a query and a profile that are compared at once."""

_MANY_PROFILES = 8192
"""With more profiles than this, queries are matched one by one: each covariate then leaves fewer profiles."""

_ROWS_AT_ONCE = 8192
"""Rows that are added up at once; twice as fast as all of a million."""

_ROLL_UP_COST = 25
"""Cost of one value of the roll-up, in comparisons of a query's level with a profile's."""

_MANY_PASSES = 64
"""Passes from which on it pays to load SciPy for them."""

_PASS_COST = 4000
"""Cost of starting a pass over one column, in the same unit."""


def all_profiles(schema: Schema) -> Codes:
    """Enumerate all profiles; numbers are in groups.

    Parameters
    ----------
    schema
        The covariates.

    Returns
    -------
    array of int32, shape (profiles, covariates)
        Their codes, the last covariate varying fastest.

    Raises
    ------
    LimitError
        If there are more than `MAX_QUERIES`.
    """
    return schema.coded(_grid(schema, schema.shape))


def all_queries(schema: Schema) -> Codes:
    """Enumerate all queries.

    Parameters
    ----------
    schema
        The covariates.

    Returns
    -------
    array of int32, shape (queries, covariates)
        Their codes, the last covariate varying fastest, and open after the levels of each covariate.

    Raises
    ------
    LimitError
        If there are more than `MAX_QUERIES`.
    """
    codes = _grid(schema, tuple(levels + 1 for levels in schema.shape))
    codes[codes == np.array(schema.shape, dtype=np.int32)] = OPEN
    return schema.coded(codes)


SPACES = {"exact": all_profiles, "mask": all_queries}
"""Query spaces by their name on the command line."""


def profile_and_parents(profile: str) -> list[str]:
    """List a profile in the short form, and its parents.

    Parameters
    ----------
    profile
        One character for each covariate.

    Returns
    -------
    list of str
        The profile, then the same with each covariate left open in turn.
    """
    return [profile, *(profile[:j] + OPEN_SYMBOL + profile[j + 1 :] for j in range(len(profile)))]


def query_and_parents(query: Codes) -> Codes:
    """List a query and its parents.

    Parameters
    ----------
    query : shape (covariates,)
        Codes of one query.

    Returns
    -------
    array of int32, shape (1 + covariates that it fixes, covariates)
        The query, then the same with each covariate that it fixes left open in turn.
    """
    fixed = np.flatnonzero(query != OPEN)
    codes = np.tile(query, (1 + len(fixed), 1))
    codes[1 + np.arange(len(fixed)), fixed] = OPEN
    return codes


def queries_fixing_at_most(schema: Schema, max_fixed: int) -> Codes:
    """Enumerate the queries that fix few covariates.

    Parameters
    ----------
    schema
        The covariates.
    max_fixed
        Largest number of covariates that a query fixes.

    Returns
    -------
    array of int32, shape (queries, covariates)
        Their codes, those that fix fewest covariates first.

    Raises
    ------
    LimitError
        If there are more than `MAX_QUERIES`.
    """
    _check_size(schema, n_queries_fixing_at_most(schema, max_fixed))
    width = len(schema.names)
    rows = []
    for fixed in range(min(max_fixed, width) + 1):
        for places in combinations(range(width), fixed):
            levels = np.array(list(product(*(range(schema.shape[j]) for j in places))), dtype=np.int32)
            block = np.full((len(levels), width), OPEN, dtype=np.int32)
            block[:, list(places)] = levels
            rows.append(block)
    return schema.coded(np.concatenate(rows))


def n_queries_fixing_at_most(schema: Schema, max_fixed: int) -> int:
    """Count the queries that fix few covariates.

    Parameters
    ----------
    schema
        The covariates.
    max_fixed
        Largest number of covariates that a query fixes.

    Returns
    -------
    int
        The number of queries, without enumerating them.
    """
    fixing = [1] + [0] * max_fixed  # queries that fix 0, 1, ... of the covariates seen so far
    for levels in schema.shape:
        fixing = [fixing[0], *(more + levels * fewer for fewer, more in pairwise(fixing))]
    return sum(fixing)


def roll_up(schema: Schema, profiles: Codes, values: FloatArray) -> FloatArray:
    """Sum values of profiles over the profiles that match each of all queries.

    Each axis of the cube of profiles gets its open entry as the sum over its levels, in place.

    Parameters
    ----------
    schema
        The covariates.
    profiles : shape (profiles, covariates)
        Codes of profiles; those that are not there count as zero.
    values : shape (profiles, k)
        What to sum.

    Returns
    -------
    array, shape (queries, k)
        The sums, in the order of `all_queries`.

    Raises
    ------
    LimitError
        If there are more than `MAX_QUERIES` queries.
    """
    _check_size(schema, schema.n_queries)
    width, profiles = values.shape[1], schema.positions(profiles)
    if not schema.shape:
        return np.asarray(values.sum(axis=0, keepdims=True))
    cube = np.zeros((*(levels + 1 for levels in schema.shape), width))
    np.add.at(cube, tuple(profiles.T), values)
    for axis, levels in enumerate(schema.shape):
        along = np.moveaxis(cube, axis, 0)
        along[levels] = along[:levels].sum(axis=0)
    return cube.reshape(-1, width)


def sum_over(
    schema: Schema,
    queries: Codes,
    profiles: Codes,
    values: FloatArray,
    lookup: ProfileLookup | None = None,
    weights: npt.NDArray[np.floating[Any]] | None = None,
) -> FloatArray:
    """Sum values of profiles over the profiles that match each of some queries.

    Profiles that match none of the queries are left out first; then the cheapest way of summing is taken.

    Parameters
    ----------
    schema
        The covariates.
    queries : shape (queries, covariates)
        Codes of queries.
    profiles : shape (profiles, covariates)
        Codes of profiles; fastest in column-major order.
    values : shape (profiles, k)
        What to sum.
    lookup
        Finds single people among the profiles, where some covariates are numeric; made anew where it is not given.
    weights : shape (profiles,)
        What the values are multiplied by first; one if None.

    Returns
    -------
    array, shape (queries, k)
        The sums, zero for queries that no profile matches.
    """
    some = matching_profiles(profiles, _common_restriction(queries))
    if len(queries) == 1:
        return _sum_of_rows(some, values, weights)
    if len(some) < len(profiles):
        profiles, values, lookup = profiles[some], values[some], None
        weights = weights if weights is None else weights[some]
    if weights is not None:
        values = values * weights[:, None]
    if schema.numeric:
        return _sum_of_numbers(schema, queries, profiles, values, lookup)
    return _sum_cheapest(schema, queries, profiles, values)


def _sum_of_rows(
    rows: npt.NDArray[np.intp], values: FloatArray, weights: npt.NDArray[np.floating[Any]] | None
) -> FloatArray:
    """The sum of some rows of values, times their weights, shape (1, k): as many at a time as fit the cache."""
    found = np.zeros((1, values.shape[1]))
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        some = rows[start : start + _ROWS_AT_ONCE]
        found += (values[some] if weights is None else values[some] * weights[some, None]).sum(axis=0)
    return found


def _sum_of_numbers(
    schema: Schema, queries: Codes, profiles: Codes, values: FloatArray, lookup: ProfileLookup | None
) -> FloatArray:
    """Sums where covariates are numbers: groups are summed as levels are, single people found, and the rest matched."""
    single = ~(queries == OPEN).any(axis=1)
    for j in schema.numeric:
        single &= ~is_range(queries[:, j])
    sums = np.zeros((len(queries), values.shape[1]))
    if single.any() and len(values):
        place = (lookup or ProfileLookup(schema, profiles)).find(queries[single])
        sums[np.flatnonzero(single)[place >= 0]] = values[place[place >= 0]]
    others = np.flatnonzero(~single)
    positions = schema.positions(queries[others])
    in_groups = (schema.coded(positions) == queries[others]).all(axis=1)
    grouped, rest = others[in_groups], others[~in_groups]
    if len(grouped):
        sums[grouped] = _sum_cheapest(schema.grouped, positions[in_groups], schema.positions(profiles), values)
    if len(rest):
        sums[rest] = _sum_by_matching(queries[rest], profiles, values)
    return sums


def _sum_cheapest(schema: Schema, queries: Codes, profiles: Codes, values: FloatArray) -> FloatArray:
    """Roll up all queries, pass once over the profiles for each pattern of fixed covariates, or match each query."""
    width = max(1, len(schema.names))
    by_matching = len(queries) * len(profiles) * width
    one_pass = (len(profiles) + _PASS_COST) * (width + values.shape[1])
    if by_matching <= one_pass:
        return _sum_by_matching(queries, profiles, values)
    patterns = group_by_pattern(queries)
    by_pass = len(patterns) * one_pass
    by_roll_up = _ROLL_UP_COST * schema.n_queries * values.shape[1]
    if schema.n_queries <= MAX_QUERIES and by_roll_up < min(by_matching, by_pass):
        return roll_up(schema, profiles, values)[_query_index(schema, queries)]
    if by_matching <= by_pass:
        return _sum_by_matching(queries, profiles, values)
    return _sum_by_pattern(schema, patterns, queries, profiles, values)


def _sum_by_pattern(
    schema: Schema, patterns: list[npt.NDArray[np.intp]], queries: Codes, profiles: Codes, values: FloatArray
) -> FloatArray:
    """Sums in one pass over the profiles for each pattern of fixed covariates."""
    sums = np.zeros((len(queries), values.shape[1]))
    columns, add_up = np.ascontiguousarray(profiles.T), _adder(values, len(patterns))
    for rows in patterns:
        fixed = np.flatnonzero(queries[rows[0]] != OPEN)
        sizes = [schema.shape[j] for j in fixed]
        if math.prod(sizes) > np.iinfo(np.int64).max:
            sums[rows] = _sum_by_matching(queries[rows], profiles, values)
        else:
            asked = _mixed_radix([queries[rows, j] for j in fixed], sizes, len(rows))
            present = _mixed_radix([columns[j] for j in fixed], sizes, len(profiles))
            sums[rows] = _sum_by_index(asked, present, values, math.prod(sizes), add_up)
    return sums


def _mixed_radix(digits: Sequence[Codes], sizes: Sequence[int], length: int) -> npt.NDArray[np.intp]:
    """The numbers that have these digits, the last of which varies fastest, shape (length,)."""
    found = np.zeros(length, dtype=np.intp)
    for digit, size in zip(digits, sizes, strict=True):
        found *= size
        found += digit
    return found


_AddUp: TypeAlias = Callable[[npt.NDArray[np.intp], int], FloatArray]
"""From the group of each profile, and how many groups there are, to the sums of some values in each."""


def _adder(values: FloatArray, passes: int) -> _AddUp:
    """How to add up values (profiles, k) by group in one pass: column by column, or all of a profile's at once.

    Both add in the order of the profiles. The second is several times as fast for many columns, but loads SciPy, which
    few passes can do without.
    """
    if passes < _MANY_PASSES or values.shape[1] <= 2:
        columns = np.ascontiguousarray(values.T)
        return lambda group, size: np.stack([np.bincount(group, column, size) for column in columns], axis=1)
    from scipy.sparse import csc_array

    ones, starts = np.ones(len(values)), np.arange(len(values) + 1)

    @cache
    def membership(size: int) -> csc_array:
        return csc_array((ones, np.zeros(len(values), dtype=np.intp), starts), shape=(size, len(values)))

    def add_up(group: npt.NDArray[np.intp], size: int) -> FloatArray:
        found = membership(size)
        found.indices[:] = group  # every profile is in one group: nothing else of the matrix changes
        return np.asarray(found @ values)

    return add_up


def group_by_pattern(queries: Codes) -> list[npt.NDArray[np.intp]]:
    """Group queries by which covariates they fix.

    Parameters
    ----------
    queries : shape (queries, covariates)
        Codes of queries.

    Returns
    -------
    list of arrays
        Positions of the queries, those that fix the same covariates in one array.
    """
    if not queries.size:
        return [np.arange(len(queries))] if len(queries) else []
    packed = np.packbits(queries != OPEN, axis=1)  # a pattern is a few bytes, which sort quicker than its columns
    patterns = np.ascontiguousarray(packed).view(f"V{packed.shape[1]}").ravel()
    kind, number = np.unique(patterns, return_inverse=True, return_counts=True)[1:]
    return np.split(np.argsort(kind.ravel(), kind="stable"), np.cumsum(number)[:-1])


def _sum_by_matching(queries: Codes, profiles: Codes, values: FloatArray) -> FloatArray:
    """Sums by matching each query against each profile: several queries at once where profiles are few."""
    sums = np.zeros((len(queries), values.shape[1]))
    if len(profiles) > _MANY_PROFILES:
        for row, query in enumerate(queries):
            sums[row] = _sum_of_rows(matching_profiles(profiles, query), values, None)
        return sums
    step = max(1, _MAX_PAIRS // max(1, len(profiles)))
    for start in range(0, len(queries), step):
        sums[start : start + step] = membership_matrix(queries[start : start + step], profiles) @ values
    return sums


def _common_restriction(queries: Codes) -> Codes:
    """The query that fixes what all of these fix to the same level: profiles outside it match none of them."""
    if not len(queries):
        return np.full(queries.shape[1], OPEN, dtype=np.int32)
    alike = (queries == queries[0]).all(axis=0)
    return np.where(alike, queries[0], queries.dtype.type(OPEN))


def matching_profiles(profiles: Codes, query: Codes) -> npt.NDArray[np.intp]:
    """Find the profiles that match a query.

    Parameters
    ----------
    profiles : shape (profiles, covariates)
        Codes of profiles; fastest in column-major order.
    query : shape (covariates,)
        Codes of one query.

    Returns
    -------
    array of int, shape (matches,)
        Their positions, in order.
    """
    fixed = np.flatnonzero(query != OPEN)
    if not len(fixed):
        return np.arange(len(profiles))
    rows = np.flatnonzero(covers(query[fixed[0]], profiles[:, fixed[0]]))
    for j in fixed[1:]:
        rows = rows[covers(query[j], profiles[rows, j])]
    return rows


def _sum_by_index(
    asked: npt.NDArray[np.intp], present: npt.NDArray[np.intp], values: FloatArray, size: int, add_up: _AddUp
) -> FloatArray:
    """Sums of the values whose index is asked for, zero where there are none; every index is below `size`."""
    if size <= len(present):
        return np.asarray(add_up(present, size)[asked])
    numbers, place = np.unique(present, return_inverse=True)
    sums = np.zeros((len(numbers) + 1, values.shape[1]))  # the last row is for profiles without rows
    np.add.at(sums, place, values)
    at = np.searchsorted(numbers, asked)
    found = numbers[np.minimum(at, len(numbers) - 1)] == asked if len(numbers) else np.zeros(len(asked), dtype=bool)
    return np.asarray(sums[np.where(found, at, len(numbers))])


def membership_matrix(queries: Codes, profiles: Codes) -> FloatArray:
    """Indicate which profiles match which queries.

    Parameters
    ----------
    queries : shape (queries, covariates)
        Codes of queries.
    profiles : shape (profiles, covariates)
        Codes of profiles.

    Returns
    -------
    array of float, shape (queries, profiles)
        One where the profile matches the query, zero elsewhere.
    """
    matches = np.ones((len(queries), len(profiles)), dtype=bool)
    for asked, present in zip(queries.T, profiles.T, strict=True):
        if (asked != OPEN).any():
            matches &= (asked[:, None] == OPEN) | covers(asked[:, None], present[None, :])
    return matches.astype(np.float64)


def contained(queries: Codes, group: Codes) -> npt.NDArray[np.bool_]:
    """Which queries are about people of a group only: they fix all that it fixes, alike.

    Parameters
    ----------
    queries : shape (queries, covariates)
        Codes, some of them open.
    group : shape (covariates,)
        The codes of one query.

    Returns
    -------
    array of bool, shape (queries,)
    """
    return np.asarray((covers(group, queries) | (group == OPEN)).all(axis=1))


def containing(queries: Codes, group: Codes) -> npt.NDArray[np.bool_]:
    """Which queries are about all people of a group, among others: they fix nothing that it does not fix alike.

    Parameters
    ----------
    queries : shape (queries, covariates)
        Codes, some of them open.
    group : shape (covariates,)
        The codes of one query.

    Returns
    -------
    array of bool, shape (queries,)
    """
    return np.asarray((covers(queries, group) | (queries == OPEN)).all(axis=1))


def _query_index(schema: Schema, queries: Codes) -> npt.NDArray[np.intp]:
    """Row of each query in the order of `all_queries`."""
    levels = np.array(schema.shape, dtype=np.int32)
    if not len(levels):
        return np.zeros(len(queries), dtype=np.intp)
    codes = np.where(queries == OPEN, levels, queries)
    return np.asarray(np.ravel_multi_index(tuple(codes.T), tuple(levels + 1)), dtype=np.intp)


def _grid(schema: Schema, shape: tuple[int, ...]) -> Codes:
    size = int(np.prod(shape, dtype=object))
    _check_size(schema, size)
    codes = np.empty((size, len(shape)), dtype=np.int32)
    number, stride = np.arange(size, dtype=np.int32), size
    for j, levels in enumerate(shape):
        stride //= levels
        codes[:, j] = number // stride % levels
    return codes


def _check_size(schema: Schema, size: int) -> None:
    if size > MAX_QUERIES:
        raise LimitError(
            f"{len(schema.names)} covariates make {large_number(size)} queries, more than the {MAX_QUERIES:,} that are "
            "listed at once; name the queries you want, ask for --space observed, or use fewer covariates."
        )
