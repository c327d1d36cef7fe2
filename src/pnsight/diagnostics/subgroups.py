"""Subgroups that are tested: everyone, those that fix one covariate or two, and whole profiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from pnsight.data.profiles import distinct_numbers, distinct_profiles
from pnsight.data.schema import OPEN, Codes, Schema

EVERYONE, ONE, TWO, PROFILE = "everyone", "one covariate", "two covariates", "profile"

_MAX_WORK = 20_000_000  # profiles times sets of covariates: about a second
_MAX_CODES = 50_000_000  # subgroups times covariates: 200 megabytes
_AT_ONCE = 2_000_000  # profiles times sets of covariates


@dataclass(frozen=True)
class Subgroups:
    """Subgroups of a set of profiles.

    Attributes
    ----------
    codes : shape (subgroups, covariates)
    kinds : shape (subgroups,)
    covers : shape (subgroups, profiles)
        One where the subgroup has the profile.
    pairs_left_out : whether there were too many pairs of covariates to enumerate
    """

    codes: Codes
    kinds: npt.NDArray[np.str_]
    covers: csr_array
    pairs_left_out: bool


def enumerate_subgroups(schema: Schema, profiles: Codes) -> Subgroups:
    """All subgroups of the four kinds that have one of the profiles.

    Parameters
    ----------
    schema, profiles
        The covariates, and the profiles' codes, shape (profiles, covariates).

    Returns
    -------
    the subgroups; without pairs of covariates where those would be too many
    """
    varying = [j for j, levels in enumerate(schema.shape) if levels > 1]
    too_many = _too_many_pairs(schema, varying, len(profiles))
    found = list(_subgroups(schema, profiles, varying, with_pairs=not too_many))
    return Subgroups(
        np.concatenate([part.codes for part in found]),
        np.concatenate([part.kinds for part in found]),
        vstack([part.covers for part in found], format="csr"),
        too_many,
    )


def _too_many_pairs(schema: Schema, varying: list[int], profiles: int) -> bool:
    """Whether subgroups that fix two covariates would take too long to find, or too much memory to list."""
    pairs, width = len(varying) * (len(varying) - 1) // 2, len(schema.names)
    if pairs * profiles > _MAX_WORK or pairs * width > _MAX_CODES:
        return True
    sizes = np.array([schema.shape[j] for j in varying])
    subgroups = sum(int(np.minimum(sizes[at] * sizes[at + 1 :], profiles).sum()) for at in range(len(sizes)))
    return subgroups * width > _MAX_CODES


def _subgroups(schema: Schema, profiles: Codes, varying: list[int], with_pairs: bool) -> Iterator[Subgroups]:
    """The subgroups, those that fix the same covariate first together: with two covariates a pair is a profile."""
    yield _fixing_all(schema, profiles, [], EVERYONE)
    yield from _fixing_each(schema, profiles, (), varying, ONE)
    if with_pairs:
        for at, first in enumerate(varying):
            yield from _fixing_each(schema, profiles, (first,), varying[at + 1 :], TWO)
    if len(varying) > 2:
        yield _fixing_all(schema, profiles, varying, PROFILE)


def _fixing_all(schema: Schema, profiles: Codes, fixed: list[int], kind: str) -> Subgroups:
    """The subgroups that fix all of these covariates."""
    part = Schema(tuple(schema.covariates[j] for j in fixed))
    levels, place = distinct_profiles(part, profiles[:, fixed])
    codes = np.full((len(levels), len(schema.names)), OPEN, dtype=np.int32)
    codes[:, fixed] = levels
    return Subgroups(codes, np.full(len(levels), kind), _covers(place[None, :], len(levels)), False)


def _fixing_each(
    schema: Schema, profiles: Codes, first: tuple[int, ...], others: list[int], kind: str
) -> Iterator[Subgroups]:
    """The subgroups that fix each of the others by itself, or with the first covariate; as many at once as fit."""
    step = max(1, _AT_ONCE // max(1, len(profiles)))
    columns = np.ascontiguousarray(profiles.T, dtype=np.intp)
    for start in range(0, len(others), step):
        some = np.array(others[start : start + step])
        sizes = np.array(schema.shape)[some]
        ends = np.cumsum(sizes * (schema.shape[first[0]] if first else 1))
        begins = np.concatenate([[0], ends[:-1]])
        of_first = columns[first[0]] * sizes[:, None] if first else 0
        numbers, place = distinct_numbers((begins[:, None] + of_first + columns[some]).ravel(), int(ends[-1]))
        which = np.searchsorted(ends, numbers, side="right")
        levels = numbers - begins[which]
        codes = np.full((len(numbers), len(schema.names)), OPEN, dtype=np.int32)
        codes[np.arange(len(numbers)), some[which]] = levels % sizes[which]
        if first:
            codes[:, first[0]] = levels // sizes[which]
        covers = _covers(place.reshape(len(some), len(profiles)), len(numbers))
        yield Subgroups(codes, np.full(len(numbers), kind), covers, False)


def _covers(place: npt.NDArray[np.intp], subgroups: int) -> csr_array:
    """Which subgroups have which profiles; each row of `place`, shape (sets, profiles), says where one set has them."""
    sets, profiles = place.shape
    order = np.argsort(place.ravel(), kind="stable")
    begins = np.concatenate([[0], np.cumsum(np.bincount(place.ravel(), minlength=subgroups))])
    return csr_array((np.ones(sets * profiles), order % max(1, profiles), begins), shape=(subgroups, profiles))
