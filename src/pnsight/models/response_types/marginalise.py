"""Marginalisation: from the types of profiles to the types of queries, the mean over the people that a query covers.

Where all profiles can be listed, a query is a sum over a table of types and masses (`EnumeratedProfiles`). Where they
cannot, profiles that were counted are summed, and sampled ones stand for the rest (`SampledProfiles`). Where covariates
are numbers, a sample of people stands for everyone (`ReferencePeople`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.schema import Codes, Schema
from pnsight.models.mlp_numpy import Layers

Arrays = Mapping[str, npt.NDArray[Any]]

Representation = Literal["enumerated", "sampled", "reference"]
"""How a stored model holds its profiles."""

Values: TypeAlias = Callable[[FloatArray], FloatArray]
"""From the types of profiles, shape (profiles, types), to what the mean over people is taken of, shape (profiles, k).

Hashable: what equal ones make of all profiles is remembered.
"""


class Marginaliser(ABC):
    """Types of queries.

    `weights` say how much of each table's people a population has, shape (tables,).
    """

    representation: ClassVar[Representation]

    def types(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """Distribution over the types of each query.

        Parameters
        ----------
        codes : array of shape (queries, covariates)
            Queries.
        weights : array of shape (tables,)
            How much of each table's people the population has.

        Returns
        -------
        array of shape (queries, types)
        """
        found = np.maximum(self.means(codes, weights, identity), 0)
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    @abstractmethod
    def means(self, codes: Codes, weights: FloatArray, values: Values) -> FloatArray:
        """Mean of `values` over the people of each query.

        Parameters
        ----------
        codes : array of shape (queries, covariates)
            Queries.
        weights : array of shape (tables,)
            How much of each table's people the population has.
        values : callable
            From types (profiles, types) to values (profiles, k).

        Returns
        -------
        array of shape (queries, k)
        """

    @abstractmethod
    def errors(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """Mean relative error of the law of the profiles of each query's people, as `law_errors` has it.

        Parameters
        ----------
        codes : array of shape (queries, covariates)
            Queries.
        weights : array of shape (tables,)
            How much of each table's people the population has.

        Returns
        -------
        array of shape (queries, groups)
        """

    def sampling_errors(self, codes: Codes, weights: FloatArray) -> FloatArray | None:
        """Relative error of each query's law as its people are a sample, shape (queries, groups); None for none."""
        return None

    def bandwidths(self, codes: Codes, weights: FloatArray) -> dict[int, float]:
        """By numeric covariate, how far from a number that was asked about people are that it was averaged over."""
        return {}

    def explained(self) -> list[str]:
        """What else was chosen, in sentences."""
        return []

    @abstractmethod
    def profile_types_at(self, profiles: Codes) -> FloatArray:
        """Types of single profiles, shape (profiles, types), from codes of shape (profiles, covariates)."""

    @abstractmethod
    def shares(self, codes: Codes, weights: FloatArray) -> FloatArray:
        """Share of the people that are in each query.

        Parameters
        ----------
        codes : array of shape (queries, covariates)
            Queries.
        weights : array of shape (tables,)
            How much of each table's people the population has.

        Returns
        -------
        array of shape (queries,)
        """

    @abstractmethod
    def only(self, tables: Sequence[int], groups: Sequence[int]) -> Self:
        """What concerns some tables and some groups of cells, by their positions."""

    @abstractmethod
    def arrays(self) -> Arrays:
        """All there is to it beside the schema and the profiles of the study, for storing."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, schema: Schema, profiles: Codes, arrays: Arrays) -> Self:
        """What `arrays` described; ValueError where arrays do not fit the schema."""


def network_arrays(networks: Sequence[Layers]) -> Arrays:
    """Networks as arrays with names like ``network.K.LAYER.weights``."""
    return {
        f"network.{k}.{layer}.{part}": array
        for k, network in enumerate(networks)
        for layer, pair in enumerate(network)
        for part, array in zip(("weights", "bias"), pair, strict=True)
    }


def networks_from(arrays: Arrays) -> list[Layers]:
    """The networks that `network_arrays` described."""
    grouped: dict[int, dict[int, dict[str, Any]]] = {}
    for name in arrays:
        if name.startswith("network."):
            k, layer, part = name.split(".")[1:]
            grouped.setdefault(int(k), {}).setdefault(int(layer), {})[part] = arrays[name]
    return [
        tuple((layers[number]["weights"], layers[number]["bias"]) for number in sorted(layers))
        for _, layers in sorted(grouped.items())
    ]


def identity(types: FloatArray) -> FloatArray:
    """`Values` whose mean is the types themselves."""
    return types


def with_people(values: Values, types: npt.NDArray[np.floating[Any]]) -> FloatArray:
    """The values of profiles, and a column of ones that will sum up their people, shape (profiles, k + 1)."""
    found = values(types.astype(np.float64))
    return np.column_stack([found, np.ones(len(found))])
