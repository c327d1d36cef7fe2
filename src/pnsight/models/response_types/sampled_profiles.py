"""Marginalisation by sampling: profiles that have rows are summed, and sampled ones stand for the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from pnsight._typing import Float32Array, FloatArray, IndexArray
from pnsight.data.profiles import ProfileLookup
from pnsight.data.schema import OPEN, Codes, Schema
from pnsight.models.mlp_numpy import Layers, mean_probabilities
from pnsight.models.response_types.latent_classes import LatentClasses
from pnsight.models.response_types.marginalise import (
    Arrays,
    Marginaliser,
    Representation,
    Values,
    network_arrays,
    networks_from,
    with_people,
)
from pnsight.queries import lattice

_CACHED = 4
"""Ways to ask of which the values of counted profiles are kept."""

_SMOOTH_ROWS = 300.0
"""Rows of a query at which its counted profiles stand for half of what would otherwise be sampled."""

_MANY_ROWS = 1000.0
"""Rows of a query from which on its counted profiles stand for everyone."""


class _ProfileInputs(NamedTuple):
    """Single profiles, as networks see them (profiles, columns), and which of those counted they are, -1 for none."""

    inputs: Float32Array
    places: IndexArray


@dataclass(frozen=True)
class SampledProfiles(Marginaliser):
    """Profiles that have rows, and a quasi-random sample of those that have none.

    Attributes
    ----------
    schema : Schema
    profiles : array of shape (profiles, covariates)
    profile_types : array of shape (profiles, types)
        With the profile's own rows in it.
    empirical : array of shape (tables, profiles)
        Share of each table's people that have the profile.
    empirical_weight : array of shape (tables,)
        Share of the people that those counted stand for; the rest are sampled. In a query that has many rows, those
        counted stand for more.
    table_rows : array of shape (tables,)
        Rows that the shares were counted in.
    smooth : sequence of LatentClasses
        One a table.
    networks : sequence of Layers
        Their mean speaks for profiles that were not counted.
    group_errors : array of shape (2, groups)
        Relative error of the law of profiles that were counted and of others; NaN in a model without intervals.
    sobol_points : array of shape (draws, 1 + covariates)
        Numbers between 0 and 1 that spread evenly.
    """

    schema: Schema
    profiles: Codes
    profile_types: Float32Array
    empirical: Float32Array
    empirical_weight: FloatArray
    table_rows: FloatArray
    smooth: Sequence[LatentClasses]
    networks: Sequence[Layers]
    group_errors: FloatArray
    sobol_points: FloatArray

    representation: ClassVar[Representation] = "sampled"

    @property
    def _n_types(self) -> int:
        return int(self.profile_types.shape[1])

    def means(self, codes: Codes, weights: FloatArray, values: Values) -> FloatArray:
        """Mean of `values` over the people of each query, shape (queries, k)."""
        columns = values(np.full((1, self._n_types), 1 / self._n_types)).shape[1]
        found = np.empty((len(codes), columns))
        exact = ~(codes == OPEN).any(axis=1)
        if exact.any():
            found[exact] = values(self._answer(self._inputs_of(codes[exact])))
        partly = np.flatnonzero(~exact)
        found[partly] = self._means_of_open(codes[partly], weights, values)
        return found

    def errors(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """Relative error of the law of each query's profiles, shape (queries, groups)."""
        counted = self._counted_shares(codes, weights)
        known = counted / np.maximum(counted + self._sampled_shares(codes, weights), 1e-300)
        return np.asarray(known[:, None] * self.group_errors[0] + (1 - known[:, None]) * self.group_errors[1])

    def profile_types_at(self, profiles: Codes) -> FloatArray:
        """Types of single profiles, shape (profiles, types)."""
        return self._answer(self._inputs_of(profiles))

    def shares(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """Share of the people that are in each query, shape (queries,)."""
        return self._counted_shares(codes, weights) + self._sampled_shares(codes, weights)

    def _counted_shares(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """Share of the people that the counted profiles of each query stand for, shape (queries,)."""
        share = (weights * self.empirical_weight) @ self.empirical
        return lattice.sum_over(self.schema, codes, self.profiles, share[:, None])[:, 0]

    def _sampled_shares(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """Share of the people that sampled profiles of each query stand for, shape (queries,)."""
        sampled = [
            weight * (1 - empirical_weight) * classes.mass(codes)
            for weight, empirical_weight, classes in zip(weights, self.empirical_weight, self.smooth, strict=True)
        ]
        return np.asarray(np.sum(sampled, axis=0))

    @cached_property
    def _counted(self) -> Callable[[Values], FloatArray]:
        """Values of the counted profiles and, last, a one for their people, shape (profiles, k + 1); cached."""
        return lru_cache(_CACHED)(lambda values: with_people(values, self.profile_types))

    def __getstate__(self) -> dict[str, Any]:
        """Without what is cached."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _means_of_open(self, codes: Codes, weights: FloatArray, values: Values) -> FloatArray:
        """Means of the values over the people of queries that leave covariates open, shape (queries, k)."""
        own = self._counted(values)
        sums = np.zeros((len(codes), own.shape[1]))
        for table in map(int, np.flatnonzero(weights)):
            counted = lattice.sum_over(self.schema, codes, self.profiles, own, weights=self.empirical[table])
            mass = self.smooth[table].mass(codes)
            known, sampled = self._weigh(table, counted[:, -1], mass)
            sums += weights[table] * known[:, None] * counted
            for place in np.flatnonzero(sampled):
                drawn = self._sampled_mean(table, codes[place], values)
                sums[place] += weights[table] * sampled[place] * mass[place] * drawn
        return np.asarray(sums[:, :-1] / sums[:, -1:])

    def _weigh(self, table: int, counted: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weights of the counted profiles and of the sampled ones of queries, by the rows that each has.

        `counted` and `mass` are the shares of people who are in the query, by rows and by latent classes.
        """
        empirical = float(self.empirical_weight[table])
        rows = counted * self.table_rows[table]
        spoken_for = np.where(rows >= _MANY_ROWS, 1.0, rows / (rows + _SMOOTH_ROWS))
        moved = (1 - empirical) * mass * spoken_for  # people who are no longer sampled
        known = empirical + np.divide(moved, counted, out=np.zeros_like(moved), where=counted > 0)
        return known, (1 - empirical) * (1 - spoken_for)

    def _sampled_mean(self, table: int, query: npt.NDArray[np.int32], values: Values) -> FloatArray:
        """Mean over draws from the latent classes within a query, shape (k + 1,)."""
        sample = self._inputs_of(self.smooth[table].draw(query, self.sobol_points))
        return np.asarray(with_people(values, self._answer(sample)).mean(axis=0))

    def _answer(self, profiles: _ProfileInputs) -> FloatArray:
        """Types of profiles (profiles, types): the mean of the networks, with their own rows if counted."""
        counted = profiles.places >= 0
        found = np.empty((len(counted), self._n_types))
        found[counted] = self.profile_types[profiles.places[counted]]
        found[~counted] = mean_probabilities(self.networks, profiles.inputs[~counted])
        return found

    def _inputs_of(self, profiles: Codes) -> _ProfileInputs:
        """Profiles as networks see them, and where they are among those counted."""
        return _ProfileInputs(self.schema.effect_coding(profiles), self._index.find(profiles))

    @cached_property
    def _index(self) -> ProfileLookup:
        return ProfileLookup(self.schema, self.profiles)

    def only(self, tables: Sequence[int], groups: Sequence[int]) -> Self:
        """What concerns some tables and some groups of cells."""
        return replace(
            self,
            empirical=self.empirical[list(tables)],
            empirical_weight=self.empirical_weight[list(tables)],
            table_rows=self.table_rows[list(tables)],
            smooth=[self.smooth[table] for table in tables],
            group_errors=self.group_errors[:, list(groups)],
        )

    def arrays(self) -> Arrays:
        """Types, shares, errors, latent classes, networks and Sobol points."""
        classes = {
            f"classes.{table}.{part}": getattr(found, part)
            for table, found in enumerate(self.smooth)
            for part in ("class_probabilities", "category_probabilities")
        }
        return {**{name: getattr(self, name) for name in _OWN_ARRAYS}, **network_arrays(self.networks), **classes}

    @classmethod
    def from_arrays(cls, schema: Schema, profiles: Codes, arrays: Arrays) -> Self:
        """What `arrays` described."""
        networks = networks_from(arrays)
        smooth = [
            LatentClasses(
                arrays[f"classes.{table}.class_probabilities"],
                arrays[f"classes.{table}.category_probabilities"],
                schema.shape,
            )
            for table in range(len(arrays["empirical_weight"]))
        ]
        types, empirical, weight, rows, errors, points = (arrays[name] for name in _OWN_ARRAYS)
        if types.ndim != 2 or len(types) != len(profiles):
            raise ValueError(f"types of shape {types.shape} do not fit {len(profiles)} profiles")
        inputs, columns = networks[0][0][0].shape[1], schema.effect_coding(profiles[:0]).shape[1]
        if inputs != columns:
            raise ValueError(f"networks of {inputs} inputs do not fit covariates of {columns}")
        return cls(schema, profiles, types, empirical, weight, rows, smooth, networks, errors, points)


_OWN_ARRAYS = ("profile_types", "empirical", "empirical_weight", "table_rows", "group_errors", "sobol_points")
