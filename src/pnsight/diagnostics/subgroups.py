"""Which subgroups are looked at: everyone, those that fix one covariate or two, and whole profiles."""

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

_MOST_WORK = 20_000_000  # profiles times sets of covariates: about a second


@dataclass(frozen=True)
class Looks:
    """Subgroups of a set of profiles.

    Attributes
    ----------
    codes : shape (looks, covariates)
    kinds : shape (looks,)
    covers : shape (looks, profiles)
        One where the subgroup has the profile.
    pairs_left_out : whether there were too many pairs of covariates to look at
    """

    codes: Codes
    kinds: npt.NDArray[np.str_]
    covers: csr_array
    pairs_left_out: bool


def looks_at(schema: Schema, profiles: Codes) -> Looks:
    """All subgroups of the four kinds that have one of the profiles."""
    varying = [j for j, levels in enumerate(schema.shape) if levels > 1]
    pairs = len(varying) * (len(varying) - 1) // 2
    too_many = pairs * len(profiles) > _MOST_WORK
    found = [_look(schema, profiles, fixed, kind) for kind, fixed in _faces(varying, with_pairs=not too_many)]
    return Looks(
        np.concatenate([look.codes for look in found]),
        np.concatenate([look.kinds for look in found]),
        vstack([look.covers for look in found], format="csr"),
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


def _look(schema: Schema, profiles: Codes, fixed: tuple[int, ...], kind: str) -> Looks:
    """The subgroups that fix these covariates."""
    part = Schema(tuple(schema.covariates[j] for j in fixed))
    levels, place = distinct_profiles(part, profiles[:, list(fixed)])
    codes = np.full((len(levels), len(schema.names)), OPEN, dtype=np.int32)
    codes[:, list(fixed)] = levels
    ones = np.ones(len(profiles))
    covers = csr_array((ones, (place, np.arange(len(profiles)))), shape=(len(levels), len(profiles)))
    return Looks(codes, np.full(len(levels), kind), covers, False)
