"""Marginalisation over all profiles: a query is a sum over those that it covers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from pnsight._typing import Float32Array, FloatArray, IndexArray
from pnsight.data.profiles import profile_index
from pnsight.data.schema import Codes, Schema
from pnsight.models.response_types.marginalise import (
    Arrays,
    Marginaliser,
    Representation,
    Values,
    identity,
    with_people,
)
from pnsight.models.response_types.replace_counts import CountReplacement
from pnsight.queries import lattice

_SUMMED_VALUES = 20_000_000

_CACHED = 4
"""Ways to ask of which the values of all profiles are kept, as a server is asked in the same way again."""

_MIN_MASS = 1e-300
"""What is left of a profile's smooth mass where rounding left nothing of it: people can still ask for the profile."""


@dataclass(frozen=True)
class EnumeratedProfiles(Marginaliser):
    """Every profile that the covariates allow.

    Attributes
    ----------
    schema : Schema
    profile_types : array of shape (members, profiles, types)
    masses : array of shape (members, tables, profiles)
        P(profile) in each table.
    """

    schema: Schema
    profile_types: Float32Array
    masses: FloatArray

    representation: ClassVar[Representation] = "enumerated"

    @property
    def members(self) -> int:  # type: ignore[override]
        """How many members there are."""
        return len(self.profile_types)

    def types(self, codes: Codes, weights: FloatArray, members: int) -> Iterator[FloatArray]:
        """Distribution over the types of each query, shape (queries, types), for each of the first members."""
        for found in self._means_of_several(codes, weights, members, identity):
            yield from found / found.sum(axis=2, keepdims=True)

    def means(self, codes: Codes, weights: FloatArray, members: int, values: Values) -> Iterator[FloatArray]:
        """Mean of `values` over the people of each query, shape (queries, k), for each of the first members."""
        for found in self._means_of_several(codes, weights, members, values):
            yield from found

    def _means_of_several(
        self, codes: Codes, weights: FloatArray, members: int, values: Values
    ) -> Iterator[FloatArray]:
        """Means of as many members at a time as there is room for, shape (some members, queries, k)."""
        flat = self._weighted(tuple(map(float, weights)), members, values)
        size = min(self.schema.n_queries, max(len(codes), len(flat)))
        columns = self.profile_types.shape[2] + 1  # of a profile at most: its types, and one for its people
        at_once = max(1, _SUMMED_VALUES // (columns * size))
        for start in range(0, members, at_once):
            group = flat[:, start : start + at_once]
            sums = lattice.sum_over(self.schema, codes, self._profiles, group.reshape(len(flat), -1))
            sums = sums.reshape(len(codes), *group.shape[1:])
            yield np.moveaxis(sums[..., :-1] / sums[..., -1:], 1, 0)

    @cached_property
    def _profiles(self) -> Codes:
        """All profiles, shape (profiles, covariates)."""
        return lattice.all_profiles(self.schema)

    @cached_property
    def _weighted(self) -> Callable[[tuple[float, ...], int, Values], FloatArray]:
        """`_weigh`, cached."""
        return lru_cache(_CACHED)(self._weigh)

    def _weigh(self, weights: tuple[float, ...], members: int, values: Values) -> FloatArray:
        """Values of every profile and, last, a one for its people, times its mass; shape (profiles, members, k + 1)."""
        mass = np.tensordot(self.masses[:members], np.array(weights), axes=(1, 0))
        each = zip(mass, self.profile_types, strict=False)
        return np.stack([share[:, None] * with_people(values, types) for share, types in each], axis=1)

    def shares(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """Share of the people that are in each query, by the estimate, shape (queries,)."""
        mass = weights @ self.masses[0]
        return lattice.sum_over(self.schema, codes, self._profiles, mass[:, None])[:, 0]

    def replace_counts(self, replacement: CountReplacement, profiles: Codes) -> Self:
        """The same networks with other counts of the study's profiles, shape (profiles, covariates)."""
        place = profile_index(self.schema, profiles)
        types, masses = self._replace_types(replacement, place), self._replace_masses(replacement, place)
        return replace(self, profile_types=types, masses=masses)

    def _replace_types(self, replacement: CountReplacement, place: IndexArray) -> Float32Array:
        types, changed = self.profile_types.copy(), replacement.changed
        for member in replacement.own_members[replacement.own_members < len(types)]:
            own = types[member, place[changed]].astype(np.float64)
            types[member, place[changed]] = replacement.shrink(replacement.prior_mode(own, changed), changed)
        return types

    def _replace_masses(self, replacement: CountReplacement, place: IndexArray) -> FloatArray:
        masses = self.masses.copy()
        parts = zip(replacement.empirical_parts, replacement.empirical_parts_after, replacement.rows(), strict=True)
        for table, (part, part_after, (before, after)) in enumerate(parts):
            smooth = masses[0, table].copy()
            smooth[place] -= part.empirical_weight * before / (before.sum() or 1.0)
            mass = (1 - part_after.empirical_weight) * np.maximum(smooth, _MIN_MASS) / (1 - part.empirical_weight)
            mass[place] += part_after.empirical_weight * after / (after.sum() or 1.0)
            changed = place[before != after]
            masses[:, table, changed] = mass[changed]
            masses[:, table] /= masses[:, table].sum(axis=1, keepdims=True)
            masses[replacement.own_members, table] = mass
        return masses

    def __getstate__(self) -> dict[str, Any]:
        """Without what is cached."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def arrays(self) -> Arrays:
        """Types and masses."""
        return {"profile_types": self.profile_types, "masses": self.masses}

    @classmethod
    def from_arrays(cls, schema: Schema, profiles: Codes, arrays: Arrays) -> Self:
        """What `arrays` described."""
        types, masses = arrays["profile_types"], arrays["masses"]
        if {types.shape[1], masses.shape[2]} != {schema.n_profiles}:
            raise ValueError(f"arrays of {types.shape[1]} profiles do not fit covariates of {schema.n_profiles}")
        return cls(schema, types, masses)
