"""Profiles, combinations of a level of every covariate: their index, the distinct ones, and finding them in a list."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pnsight.data.schema import Codes, Schema


def distinct_profiles(schema: Schema, codes: Codes) -> tuple[Codes, npt.NDArray[np.intp]]:
    """Find the distinct profiles.

    Parameters
    ----------
    schema
        The covariates.
    codes : shape (rows, covariates)
        Codes of profiles, possibly repeated.

    Returns
    -------
    profiles : shape (profiles, covariates)
        Codes of the distinct profiles, in order.
    place : shape (rows,)
        Position of each row among them.
    """
    if not schema.shape:
        return codes[:1], np.zeros(len(codes), dtype=np.intp)
    if not schema.countable:
        return _distinct_rows(codes)
    numbers, place = distinct_numbers(profile_index(schema, codes), schema.n_profiles)
    return np.stack(np.unravel_index(numbers, schema.shape), axis=1).astype(np.int32), place


def _distinct_rows(codes: Codes) -> tuple[Codes, npt.NDArray[np.intp]]:
    """The distinct rows in order, and the position of each row among them."""
    order = np.lexsort(codes.T[::-1])
    ordered = codes[order]
    new = np.ones(len(codes), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    place = np.empty(len(codes), dtype=np.intp)
    place[order] = np.cumsum(new) - 1
    return ordered[new], place


def distinct_numbers(numbers: npt.NDArray[np.intp], limit: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Find the distinct ones of some numbers.

    Parameters
    ----------
    numbers : shape (n,)
        Numbers from 0, possibly repeated.
    limit
        All are below it.

    Returns
    -------
    found : shape (distinct,)
        The distinct numbers, in order.
    place : shape (n,)
        Position of each number among them.
    """
    if limit > len(numbers):
        return np.unique(numbers, return_inverse=True)
    occurs = np.zeros(limit, dtype=bool)  # marking those that occur takes less time than sorting
    occurs[numbers] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[numbers]


def profile_index(schema: Schema, codes: Codes) -> npt.NDArray[np.intp]:
    """Number the profiles: the row of each in `lattice.all_profiles`.

    Parameters
    ----------
    schema
        The covariates.
    codes : shape (profiles, covariates)
        Codes of profiles, none of them open.

    Returns
    -------
    array of int, shape (profiles,)
        The index of each.
    """
    if not schema.shape:
        return np.zeros(len(codes), dtype=np.intp)
    return np.asarray(np.ravel_multi_index(tuple(codes.T), schema.shape), dtype=np.intp)


_BITS = 4
"""Logarithm of how many marks there are for each profile; so few of other profiles' hashes are marked."""


class ProfileLookup:
    """Finds profiles in a list by binary search of their index or, where there is none, of a hash of their codes.

    Beginnings of hashes that occur are marked: of very many profiles that are not in the list, few are searched.
    """

    def __init__(self, schema: Schema, profiles: Codes) -> None:
        self._schema, self._profiles, self._salt = schema, profiles, 0
        self._sort()
        while self._hashes_collide():
            self._salt += 1
            self._sort()

    def _sort(self) -> None:
        numbers = self._numbers(self._profiles)
        self._order = np.argsort(numbers)
        self._sorted = numbers[self._order]
        if not self._schema.countable:
            bits = len(numbers).bit_length() + _BITS
            self._shift = np.uint64(64 - bits)
            self._marked = np.zeros(2**bits, dtype=bool)
            self._marked[numbers >> self._shift] = True

    def _hashes_collide(self) -> bool:
        """Whether profiles that differ have the same number."""
        again = np.flatnonzero(self._sorted[1:] == self._sorted[:-1])
        one, other = (self._profiles[self._order[again + k]] for k in (0, 1))
        return bool((one != other).any())

    def find(self, profiles: Codes) -> npt.NDArray[np.intp]:
        """Look up profiles.

        Parameters
        ----------
        profiles : shape (profiles, covariates)
            Codes of profiles.

        Returns
        -------
        array of int, shape (profiles,)
            The position of each in the list, -1 if it is not there.
        """
        found = np.full(len(profiles), -1, dtype=np.intp)
        if not len(self._sorted):
            return found
        asked = self._numbers(profiles)
        some = np.arange(len(asked)) if self._schema.countable else np.flatnonzero(self._marked[asked >> self._shift])
        at = np.searchsorted(self._sorted, asked[some]).clip(max=len(self._sorted) - 1)
        same = self._sorted[at] == asked[some]
        place, same = self._order[at[same]], some[same]
        if not self._schema.countable:  # another profile may have that hash
            equal = (self._profiles[place] == profiles[same]).all(axis=1)
            same, place = same[equal], place[equal]
        found[same] = place
        return found

    def _numbers(self, profiles: Codes) -> npt.NDArray[Any]:
        """The index of each profile or, where it would overflow, a hash of its codes."""
        if self._schema.countable:
            return profile_index(self._schema, profiles)
        return hash_rows(profiles, self._salt)


def hash_rows(codes: Codes, salt: int = 0) -> npt.NDArray[np.uint64]:
    """Hash rows of codes: equal rows have equal numbers, and others hardly ever.

    Parameters
    ----------
    codes : shape (rows, covariates)
        Codes of profiles or queries.
    salt
        Another one gives other numbers.

    Returns
    -------
    array, shape (rows,)
        Numbers of 64 bits, mixed as by S. Vigna's splitmix64.
    """
    found = np.full(len(codes), salt + 1, dtype=np.uint64)
    for column in codes.T:
        found ^= column.astype(np.int64).view(np.uint64)
        found *= np.uint64(0xBF58476D1CE4E5B9)
        found ^= found >> np.uint64(27)
        found *= np.uint64(0x94D049BB133111EB)
        found ^= found >> np.uint64(31)
    return found
