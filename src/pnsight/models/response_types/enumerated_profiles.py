"""Marginalisation over all profiles: a query is a sum over those that it covers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self

import numpy as np

from pnsight._typing import Float32Array, FloatArray
from pnsight.data.profiles import profile_index
from pnsight.data.schema import Codes, Schema
from pnsight.models.response_types.marginalise import (
    Arrays,
    Marginaliser,
    Representation,
    Values,
    with_people,
)
from pnsight.queries import lattice

_CACHED = 4
"""Ways to ask of which the values of all profiles are kept, as a server is asked in the same way again."""


@dataclass(frozen=True)
class EnumeratedProfiles(Marginaliser):
    """Every profile that the covariates allow.

    Attributes
    ----------
    schema : Schema
    profile_types : array of shape (profiles, types)
    masses : array of shape (tables, profiles)
        P(profile) in each table.
    profile_errors : array of shape (profiles, groups)
        Relative error of the law of each profile; NaN in a model without intervals.
    """

    schema: Schema
    profile_types: Float32Array
    masses: FloatArray
    profile_errors: Float32Array

    representation: ClassVar[Representation] = "enumerated"

    def means(self, codes: Codes, weights: FloatArray, values: Values) -> FloatArray:
        """Mean of `values` over the people of each query, shape (queries, k)."""
        flat = self._weighted(tuple(map(float, weights)), values)
        sums = lattice.sum_over(self.schema, codes, self._profiles, flat)
        return np.asarray(sums[:, :-1] / sums[:, -1:])

    def errors(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """Mean relative error of the law of the profiles of each query's people, shape (queries, groups)."""
        mass = weights @ self.masses
        flat = mass[:, None] * np.column_stack([self.profile_errors, np.ones(len(mass))])
        sums = lattice.sum_over(self.schema, codes, self._profiles, flat)
        return np.asarray(sums[:, :-1] / sums[:, -1:])

    def profile_types_at(self, profiles: Codes) -> FloatArray:
        """Types of single profiles, shape (profiles, types)."""
        return self.profile_types[profile_index(self.schema, profiles)].astype(np.float64)

    @cached_property
    def _profiles(self) -> Codes:
        """All profiles, shape (profiles, covariates)."""
        return lattice.all_profiles(self.schema)

    @cached_property
    def _weighted(self) -> Callable[[tuple[float, ...], Values], FloatArray]:
        """`_weigh`, cached."""
        return lru_cache(_CACHED)(self._weigh)

    def _weigh(self, weights: tuple[float, ...], values: Values) -> FloatArray:
        """Values of every profile and, last, a one for its people, times its mass; shape (profiles, k + 1)."""
        mass = np.array(weights) @ self.masses
        return np.asarray(mass[:, None] * with_people(values, self.profile_types))

    def shares(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """Share of the people that are in each query, shape (queries,)."""
        mass = weights @ self.masses
        return lattice.sum_over(self.schema, codes, self._profiles, mass[:, None])[:, 0]

    def __getstate__(self) -> dict[str, Any]:
        """Without what is cached."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def only(self, tables: Sequence[int], groups: Sequence[int]) -> Self:
        """What concerns some tables and some groups of cells."""
        return replace(self, masses=self.masses[list(tables)], profile_errors=self.profile_errors[:, list(groups)])

    def arrays(self) -> Arrays:
        """Types, masses and errors."""
        return {name: getattr(self, name) for name in ("profile_types", "masses", "profile_errors")}

    @classmethod
    def from_arrays(cls, schema: Schema, profiles: Codes, arrays: Arrays) -> Self:
        """What `arrays` described."""
        types, masses, errors = (arrays[name] for name in ("profile_types", "masses", "profile_errors"))
        if {len(types), masses.shape[1], len(errors)} != {schema.n_profiles}:
            raise ValueError(f"arrays of {len(types)} profiles do not fit covariates of {schema.n_profiles}")
        return cls(schema, types, masses, errors)
