"""Marginalisation over reference people: a weighted sample of people stands for everyone, however many there are.

A query that fixes levels and ranges is the mean over the reference people in it. One that fixes a number and leaves
something else open is the mean over people near that number, with the number in the place of their own: of them only
the covariates that the query leaves open are borrowed; unless so many have that very number that nobody else is needed.
The same goes for queries that hardly anybody fits. A query that
fixes every covariate to a level or number is what the networks say there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple, Self, get_args

import numpy as np

from pnsight._typing import BoolArray, Float32Array, FloatArray, IndexArray
from pnsight.data.number_codes import high_ends, is_range, low_ends, pack
from pnsight.data.number_scale import Coding
from pnsight.data.schema import OPEN, Codes, Schema
from pnsight.models.response_types.law_errors import ERROR_FLOOR, distances
from pnsight.models.response_types.marginalise import (
    Arrays,
    Marginaliser,
    Representation,
    Values,
    network_arrays,
    networks_from,
    with_people,
)
from pnsight.models.response_types.profile_inputs import Network, ProfileInputs
from pnsight.models.stored_profiles import profiles_in, profiles_out
from pnsight.queries import lattice

_CACHED = 4
"""Ways to ask of which the values of all reference people are kept."""

_CACHED_NEIGHBOURS = 256
"""Queries whose neighbours are kept, as one query is asked about in several ways."""

_FEW_QUERIES = 64
"""Queries asked about together of which it is kept how they are answered, since that is asked several times."""

_MIN_PEOPLE = 64.0
"""Fewer people than this do not stand for all of a query: those near it are asked as well."""

_NEIGHBOURS = 0.2
"""Neighbours of a query are this times the number of people to the power of 4/5, as kernel regression wants it."""

_LEAST_NEIGHBOURS, _MOST_NEIGHBOURS = 32, 2048

_SEEN: dict[Coding, str] = {
    "standardised": "them standardised",
    "piecewise": "their ranks, and how far they are through each eighth of the people",
    "stepped": "their ranks, and which twentieths of the people they have passed",
}

_ANOTHER_LEVEL = 10.0
"""How much further away people of another level are than the furthest number."""


class Neighbours(NamedTuple):
    """People near a query, moved to it: their types (people, types), errors (people, groups), and weights (people,).

    `bandwidths` says by covariate how far from the number asked about they were.
    """

    types: FloatArray
    errors: FloatArray
    weights: FloatArray
    bandwidths: dict[int, float]


@dataclass(frozen=True)
class ReferencePeople(Marginaliser):
    """A weighted sample of people, and the networks.

    Attributes
    ----------
    schema : Schema
    people : array of shape (people, covariates)
    people_types : array of shape (people, types)
    masses : array of shape (tables, people)
        Share of each table's people that each stands for.
    networks : sequence of Network
        Their mean speaks for anybody.
    error_weights : array of shape (features, groups)
        Logarithm of the relative error of the law, linear in features of a person; NaN in a model without intervals.
    between : array of shape (groups,)
        Variance of the law between people, relative to what one row tells.
    """

    schema: Schema
    people: Codes
    people_types: Float32Array
    masses: FloatArray
    networks: Sequence[Network]
    error_weights: FloatArray
    between: FloatArray

    representation: ClassVar[Representation] = "reference"

    # --- means over people -------------------------------------------------------------------------------

    def means(self, codes: Codes, weights: FloatArray, values: Values) -> FloatArray:
        """Mean of `values` over the people of each query, shape (queries, k)."""
        columns = values(np.full((1, self.people_types.shape[1]), 1 / self.people_types.shape[1])).shape[1]
        found = np.empty((len(codes), columns))
        single, near, summed = self._kinds(codes, weights)
        if single.any():
            found[single] = values(self._types_by_networks(codes[single]))
        for place in np.flatnonzero(near):
            neighbours = self.neighbours(codes[place], weights)
            found[place] = neighbours.weights @ values(neighbours.types)
        if summed.any():
            mass = weights @ self.masses
            sums = lattice.sum_over(self.schema, codes[summed], self.people, self._valued(values), weights=mass)
            found[summed] = sums[:, :-1] / sums[:, -1:]
        return found

    def errors(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """Mean relative error of the law of each query's people, shape (queries, groups)."""
        found = np.empty((len(codes), self.error_weights.shape[1]))
        single, near, summed = self._kinds(codes, weights)
        found[single] = self.errors_at(codes[single])
        for place in np.flatnonzero(near):
            neighbours = self.neighbours(codes[place], weights)
            found[place] = neighbours.weights @ neighbours.errors
        if summed.any():
            mass = weights @ self.masses
            sums = lattice.sum_over(self.schema, codes[summed], self.people, self._people_errors, weights=mass)
            found[summed] = sums[:, :-1] / sums[:, -1:]
        return found

    def sampling_errors(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """Relative error of each query's law as its people are a sample, shape (queries, groups)."""
        single, near, _ = self._kinds(codes, weights)
        number = self._effective_people(codes, weights)
        for place in np.flatnonzero(near):
            number[place] = 1 / np.square(self.neighbours(codes[place], weights).weights).sum()
        return np.where(single[:, None], 0.0, np.sqrt(self.between / np.maximum(number, 1.0)[:, None]))

    def shares(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """Share of the people that are in each query, shape (queries,)."""
        mass = weights @ self.masses
        return lattice.sum_over(self.schema, codes, self.people, mass[:, None])[:, 0]

    def profile_types_at(self, profiles: Codes) -> FloatArray:
        """Types of single people, shape (people, types): as they were learned if these are the reference people."""
        if profiles.shape == self.people.shape and (profiles == self.people).all():
            return self.people_types.astype(np.float64)
        return self._types_by_networks(profiles)

    def _types_by_networks(self, profiles: Codes) -> FloatArray:
        """What the networks say of single people, whoever else is asked about, shape (people, types)."""
        return ProfileInputs(self.schema, profiles).mean_types(self.networks)

    def errors_at(self, profiles: Codes) -> FloatArray:
        """Relative errors of the laws of single people, shape (people, groups)."""
        return np.exp(error_features(self.schema.effect_coding(profiles)) @ self.error_weights)

    # --- which people ------------------------------------------------------------------------------------

    def _kinds(self, codes: Codes, weights: FloatArray) -> tuple[BoolArray, BoolArray, BoolArray]:
        """Queries about single people, about people near, and about people in them; each of shape (queries,)."""
        if len(codes) > _FEW_QUERIES:
            return self._find_kinds(codes, weights)
        wide = np.ascontiguousarray(codes, dtype=self.people.dtype)
        return self._cached_kinds(wide.tobytes(), codes.shape, tuple(map(float, weights)))

    @cached_property
    def _cached_kinds(self) -> Callable[..., tuple[BoolArray, BoolArray, BoolArray]]:
        def find(packed: bytes, shape: tuple[int, int], weights: tuple[float, ...]) -> tuple[BoolArray, ...]:
            codes = np.frombuffer(packed, dtype=self.people.dtype).reshape(shape)
            return self._find_kinds(codes, np.array(weights))

        return lru_cache(_CACHED)(find)  # type: ignore[return-value]

    def _find_kinds(self, codes: Codes, weights: FloatArray) -> tuple[BoolArray, BoolArray, BoolArray]:
        ranges = np.zeros(codes.shape, dtype=bool, order="F")
        for j in self.schema.numeric:
            ranges[:, j] = is_range(codes[:, j])
        single = ~((codes == OPEN) | ranges).any(axis=1)
        if single.all():
            return single, ~single, ~single
        points = np.zeros(codes.shape, dtype=bool)
        numeric = list(self.schema.numeric)
        points[:, numeric] = (codes[:, numeric] != OPEN) & ~ranges[:, numeric]
        asked = np.flatnonzero(~single & (codes != OPEN).any(axis=1))
        neighbours = _neighbours_among(int(np.count_nonzero(weights @ self.masses)))
        enough = np.where(points[asked].any(axis=1), max(_MIN_PEOPLE, neighbours), _MIN_PEOPLE)
        near = np.zeros(len(codes), dtype=bool)
        near[asked] = self._effective_people(codes[asked], weights) < enough
        return single, near, ~single & ~near

    def _effective_people(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """How many people of equal weight those in each query are worth, shape (queries,)."""
        mass = weights @ self.masses
        sums = lattice.sum_over(self.schema, codes, self.people, np.column_stack([mass, mass**2]))
        return np.asarray(sums[:, 0] ** 2 / np.maximum(sums[:, 1], 1e-300))

    def neighbours(self, query: Codes, weights: FloatArray) -> Neighbours:
        """The people near a query (covariates,), moved to it."""
        return self._cached_neighbours(query.astype(self.people.dtype).tobytes(), tuple(map(float, weights)))

    @cached_property
    def _cached_neighbours(self) -> Callable[[bytes, tuple[float, ...]], Neighbours]:
        return lru_cache(_CACHED_NEIGHBOURS)(self._find_neighbours)

    def _find_neighbours(self, packed: bytes, weights: tuple[float, ...]) -> Neighbours:
        query = np.frombuffer(packed, dtype=self.people.dtype)
        mass = np.array(weights) @ self.masses
        some = np.flatnonzero(mass)
        apart = distances(self.schema, query[None], self.people[some], _ANOTHER_LEVEL)[0]
        nearest, furthest = nearest_people(apart, _neighbours_among(len(some)))
        far = furthest * (1 + 1e-9)
        kernel = 1 - (apart[nearest] / far) ** 2 if far > 0 else np.ones(len(nearest))  # Epanechnikov's
        found = mass[some[nearest]] * np.maximum(kernel, 1e-9)
        people = self.people[some[nearest]]
        moved = self._moved(people, query)
        types = self._types_by_networks(moved)
        if (moved == people).all():  # then the answer is that of a range with many people
            types = self.people_types[some[nearest]].astype(np.float64)
        errors = self.errors_at(moved)
        return Neighbours(types, errors, found / found.sum(), self._bandwidths(people, query))

    def _moved(self, people: Codes, query: Codes) -> Codes:
        """People with what the query fixes in the place of their own; numbers are brought into its ranges."""
        moved = np.where(query == OPEN, people, query)
        for j, scale in self.schema.numeric.items():
            if query[j] != OPEN:
                low, high = float(low_ends(query[j])), float(high_ends(query[j]))
                own = low_ends(people[:, j])
                own = np.where(np.isinf(own), scale.centre, own)
                brought = np.clip(own, low, high) if np.isfinite(low) else np.full(len(people), low)
                moved[:, j] = pack(brought, brought)
        return moved

    def _bandwidths(self, people: Codes, query: Codes) -> dict[int, float]:
        """By numeric covariate that the query fixes to a number seen, how far the people's own are from it at most."""
        found = {}
        for j, scale in self.schema.numeric.items():
            number = float(low_ends(query[j]))
            if query[j] != OPEN and number == float(high_ends(query[j])) and np.isfinite(number):
                own = low_ends(people[:, j])
                if not scale.low <= number <= scale.high:
                    continue
                found[j] = float(np.abs(own[np.isfinite(own)] - number).max(initial=0.0))
        return found

    def bandwidths(self, codes: Codes, weights: FloatArray) -> dict[int, float]:
        """By numeric covariate, how far from a number that was asked about the people are that it was averaged over."""
        found: dict[int, float] = {}
        _, near, _ = self._kinds(codes, weights)
        for place in np.flatnonzero(near):
            for j, width in self.neighbours(codes[place], weights).bandwidths.items():
                found[j] = max(width, found.get(j, 0.0))
        return found

    def explained(self) -> list[str]:
        """How networks see numbers, and how many people answers are averaged over."""
        return [f"Numbers: {self._seen()}. Answers are averaged over {len(self.people):,} reference people."]

    def _seen(self) -> str:
        if len(self.networks) == 1 and len(self.networks[0].layers) == 1:
            return "random effects go by their groups, and single people by a log-linear network fitted to these"
        seeing = Counter(network.coding for network in self.networks)
        if len(seeing) == 1:
            seen = f"networks see {_SEEN[self.networks[0].coding]}"
        else:
            seen = "; ".join(f"{number} networks see {_SEEN[coding]}" for coding, number in seeing.items())
        return f"{seen}, as predicted held-out rows best"

    @cached_property
    def _valued(self) -> Callable[[Values], FloatArray]:
        """Values of the reference people and, last, a one for each, shape (people, k + 1); cached."""
        return lru_cache(_CACHED)(lambda values: with_people(values, self.people_types))

    @cached_property
    def _people_errors(self) -> FloatArray:
        """Errors of the reference people, and a one for each, shape (people, groups + 1)."""
        return np.column_stack([self.errors_at(self.people), np.ones(len(self.people))])

    def __getstate__(self) -> dict[str, Any]:
        """Without what is cached."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    # --- storing -----------------------------------------------------------------------------------------

    def only(self, tables: Sequence[int], groups: Sequence[int]) -> Self:
        """What concerns some tables and some groups of cells."""
        return replace(
            self,
            masses=self.masses[list(tables)],
            error_weights=self.error_weights[:, list(groups)],
            between=self.between[list(groups)],
        )

    def arrays(self) -> Arrays:
        """People, types, shares, errors and networks."""
        own = {name: getattr(self, name) for name in _OWN_ARRAYS}
        own |= profiles_out("people", self.schema, self.people)
        codings = np.array([get_args(Coding).index(network.coding) for network in self.networks])
        return {**own, "codings": codings, **network_arrays([network.layers for network in self.networks])}

    @classmethod
    def from_arrays(cls, schema: Schema, profiles: Codes, arrays: Arrays) -> Self:
        """What `arrays` described."""
        types, masses, errors, between = (arrays[name] for name in _OWN_ARRAYS)
        layers, people = networks_from(arrays), profiles_in("people", schema, arrays)
        if len(types) != len(people) or masses.shape[1] != len(people):
            raise ValueError(f"arrays of {len(types)} and {masses.shape[1]} people do not fit {len(people)}")
        numbers, last = arrays["codings"].tolist(), len(get_args(Coding)) - 1
        if len(numbers) != len(layers) or not all(0 <= number <= last for number in numbers):
            raise ValueError(f"codings are {numbers}; expected {len(layers)} numbers from 0 to {last}")
        networks = [Network(each, get_args(Coding)[number]) for each, number in zip(layers, numbers, strict=True)]
        for network in networks:
            inputs, columns = network.layers[0][0].shape[1], schema.effect_coding(people[:0], network.coding).shape[1]
            if inputs != columns:
                raise ValueError(f"networks of {inputs} inputs do not fit covariates of {columns}")
        return cls(schema, people, types, masses, networks, errors, between)


_OWN_ARRAYS = ("people_types", "masses", "error_weights", "between")


def _neighbours_among(people: int) -> int:
    """How many neighbours a number has among so many people."""
    return int(np.clip(_NEIGHBOURS * people**0.8, _LEAST_NEIGHBOURS, _MOST_NEIGHBOURS))


def nearest_people(apart: FloatArray, number: int) -> tuple[IndexArray, float]:
    """Who is nearest, without a choice among people who are equally far.

    Parameters
    ----------
    apart : array of shape (people,)
        How far each is.
    number
        How many to find, about.

    Returns
    -------
    nearest : array of shape (found,)
        Their positions. Of those at the furthest distance all or, where they are very many, none; if nobody is nearer,
        every so many of them.
    furthest : float
        The furthest distance.
    """
    furthest = float(np.partition(apart, min(number, len(apart)) - 1)[min(number, len(apart)) - 1])
    within, nearer = np.flatnonzero(apart <= furthest), np.flatnonzero(apart < furthest)
    if len(within) <= 2 * number:
        return within, furthest
    return (nearer if len(nearer) else within[:: len(within) // number]), furthest


def error_features(inputs: Float32Array) -> FloatArray:
    """What the logarithm of an error is linear in: the inputs and their squares, shape (people, 1 + 2 columns)."""
    wide = inputs.astype(np.float64)
    return np.column_stack([np.ones(len(wide)), wide, wide**2])


def fit_errors(inputs: Float32Array, errors: FloatArray) -> FloatArray:
    """Errors as a smooth function of the covariates, since a few simulated studies show each one badly.

    Parameters
    ----------
    inputs : array of shape (people, columns)
        People as networks see them.
    errors : array of shape (people, groups)
        Relative errors of their laws; NaN where there are none.

    Returns
    -------
    array of shape (features, groups)
        By ridge regression of the logarithms, and then so that the mean squared error is kept.
    """
    features = error_features(inputs)
    if np.isnan(errors).any():
        return np.full((features.shape[1], errors.shape[1]), np.nan)
    logs = np.log(np.maximum(errors, ERROR_FLOOR))
    ridge = np.eye(features.shape[1]) * len(features) * 1e-3
    found = np.linalg.solve(features.T @ features + ridge, features.T @ logs)
    fitted = np.exp(2 * features @ found).mean(axis=0)
    found[0] += np.log(np.maximum(np.square(errors).mean(axis=0), ERROR_FLOOR**2) / fitted) / 2
    return np.asarray(found)


def draw_people(rows: FloatArray, most: int, rng: np.random.Generator) -> IndexArray:
    """Positions of reference people, at most so many: all, or a sample by how many rows each has.

    Parameters
    ----------
    rows : array of shape (people,)
        How many rows each stands for.
    most : int
        How many to draw at most.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    array of shape (drawn,), in order
        Systematic sampling: a person with more than one step of rows may be drawn more than once.
    """
    if len(rows) <= most:
        return np.arange(len(rows))
    order = rng.permutation(len(rows))
    ends = np.cumsum(rows[order])
    points = (np.arange(most) + rng.random()) * (ends[-1] / most)
    return np.sort(order[np.searchsorted(ends, points).clip(max=len(rows) - 1)])
