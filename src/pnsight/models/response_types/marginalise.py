"""From the types of profiles to the types of queries: the mean over the people that a query covers.

A member is one version of what was learned: the first is the estimate, the others show how far it may be off. Where all
profiles can be listed, a member is a table of types and masses, and a query is a sum. Where they cannot, profiles that
were counted are summed, and draws with fixed random numbers stand for the rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pnsight.data.law import FloatArray
from pnsight.data.profiles import ProfileLookup
from pnsight.data.schema import OPEN, Codes, Schema
from pnsight.models.mlp_numpy import Layers, mean_shares
from pnsight.models.response_types.latent_classes import LatentClasses
from pnsight.queries import lattice

MOST_LISTED = 2**14
"""Profiles are listed if they are no more than this."""

DRAWS = 1024
"""Profiles drawn to stand for the smooth part of a query; a power of two, as the sequence wants."""

SPREAD_PROFILES = 512
"""Profiles, counted and again drawn, that members other than the estimate are asked about for a query.

Of more counted, every k-th speaks for all, and of draws the first: it is the difference to the estimate at the same
profiles that matters.
"""

_SUMMED_VALUES = 20_000_000

Arrays = Mapping[str, npt.NDArray[Any]]

Values: TypeAlias = Callable[[FloatArray], FloatArray]
"""From the types of profiles, shape (profiles, 8), to what the mean over people is taken of, shape (profiles, k).

Hashable: what equal ones make of all profiles is remembered.
"""

_REMEMBERED = 4
"""Ways to ask of which the values of all listed profiles are kept, as a server is asked in the same way again."""

_MOST_VALUES = 9
"""Columns that are summed at once for a profile: its types, or fewer, and one for its people."""


class Mixing(ABC):
    """Types of queries, for each member.

    `weights` say how much of each table's people a population has, shape (tables,).
    """

    members: int

    @abstractmethod
    def types(self, codes: Codes, weights: FloatArray, members: int) -> Iterator[FloatArray]:
        """Distribution over the types of each query, shape (queries, 8), for each of the first so many members."""

    @abstractmethod
    def shares(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """Share of the people that are in each query, by the estimate, shape (queries,)."""

    @abstractmethod
    def means(self, codes: Codes, weights: FloatArray, members: int, values: Values) -> Iterator[FloatArray]:
        """Mean of `values` over the people of each query, shape (queries, k), for each of the first so many members."""

    @abstractmethod
    def arrays(self) -> Arrays:
        """All there is to it beside the schema, for storing."""


@dataclass(frozen=True)
class ListedProfiles(Mixing):
    """Every profile that the covariates allow.

    Attributes
    ----------
    schema : Schema
    profile_types : shape (members, profiles, 8)
    masses : shape (members, tables, profiles)
        P(profile) in each table.
    """

    schema: Schema
    profile_types: npt.NDArray[np.float32]
    masses: FloatArray

    @property
    def members(self) -> int:  # type: ignore[override]
        """How many members there are."""
        return len(self.profile_types)

    def types(self, codes: Codes, weights: FloatArray, members: int) -> Iterator[FloatArray]:
        """Distribution over the types of each query, shape (queries, 8), for each of the first so many members."""
        for found in self._in_groups(codes, weights, members, _themselves):
            yield from found / found.sum(axis=2, keepdims=True)

    def means(self, codes: Codes, weights: FloatArray, members: int, values: Values) -> Iterator[FloatArray]:
        """Mean of `values` over the people of each query, shape (queries, k), for each of the first so many members."""
        for found in self._in_groups(codes, weights, members, values):
            yield from found

    def _in_groups(self, codes: Codes, weights: FloatArray, members: int, values: Values) -> Iterator[FloatArray]:
        """Means of as many members at a time as there is room for, shape (some members, queries, k)."""
        flat = self._weighed(tuple(map(float, weights)), members, values)
        cells = min(self.schema.n_queries, max(len(codes), len(flat)))
        at_once = max(1, _SUMMED_VALUES // (_MOST_VALUES * cells))
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
    def _weighed(self) -> Callable[[tuple[float, ...], int, Values], FloatArray]:
        """`_weigh`, which remembers."""
        return lru_cache(_REMEMBERED)(self._weigh)

    def _weigh(self, weights: tuple[float, ...], members: int, values: Values) -> FloatArray:
        """Values of every profile and, last, a one for its people, times its mass; shape (profiles, members, k + 1)."""
        mass = np.tensordot(self.masses[:members], np.array(weights), axes=(1, 0))
        each = zip(mass, self.profile_types, strict=False)
        return np.stack([share[:, None] * _with_people(values, types) for share, types in each], axis=1)

    def shares(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """Share of the people that are in each query, by the estimate, shape (queries,)."""
        mass = weights @ self.masses[0]
        return lattice.sum_over(self.schema, codes, self._profiles, mass[:, None])[:, 0]

    def __getstate__(self) -> dict[str, Any]:
        """Without what is remembered."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def arrays(self) -> Arrays:
        """Types and masses."""
        return {"profile_types": self.profile_types, "masses": self.masses}

    @classmethod
    def from_arrays(cls, schema: Schema, arrays: Arrays) -> ListedProfiles:
        """What `arrays` described."""
        types, masses = arrays["profile_types"], arrays["masses"]
        if {types.shape[1], masses.shape[2]} != {schema.n_profiles}:
            raise ValueError(f"arrays of {types.shape[1]} profiles do not fit covariates of {schema.n_profiles}")
        return cls(schema, types, masses)


class _Asked(NamedTuple):
    """Single profiles, as networks see them (profiles, columns), and which of those counted they are, -1 for none."""

    inputs: npt.NDArray[np.float32]
    places: npt.NDArray[np.intp]

    def first(self, count: int) -> _Asked:
        """The first of them."""
        return _Asked(self.inputs[:count], self.places[:count])


@dataclass(frozen=True)
class CountedProfiles(Mixing):
    """Profiles that have rows, and draws for those that have none.

    Attributes
    ----------
    schema : Schema
    profiles : shape (profiles, covariates)
    profile_types : shape (members, profiles, 8), or (1, profiles, 8)
        With the profile's own rows in it; of the estimate alone where they count for nothing beside the networks.
    counted : shape (members, tables, profiles)
        Share of each table's people that have the profile.
    seen : shape (tables,)
        Share of the people that those counted stand for; the rest are drawn.
    smooth : one a table
    networks : for each member one or more, whose mean it is
    uniform : shape (draws, 1 + covariates)
        Numbers between 0 and 1 that spread evenly.
    """

    schema: Schema
    profiles: Codes
    profile_types: npt.NDArray[np.float32]
    counted: npt.NDArray[np.float32]
    seen: FloatArray
    smooth: Sequence[LatentClasses]
    networks: Sequence[Sequence[Layers]]
    uniform: FloatArray

    @property
    def members(self) -> int:  # type: ignore[override]
        """How many members there are."""
        return len(self.networks)

    def types(self, codes: Codes, weights: FloatArray, members: int) -> Iterator[FloatArray]:
        """Distribution over the types of each query, shape (queries, 8), for each of the first so many members."""
        for found in self.means(codes, weights, members, _themselves):
            some = np.maximum(found, 0)
            yield some / some.sum(axis=1, keepdims=True)

    def means(self, codes: Codes, weights: FloatArray, members: int, values: Values) -> Iterator[FloatArray]:
        """Mean of `values` over the people of each query, shape (queries, k), for each of the first so many members."""
        found = np.empty((members, len(codes), values(np.full((1, 8), 1 / 8)).shape[1]))
        exact = ~(codes == OPEN).any(axis=1)
        if exact.any():
            asked = self._asked(codes[exact])
            found[:, exact] = [values(self._answer(member, asked)) for member in range(members)]
        for place in np.flatnonzero(~exact):
            found[:, place] = self._one(codes[place], weights, members, values)
        yield from found

    def shares(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """Share of the people that are in each query, by the estimate, shape (queries,)."""
        counted = (weights * self.seen) @ self.counted[0]
        drawn = [
            weight * (1 - seen) * classes.mass(codes)
            for weight, seen, classes in zip(weights, self.seen, self.smooth, strict=True)
        ]
        found = lattice.sum_over(self.schema, codes, self.profiles, counted[:, None])[:, 0]
        return np.asarray(found + np.sum(drawn, axis=0))

    def _one(self, query: npt.NDArray[np.int32], weights: FloatArray, members: int, values: Values) -> FloatArray:
        """Mean of the values over the people of one query that leaves covariates open, shape (members, k)."""
        covered = lattice.matching_profiles(self.profiles, query) if (weights * self.seen).any() else np.arange(0)
        found: FloatArray | float = 0.0
        for table, weight in enumerate(weights):
            if weight and self.seen[table]:
                found += weight * self.seen[table] * self._counted_part(table, covered, members, values)
            if weight:
                found += weight * (1 - self.seen[table]) * self._drawn_part(table, query, members, values)
        sums = np.asarray(found)
        return np.asarray(sums[:, :-1] / sums[:, -1:])

    def _counted_part(self, table: int, covered: npt.NDArray[np.intp], members: int, values: Values) -> FloatArray:
        """Sum of values over the counted profiles of a query, and of people, shape (members, k + 1)."""
        shares = self.counted[:members, table]
        total = shares[:, covered] @ _with_people(values, self.profile_types[0, covered])
        if members > 1 and len(covered):
            some = covered[:: -(-len(covered) // SPREAD_PROFILES)]
            weights = shares[0, some] * (shares[0, covered].sum() / max(shares[0, some].sum(), 1e-30))
            asked = _Asked(self.schema.effect_coding(self.profiles[some]), some)
            total += self._differences(asked, self._answer(0, asked), weights, values, members)
        return np.asarray(total)

    def _drawn_part(self, table: int, query: npt.NDArray[np.int32], members: int, values: Values) -> FloatArray:
        """Mean over draws from the latent classes within a query, times its mass, shape (members, k + 1)."""
        classes = self.smooth[table]
        drawn = self._asked(classes.draw(query, self.uniform))
        estimate = self._answer(0, drawn)
        mean = np.tile(_with_people(values, estimate).mean(axis=0), (members, 1))
        if members > 1:
            weights = np.full(SPREAD_PROFILES, 1 / SPREAD_PROFILES)
            some = drawn.first(SPREAD_PROFILES)
            mean += self._differences(some, estimate[:SPREAD_PROFILES], weights, values, members)
        return np.asarray(classes.mass(query[None])[0] * mean)

    def _differences(
        self, asked: _Asked, estimate: FloatArray, weights: FloatArray, values: Values, members: int
    ) -> FloatArray:
        """Weighted sum over profiles of what each member says beyond the estimate there, shape (members, k + 1)."""
        each = [estimate, *(self._answer(member, asked) for member in range(1, members))]
        sums = np.stack([weights @ _with_people(values, answer) for answer in each])
        return np.asarray(sums - sums[0])

    def _answer(self, member: int, asked: _Asked) -> FloatArray:
        """Types of profiles, shape (profiles, 8): the mean of a member's networks, with their own rows if counted."""
        if member >= len(self.profile_types):
            return mean_shares(self.networks[member], asked.inputs)
        counted = asked.places >= 0
        found = np.empty((len(counted), 8))
        found[counted] = self.profile_types[member, asked.places[counted]]
        found[~counted] = mean_shares(self.networks[member], asked.inputs[~counted])
        return found

    def _asked(self, profiles: Codes) -> _Asked:
        """Profiles as networks see them, and where they are among those counted."""
        return _Asked(self.schema.effect_coding(profiles), self._index.find(profiles))

    @cached_property
    def _index(self) -> ProfileLookup:
        return ProfileLookup(self.schema, self.profiles)

    def arrays(self) -> Arrays:
        """Types, shares, classes, networks and random numbers."""
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
            for part in ("shares", "levels")
        }
        own = {
            "profile_types": self.profile_types,
            "counted": self.counted,
            "seen": self.seen,
            "uniform": self.uniform,
        }
        return {**own, **networks, **classes}

    @classmethod
    def from_arrays(cls, schema: Schema, profiles: Codes, arrays: Arrays) -> CountedProfiles:
        """What `arrays` described."""
        grouped: dict[int, dict[int, dict[int, dict[str, Any]]]] = {}
        for name in arrays:
            if name.startswith("network."):
                member, k, layer, part = name.split(".")[1:]
                of_member = grouped.setdefault(int(member), {}).setdefault(int(k), {})
                of_member.setdefault(int(layer), {})[part] = arrays[name]
        networks = [
            [
                tuple((layers[number]["weights"], layers[number]["bias"]) for number in sorted(layers))
                for _, layers in sorted(group.items())
            ]
            for _, group in sorted(grouped.items())
        ]
        smooth = [
            LatentClasses(arrays[f"classes.{table}.shares"], arrays[f"classes.{table}.levels"], schema.shape)
            for table in range(len(arrays["seen"]))
        ]
        counted, seen, uniform = (arrays[name] for name in ("counted", "seen", "uniform"))
        types = arrays["profile_types"].reshape(-1, len(profiles), 8)
        if len(types) not in (1, len(networks)):
            raise ValueError(f"types of {len(types)} members do not fit networks of {len(networks)}")
        inputs, columns = networks[0][0][0][0].shape[1], schema.effect_coding(profiles[:0]).shape[1]
        if inputs != columns:
            raise ValueError(f"networks of {inputs} inputs do not fit covariates of {columns}")
        return cls(schema, profiles, types, counted, seen, smooth, networks, uniform)


def _themselves(types: FloatArray) -> FloatArray:
    return types


def _with_people(values: Values, types: npt.NDArray[np.floating[Any]]) -> FloatArray:
    """The values of profiles, and a column of ones that will sum up their people."""
    found = values(types.astype(np.float64))
    return np.column_stack([found, np.ones(len(found))])
