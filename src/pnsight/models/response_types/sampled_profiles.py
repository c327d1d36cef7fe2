"""Marginalisation by sampling: profiles that have rows are summed, and sampled ones stand for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
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
    identity,
    with_people,
)
from pnsight.models.response_types.replace_counts import CountReplacement
from pnsight.queries import lattice

_SPREAD_PROFILES = 512
"""Profiles, counted and again sampled, that members other than the estimate are asked about for a query.

Of more counted, every k-th speaks for all, and of those sampled the first: it is the difference to the estimate at the
same profiles that matters.
"""


class _ProfileInputs(NamedTuple):
    """Single profiles, as networks see them (profiles, columns), and which of those counted they are, -1 for none."""

    inputs: Float32Array
    places: IndexArray

    def first(self, count: int) -> _ProfileInputs:
        """The first of them."""
        return _ProfileInputs(self.inputs[:count], self.places[:count])


@dataclass(frozen=True)
class SampledProfiles(Marginaliser):
    """Profiles that have rows, and a quasi-random sample of those that have none.

    Attributes
    ----------
    schema : Schema
    profiles : array of shape (profiles, covariates)
    profile_types : array of shape (members, profiles, types), or (1, profiles, types)
        With the profile's own rows in it; of the estimate alone where they count for nothing beside the networks.
    empirical : array of shape (members, tables, profiles)
        Share of each table's people that have the profile.
    empirical_weight : array of shape (tables,)
        Share of the people that those counted stand for; the rest are sampled.
    smooth : sequence of LatentClasses
        One a table.
    networks : sequence of sequences of Layers
        For each member one or more, whose mean it is.
    sobol_points : array of shape (draws, 1 + covariates)
        Numbers between 0 and 1 that spread evenly.
    """

    schema: Schema
    profiles: Codes
    profile_types: Float32Array
    empirical: Float32Array
    empirical_weight: FloatArray
    smooth: Sequence[LatentClasses]
    networks: Sequence[Sequence[Layers]]
    sobol_points: FloatArray

    representation: ClassVar[Representation] = "sampled"

    @property
    def members(self) -> int:  # type: ignore[override]
        """How many members there are."""
        return len(self.networks)

    @property
    def _n_types(self) -> int:
        return int(self.profile_types.shape[2])

    def types(self, codes: Codes, weights: FloatArray, members: int) -> Iterator[FloatArray]:
        """Distribution over the types of each query, shape (queries, types), for each of the first members."""
        for found in self.means(codes, weights, members, identity):
            some = np.maximum(found, 0)
            yield some / some.sum(axis=1, keepdims=True)

    def means(self, codes: Codes, weights: FloatArray, members: int, values: Values) -> Iterator[FloatArray]:
        """Mean of `values` over the people of each query, shape (queries, k), for each of the first members."""
        columns = values(np.full((1, self._n_types), 1 / self._n_types)).shape[1]
        found = np.empty((members, len(codes), columns))
        exact = ~(codes == OPEN).any(axis=1)
        if exact.any():
            inputs = self._inputs_of(codes[exact])
            found[:, exact] = [values(self._answer(member, inputs)) for member in range(members)]
        for place in np.flatnonzero(~exact):
            found[:, place] = self._mean_of_one(codes[place], weights, members, values)
        yield from found

    def shares(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """Share of the people that are in each query, by the estimate, shape (queries,)."""
        counted = (weights * self.empirical_weight) @ self.empirical[0]
        sampled = [
            weight * (1 - empirical_weight) * classes.mass(codes)
            for weight, empirical_weight, classes in zip(weights, self.empirical_weight, self.smooth, strict=True)
        ]
        found = lattice.sum_over(self.schema, codes, self.profiles, counted[:, None])[:, 0]
        return np.asarray(found + np.sum(sampled, axis=0))

    def _mean_of_one(
        self, query: npt.NDArray[np.int32], weights: FloatArray, members: int, values: Values
    ) -> FloatArray:
        """Mean of the values over the people of one query that leaves covariates open, shape (members, k)."""
        any_counted = (weights * self.empirical_weight).any()
        covered = lattice.matching_profiles(self.profiles, query) if any_counted else np.arange(0)
        found: FloatArray | float = 0.0
        for table, weight in enumerate(weights):
            empirical = self.empirical_weight[table]
            if weight and empirical:
                found += weight * empirical * self._counted_part(table, covered, members, values)
            if weight:
                found += weight * (1 - empirical) * self._sampled_part(table, query, members, values)
        sums = np.asarray(found)
        return np.asarray(sums[:, :-1] / sums[:, -1:])

    def _counted_part(self, table: int, covered: IndexArray, members: int, values: Values) -> FloatArray:
        """Sum of values over the counted profiles of a query, and of people, shape (members, k + 1)."""
        shares = self.empirical[:members, table]
        total = shares[:, covered] @ with_people(values, self.profile_types[0, covered])
        if members > 1 and len(covered):
            some = covered[:: -(-len(covered) // _SPREAD_PROFILES)]
            weights = shares[0, some] * (shares[0, covered].sum() / max(shares[0, some].sum(), 1e-30))
            inputs = _ProfileInputs(self.schema.effect_coding(self.profiles[some]), some)
            total += self._differences(inputs, self._answer(0, inputs), weights, values, members)
        return np.asarray(total)

    def _sampled_part(self, table: int, query: npt.NDArray[np.int32], members: int, values: Values) -> FloatArray:
        """Mean over draws from the latent classes within a query, times its mass, shape (members, k + 1)."""
        classes = self.smooth[table]
        sample = self._inputs_of(classes.draw(query, self.sobol_points))
        estimate = self._answer(0, sample)
        mean = np.tile(with_people(values, estimate).mean(axis=0), (members, 1))
        if members > 1:
            some = sample.first(_SPREAD_PROFILES)
            weights = np.full(len(some.places), 1 / len(some.places))
            mean += self._differences(some, estimate[:_SPREAD_PROFILES], weights, values, members)
        return np.asarray(classes.mass(query[None])[0] * mean)

    def _differences(
        self, inputs: _ProfileInputs, estimate: FloatArray, weights: FloatArray, values: Values, members: int
    ) -> FloatArray:
        """Weighted sum over profiles of what each member says beyond the estimate there, shape (members, k + 1)."""
        each = [estimate, *(self._answer(member, inputs) for member in range(1, members))]
        sums = np.stack([weights @ with_people(values, answer) for answer in each])
        return np.asarray(sums - sums[0])

    def _answer(self, member: int, profiles: _ProfileInputs) -> FloatArray:
        """Types of profiles (profiles, types): the mean of a member's networks, with their own rows if counted."""
        if member >= len(self.profile_types):
            return mean_probabilities(self.networks[member], profiles.inputs)
        counted = profiles.places >= 0
        found = np.empty((len(counted), self._n_types))
        found[counted] = self.profile_types[member, profiles.places[counted]]
        found[~counted] = mean_probabilities(self.networks[member], profiles.inputs[~counted])
        return found

    def _inputs_of(self, profiles: Codes) -> _ProfileInputs:
        """Profiles as networks see them, and where they are among those counted."""
        return _ProfileInputs(self.schema.effect_coding(profiles), self._index.find(profiles))

    @cached_property
    def _index(self) -> ProfileLookup:
        return ProfileLookup(self.schema, self.profiles)

    def replace_counts(self, replacement: CountReplacement, profiles: Codes) -> Self:
        """The same networks with other counts of the study's profiles, which are this object's own."""
        left = replacement.after.any(axis=1)
        weights = [part.empirical_weight for part in replacement.empirical_parts_after]
        return replace(
            self,
            profiles=self.profiles[left],
            profile_types=self._replace_types(replacement)[:, left],
            empirical=self._replace_empirical(replacement)[:, :, left],
            empirical_weight=np.array(weights),
        )

    def _replace_types(self, replacement: CountReplacement) -> Float32Array:
        types, changed = self.profile_types.copy(), replacement.changed & replacement.after.any(axis=1)
        inputs = self.schema.effect_coding(self.profiles[changed])
        for member in replacement.own_members[replacement.own_members < len(types)]:
            types[member, changed] = replacement.shrink(mean_probabilities(self.networks[member], inputs), changed)
        return types

    def _replace_empirical(self, replacement: CountReplacement) -> Float32Array:
        empirical = self.empirical.copy()
        for table, (before, after) in enumerate(replacement.rows()):
            shares = after / (after.sum() or 1.0)
            empirical[:, table, before != after] = shares[before != after]
            sums = empirical[:, table].sum(axis=1, keepdims=True)
            empirical[:, table] /= np.maximum(sums, np.finfo(np.float32).tiny)
            empirical[replacement.own_members, table] = shares
        return empirical

    def arrays(self) -> Arrays:
        """Types, shares, latent classes, networks and Sobol points."""
        networks = {
            f"network.{member}.{k}.{layer}.{part}": array
            for member, group in enumerate(self.networks)
            for k, network in enumerate(group)
            for layer, pair in enumerate(network)
            for part, array in zip(("weights", "bias"), pair, strict=True)
        }
        classes = {
            f"classes.{table}.{part}": getattr(found, part)
            for table, found in enumerate(self.smooth)
            for part in ("class_probabilities", "category_probabilities")
        }
        own = {name: getattr(self, name) for name in ("profile_types", "empirical", "empirical_weight", "sobol_points")}
        return {**own, **networks, **classes}

    @classmethod
    def from_arrays(cls, schema: Schema, profiles: Codes, arrays: Arrays) -> Self:
        """What `arrays` described."""
        networks = _networks_from(arrays)
        smooth = [
            LatentClasses(
                arrays[f"classes.{table}.class_probabilities"],
                arrays[f"classes.{table}.category_probabilities"],
                schema.shape,
            )
            for table in range(len(arrays["empirical_weight"]))
        ]
        types = arrays["profile_types"]
        if types.ndim != 3 or types.shape[1] != len(profiles) or len(types) not in (1, len(networks)):
            raise ValueError(
                f"types of shape {types.shape} do not fit {len(networks)} members, {len(profiles)} profiles"
            )
        inputs, columns = networks[0][0][0][0].shape[1], schema.effect_coding(profiles[:0]).shape[1]
        if inputs != columns:
            raise ValueError(f"networks of {inputs} inputs do not fit covariates of {columns}")
        empirical, weight, points = (arrays[name] for name in ("empirical", "empirical_weight", "sobol_points"))
        return cls(schema, profiles, types, empirical, weight, smooth, networks, points)


def _networks_from(arrays: Arrays) -> list[list[Layers]]:
    """The networks of each member, from arrays with names like ``network.MEMBER.K.LAYER.weights``."""
    grouped: dict[int, dict[int, dict[int, dict[str, Any]]]] = {}
    for name in arrays:
        if name.startswith("network."):
            member, k, layer, part = name.split(".")[1:]
            of_member = grouped.setdefault(int(member), {}).setdefault(int(k), {})
            of_member.setdefault(int(layer), {})[part] = arrays[name]
    return [
        [
            tuple((layers[number]["weights"], layers[number]["bias"]) for number in sorted(layers))
            for _, layers in sorted(group.items())
        ]
        for _, group in sorted(grouped.items())
    ]
