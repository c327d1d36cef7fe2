"""From the types of profiles to the types of queries: the mean over the people that a query covers.

A member is one version of what was learned: the first is the estimate, the others show how far it may be off. Where all
profiles can be listed, a member is a table of types and masses, and a query is a sum. Where they cannot, profiles that
were counted are summed, and draws with fixed random numbers stand for the rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pnsight import lattice
from pnsight.law import FloatArray
from pnsight.models.covariate_law import LatentClasses
from pnsight.models.forward import Layers, mean_shares
from pnsight.schema import OPEN, Codes, Schema

MOST_LISTED = 2**14
"""Profiles are listed if they are no more than this."""

DRAWS = 1024
"""Profiles drawn to stand for the smooth part of a query; a power of two, as the sequence wants."""

MOST_SPREAD_PROFILES = 2048
"""Counted profiles of a query that bootstrap members are asked about; of more, every k-th speaks for all."""

_SUMMED_VALUES = 20_000_000

Arrays = Mapping[str, npt.NDArray[Any]]


class Mixing(ABC):
    """Types of queries, for each member.

    `weights` say how much of each table's people a population has, shape (tables,).
    """

    members: int

    @abstractmethod
    def types(self, codes: Codes, weights: FloatArray, members: int) -> Iterator[FloatArray]:
        """Distribution over the types of each query, shape (queries, 8), for each of the first so many members."""

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
    masses: npt.NDArray[np.float32]

    @property
    def members(self) -> int:  # type: ignore[override]
        """How many members there are."""
        return len(self.profile_types)

    def types(self, codes: Codes, weights: FloatArray, members: int) -> Iterator[FloatArray]:
        """Distribution over the types of each query, shape (queries, 8), for each of the first so many members."""
        profiles = lattice.exact_queries(self.schema)
        at_once = max(1, _SUMMED_VALUES // (8 * min(self.schema.mask_size, max(len(codes), len(profiles)))))
        for start in range(0, members, at_once):
            group = slice(start, min(start + at_once, members))
            mass = np.tensordot(self.masses[group], weights, axes=(1, 0))
            values = mass[:, :, None] * self.profile_types[group]
            flat = np.moveaxis(values, 0, 1).reshape(len(profiles), -1)
            sums = lattice.sum_over(self.schema, codes, profiles, flat).reshape(len(codes), -1, 8)
            for k in range(sums.shape[1]):
                yield sums[:, k] / sums[:, k].sum(axis=1, keepdims=True)

    def arrays(self) -> Arrays:
        """Types and masses."""
        return {"profile_types": self.profile_types, "masses": self.masses}

    @classmethod
    def from_arrays(cls, schema: Schema, arrays: Arrays) -> ListedProfiles:
        """What `arrays` described."""
        return cls(schema, arrays["profile_types"], arrays["masses"])


@dataclass(frozen=True)
class CountedProfiles(Mixing):
    """Profiles that have rows, and draws for those that have none.

    Attributes
    ----------
    schema : Schema
    profiles : shape (profiles, covariates)
    profile_types : shape (profiles, 8)
        The estimate, with the profile's own rows in it.
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
        found = np.empty((members, len(codes), 8))
        for place, query in enumerate(codes):
            found[:, place] = self._one(query, lattice.covered(self.profiles, query), weights, members)
        yield from found

    def _one(
        self, query: npt.NDArray[np.int32], covered: npt.NDArray[np.intp], weights: FloatArray, members: int
    ) -> FloatArray:
        """Types of one query for each member, shape (members, 8)."""
        if not (query == OPEN).any():
            own = self.profile_types[covered].astype(np.float64)
            rest = [self._answer(member, query[None])[0] for member in range(len(own), members)]
            return np.concatenate([own[:members], np.array(rest).reshape(-1, 8)])
        some = covered[:: -(-len(covered) // MOST_SPREAD_PROFILES) or 1]
        drawn = [classes.draw(query, self.uniform) for classes in self.smooth]
        mass = [float(classes.mass(query[None])[0]) for classes in self.smooth]
        scale = self.counted[0][:, covered].sum(axis=1) / np.maximum(self.counted[0][:, some].sum(axis=1), 1e-30)
        found = np.empty((members, 8))
        for member in range(members):
            asked = some if member else covered
            known = self._answer(member, self.profiles[some]) if member else self.profile_types[covered]
            total = np.zeros(8)
            for table, weight in enumerate(weights):
                if not weight:
                    continue
                seen = (scale[table] if member else 1) * (self.counted[member, table, asked] @ known)
                rest = mass[table] * self._answer(member, drawn[table]).mean(axis=0)
                total += weight * (self.seen[table] * seen + (1 - self.seen[table]) * rest)
            found[member] = total / total.sum()
        return found

    def _answer(self, member: int, profiles: Codes) -> FloatArray:
        """Mean of a member's networks, shape (profiles, 8)."""
        inputs = self.schema.signs(profiles)
        return mean_shares(self.networks[member], inputs)

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
        types, counted, seen, uniform = (arrays[name] for name in ("profile_types", "counted", "seen", "uniform"))
        return cls(schema, profiles, types, counted, seen, smooth, networks, uniform)
