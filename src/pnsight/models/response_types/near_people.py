"""People near those asked about: who agrees with a query in nearly all that it fixes, numbers being in groups.

A person is a few words of bits, one bit for each level of each covariate, so the bits that two of them share are the
covariates in which they agree. Whoever differs from a query in at most t covariates agrees with it in the whole of one
of t + 1 parts of them (the pigeonhole principle): where there are many queries, only those who do are compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pnsight._typing import BoolArray, IndexArray
from pnsight.data.schema import OPEN, Codes
from pnsight.queries import lattice

NEAR = 5
"""People who differ in one of so many of the covariates asked about, and at least in one, are near."""

_FEW_QUERIES = 64
"""Queries up to which everybody is compared, since sorting people would take longer."""

_MOST_SORTED = 16
"""Ways of sorting people that are kept."""

_MAX_PAIRS = 4_000_000
"""Pairs of a query and a person that are compared at once."""

_MOST_CELLS, _MOST_COVARIATES = 2**25, 32
"""Combinations of levels, and covariates, up to which it is found out about all of them once it pays."""

_CELLS_PER_QUERY = 1536
"""Cells that are looked at along an axis in about the time in which one query is answered by itself."""

_FIRST_STEP = 8
"""People whom a query is compared with first; then twice as many, and so on."""

Words = npt.NDArray[np.uint64]


def _may_differ(fixed: int) -> int:
    """In how many covariates people may differ from a query that fixes so many, to be near."""
    return max(1, fixed // NEAR)


def _parts(covariates: IndexArray, number: int) -> list[tuple[int, ...]]:
    """Covariates in parts of about equal size."""
    return [tuple(covariates[k::number].tolist()) for k in range(number)]


class _SortedPeople(NamedTuple):
    """People by the number that their levels of some covariates make, (people,) in order, and each word of their bits.

    Words of one place are together, shape (words, people), as they are compared one place after the other.
    """

    numbers: IndexArray
    words: Words


class NearPeople:
    """The distinct people of a table.

    Parameters
    ----------
    people : shape (people, covariates)
        Positions of levels, and of groups of numbers.
    shape
        How many levels each covariate has.
    """

    def __init__(self, people: Codes, shape: Sequence[int]) -> None:
        self._people, self._shape = people, tuple(shape)
        self._first_bits = np.cumsum([0, *shape])
        self._words = self._words_of(people)
        self._sorted: dict[tuple[int, ...], _SortedPeople] = {}
        self._cells = math.prod(self._shape)
        self._asked = 0

    def somebody(self, queries: Codes) -> BoolArray:
        """Whether somebody is near each query.

        Parameters
        ----------
        queries : shape (queries, covariates)
            Positions as those of the people, some of them open.

        Returns
        -------
        array of bool, shape (queries,)
        """
        found = np.zeros(len(queries), dtype=bool)
        whole = (queries != OPEN).all(axis=1)
        left = np.arange(len(queries))
        if self._pays_everywhere(int(whole.sum())):
            left, place = np.flatnonzero(~whole), np.ravel_multi_index(tuple(queries[whole].T), self._shape)
            found[whole] = self._everywhere[place]
        for some in lattice.group_by_pattern(queries[left]) if len(left) else ():
            rows = left[some]
            found[rows] = self._somebody(queries[rows], np.flatnonzero(queries[rows[0]] != OPEN))
        return found

    def _pays_everywhere(self, queries: int) -> bool:
        """Whether it is cheaper by now to know it of all combinations of levels; of queries that leave nothing open."""
        self._asked += queries
        covariates = len(self._shape)
        if self._cells > _MOST_CELLS or covariates > _MOST_COVARIATES:
            return False
        return self._cells * covariates * _may_differ(covariates) <= _CELLS_PER_QUERY * self._asked

    @cached_property
    def _everywhere(self) -> BoolArray:
        """Whether somebody is near each combination of levels, shape (combinations,)."""
        near = np.zeros(self._shape, dtype=bool)
        near[tuple(self._people.T)] = True
        for _ in range(_may_differ(len(self._shape))):
            within = near.copy()
            for axis in range(near.ndim):
                within |= near.any(axis=axis, keepdims=True)
            near = within
        return near.ravel()

    def _somebody(self, queries: Codes, fixed: IndexArray) -> BoolArray:
        """The same for queries that fix the same covariates."""
        may_differ = _may_differ(len(fixed))
        parts = [*_parts(fixed, 2), *_parts(fixed, may_differ + 1)]  # in halves somebody is found soonest
        found = np.zeros(len(queries), dtype=bool)
        for part in parts if len(queries) > _FEW_QUERIES else [()]:
            left = np.flatnonzero(~found)
            found[left] = self._agrees(queries[left], part, len(fixed) - may_differ)
        return found

    def _agrees(self, queries: Codes, part: tuple[int, ...], least: int) -> BoolArray:
        """Whether somebody with the levels of a part agrees in at least so many covariates, shape (queries,)."""
        people = self._sorted_by(part)
        asked, number = self._words_of(queries), self._number(queries, part)
        at, stop = (np.searchsorted(people.numbers, number, side=side) for side in ("left", "right"))
        found = np.zeros(len(queries), dtype=bool)
        left, step = np.flatnonzero(at < stop), _FIRST_STEP
        while len(left):
            step = max(1, min(2 * step, _MAX_PAIRS // len(left)))
            candidates = at[left, None] + np.arange(step)
            within = candidates < stop[left, None]
            candidates[~within] = 0
            agreeing = np.zeros(candidates.shape, dtype=np.uint16)
            for theirs, own in zip(people.words, asked, strict=True):
                agreeing += np.bitwise_count(theirs[candidates] & own[left, None])
            near = (within & (agreeing >= least)).any(axis=1)
            found[left[near]] = True
            at[left] += step
            left = left[~near & (at[left] < stop[left])]
        return found

    def _sorted_by(self, part: tuple[int, ...]) -> _SortedPeople:
        if part not in self._sorted:
            if len(self._sorted) >= _MOST_SORTED:
                self._sorted.clear()
            number = self._number(self._people, part)
            order = np.argsort(number, kind="stable")
            self._sorted[part] = _SortedPeople(number[order], self._words[:, order])
        return self._sorted[part]

    def _number(self, positions: Codes, part: tuple[int, ...]) -> IndexArray:
        """The number that the levels of a part make, shape (rows,); where it overflows, others may have it as well."""
        found = np.zeros(len(positions), dtype=np.intp)
        for j in part:
            found = found * self._shape[j] + positions[:, j]
        return found

    def _words_of(self, positions: Codes) -> Words:
        """A bit for each level that is fixed, shape (words, rows)."""
        found = np.zeros((-(-int(self._first_bits[-1]) // 64) or 1, len(positions)), dtype=np.uint64)
        for j, first in enumerate(self._first_bits[:-1]):
            fixed = np.flatnonzero(positions[:, j] != OPEN)
            word, bit = np.divmod(first + positions[fixed, j], 64)
            found[word, fixed] |= np.uint64(1) << bit.astype(np.uint64)
        return found
