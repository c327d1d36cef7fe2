"""What a response-type model would say with other counts of the same profiles, its networks as they are.

Counts enter it twice: each profile's types are shrunk to them, and a share of the covariate law is the profiles as
counted. Both are undone and done again. Studies that were simulated to find intervals have counts of their own, which
are not kept; where the counts of a profile change, their share of it becomes the estimate's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pnsight.data.law import FloatArray
from pnsight.data.profiles import profile_index
from pnsight.data.schema import Codes
from pnsight.data.study import Study
from pnsight.models.mlp_numpy import mean_shares
from pnsight.models.response_types.marginalise import CountedProfiles, ListedProfiles, Mixing
from pnsight.models.response_types.shrinkage import centre_of, posterior

_LEAST_MASS = 1e-300
"""What is left of a profile's smooth mass where rounding left nothing of it: people can still ask for the profile."""


@dataclass(frozen=True)
class Mix:
    """How the covariate law of a table was made: the weight of profiles as counted, and whether of both tables."""

    seen: float
    borrowed: bool


@dataclass(frozen=True)
class Recount:
    """Counts before and after, and what the model chose.

    Attributes
    ----------
    before, after : shape (profiles, 8)
    strength : rows that the networks are worth
    mixes : one a table
    own : members that were fitted to the counts themselves
    """

    before: FloatArray
    after: FloatArray
    strength: float
    mixes: Sequence[Mix]
    own: npt.NDArray[np.intp]

    @classmethod
    def between(
        cls, before: Study, after: Study, strength: float, mixes: Sequence[Mix], own: npt.NDArray[np.intp]
    ) -> Recount:
        """From two studies with the same profiles."""
        return cls(before.eight_counts, after.eight_counts, strength, mixes, own)

    @property
    def changed(self) -> npt.NDArray[np.bool_]:
        """Profiles whose counts are others than before, shape (profiles,)."""
        return np.asarray((self.before != self.after).any(axis=1))

    @property
    def mixes_after(self) -> list[Mix]:
        """What is no longer counted is left to the smooth part of the covariate law."""
        return [
            replace(mix, seen=mix.seen * after.sum() / (before.sum() or 1.0))
            for mix, (before, after) in zip(self.mixes, self.people(), strict=True)
        ]

    def people(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """For each table, the rows of each profile that its covariate law counts, before and after."""
        for table, mix in enumerate(self.mixes):
            cells = slice(None) if mix.borrowed else slice(4 * table, 4 * table + 4)
            yield self.before[:, cells].sum(axis=1), self.after[:, cells].sum(axis=1)


def recounted(mixing: Mixing, recount: Recount, profiles: Codes) -> Mixing:
    """The mixing with the counts as they are after; `profiles` are those of the study, shape (profiles, covariates)."""
    if isinstance(mixing, CountedProfiles):
        return _counted(mixing, recount)
    assert isinstance(mixing, ListedProfiles)
    place = profile_index(mixing.schema, profiles)
    types, masses = _listed_types(mixing, recount, place), _listed_masses(mixing, recount, place)
    return replace(mixing, profile_types=types, masses=masses)


def _listed_types(mixing: ListedProfiles, recount: Recount, place: npt.NDArray[np.intp]) -> npt.NDArray[np.float32]:
    types, changed = mixing.profile_types.copy(), recount.changed
    before, after = recount.before[changed], recount.after[changed]
    for member in recount.own[recount.own < len(types)]:
        own = types[member, place[changed]].astype(np.float64)
        types[member, place[changed]] = posterior(centre_of(own, before, recount.strength), after, recount.strength)
    return types


def _listed_masses(mixing: ListedProfiles, recount: Recount, place: npt.NDArray[np.intp]) -> FloatArray:
    masses = mixing.masses.copy()
    tables = zip(recount.mixes, recount.mixes_after, recount.people(), strict=True)
    for table, (mix, mix_after, (before, after)) in enumerate(tables):
        smooth = masses[0, table].copy()
        smooth[place] -= mix.seen * before / (before.sum() or 1.0)
        mass = (1 - mix_after.seen) * np.maximum(smooth, _LEAST_MASS) / (1 - mix.seen)
        mass[place] += mix_after.seen * after / (after.sum() or 1.0)
        changed = place[before != after]
        masses[:, table, changed] = mass[changed]
        masses[:, table] /= masses[:, table].sum(axis=1, keepdims=True)
        masses[recount.own, table] = mass
    return masses


def _counted(mixing: CountedProfiles, recount: Recount) -> CountedProfiles:
    left = recount.after.any(axis=1)
    types, counted = mixing.profile_types.copy(), mixing.counted.copy()
    changed = recount.changed & left
    inputs = mixing.schema.effect_coding(mixing.profiles[changed])
    for member in recount.own[recount.own < len(types)]:
        centre = mean_shares(mixing.networks[member], inputs)
        types[member, changed] = posterior(centre, recount.after[changed], recount.strength)
    for table, (before, after) in enumerate(recount.people()):
        shares = after / (after.sum() or 1.0)
        counted[:, table, before != after] = shares[before != after]
        counted[:, table] /= np.maximum(counted[:, table].sum(axis=1, keepdims=True), np.finfo(np.float32).tiny)
        counted[recount.own, table] = shares
    return replace(
        mixing,
        profiles=mixing.profiles[left],
        profile_types=types[:, left],
        counted=counted[:, :, left],
        seen=np.array([mix.seen for mix in recount.mixes_after]),
    )
