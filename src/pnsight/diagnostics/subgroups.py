"""Subgroups that are tested: everyone, those that fix one covariate or two, and whole profiles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, vstack

from pnsight.data.profiles import distinct_profiles
from pnsight.data.schema import OPEN, Codes, Schema

EVERYONE, ONE, TWO, PROFILE = "everyone", "one covariate", "two covariates", "profile"

_MAX_WORK = 20_000_000  # profiles times sets of covariates: about a second


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
    pairs = len(varying) * (len(varying) - 1) // 2
    too_many = pairs * len(profiles) > _MAX_WORK
    found = [
        _subgroups_fixing(schema, profiles, fixed, kind) for kind, fixed in _faces(varying, with_pairs=not too_many)
    ]
    return Subgroups(
        np.concatenate([part.codes for part in found]),
        np.concatenate([part.kinds for part in found]),
        vstack([part.covers for part in found], format="csr"),
        too_many,
    )


def _faces(varying: list[int], with_pairs: bool) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Sets of covariates to fix, each once: with two covariates a pair is a profile already."""
    yield EVERYONE, ()
    yield from ((ONE, (j,)) for j in varying)
    if with_pairs:
        yield from ((TWO, pair) for pair in combinations(varying, 2))
    if len(varying) > 2:
        yield PROFILE, tuple(varying)


def _subgroups_fixing(schema: Schema, profiles: Codes, fixed: tuple[int, ...], kind: str) -> Subgroups:
    """The subgroups that fix these covariates."""
    part = Schema(tuple(schema.covariates[j] for j in fixed))
    levels, place = distinct_profiles(part, profiles[:, list(fixed)])
    codes = np.full((len(levels), len(schema.names)), OPEN, dtype=np.int32)
    codes[:, list(fixed)] = levels
    ones = np.ones(len(profiles))
    covers = csr_array((ones, (place, np.arange(len(profiles)))), shape=(len(levels), len(profiles)))
    return Subgroups(codes, np.full(len(levels), kind), covers, False)
