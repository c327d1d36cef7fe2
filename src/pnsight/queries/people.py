"""People as queries: columns of values, block by block, become codes, and what cannot be read is said row by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pnsight._typing import BoolArray
from pnsight.data.number_codes import LARGEST, pack
from pnsight.data.schema import OPEN, Codes, Covariate, Schema, label
from pnsight.errors import QueryError
from pnsight.queries.query import encode_value

_MOST_REMEMBERED = 100_000
"""Distinct values of a covariate whose codes are kept from block to block."""


@dataclass(frozen=True)
class EncodedPeople:
    """A block of people.

    Attributes
    ----------
    codes : shape (people, covariates)
        Their covariates; what could not be read is open.
    problems
        By the number of the row within the block, what could not be read.
    """

    codes: Codes
    problems: Mapping[int, str]

    @property
    def valid(self) -> BoolArray:
        """Who could be read, shape (people,)."""
        found = np.ones(len(self.codes), dtype=bool)
        found[list(self.problems)] = False
        return found


@dataclass
class PeopleEncoder:
    """Encodes blocks of people for a schema.

    Parameters
    ----------
    schema
        The covariates.
    complete
        Whether every covariate has to be known.
    """

    schema: Schema
    complete: bool = False
    _known: dict[str, dict[Any, tuple[int, str]]] = field(default_factory=dict, init=False, repr=False)

    def encode(self, columns: Mapping[str, Any], rows: int) -> EncodedPeople:
        """Encode a block.

        Parameters
        ----------
        columns
            By covariate, an Arrow array of values; a missing value is open, and so is a covariate without a column.
        rows
            How many people there are.

        Returns
        -------
        EncodedPeople
            Their codes, and what is wrong with those that cannot be read.
        """
        codes = np.full((rows, len(self.schema.names)), OPEN, dtype=self.schema.code_type, order="F")
        problems: dict[int, list[str]] = {}
        for j, covariate in enumerate(self.schema.covariates):
            if covariate.name in columns:
                codes[:, j], refused = self._encode_column(covariate, columns[covariate.name])
                for row, words in refused.items():
                    problems.setdefault(row, []).append(words)
        if self.complete:
            for unknown in np.flatnonzero((codes == OPEN).any(axis=1)):
                problems.setdefault(int(unknown), ["this model answers only where every covariate is known."])
        return EncodedPeople(codes, {row: " ".join(words) for row, words in problems.items()})

    def _encode_column(self, covariate: Covariate, values: Any) -> tuple[Codes, dict[int, str]]:
        """The code of each value, and what is wrong with those that have none."""
        scale = covariate.number
        if scale is not None and scale.origin is None and (found := _plain_numbers(values)) is not None:
            return found, {}
        distinct, place = _distinct(values)
        known = self._known.setdefault(covariate.name, {})
        if len(known) > _MOST_REMEMBERED:
            known.clear()
        coded = [known.get(value) or known.setdefault(value, _code(covariate, value)) for value in distinct]
        codes = np.array([*(code for code, _ in coded), OPEN], dtype=self.schema.code_type)[place]
        wrong = [k for k, (_, words) in enumerate(coded) if words]
        rows = np.flatnonzero(np.isin(place, wrong)) if wrong else ()
        return codes, {int(row): coded[place[row]][1] for row in rows}


def _plain_numbers(values: Any) -> Codes | None:
    """Codes of a column of finite numbers, open where they are missing; None where it is something else."""
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        return None
    plain = values if pa.types.is_float32(values.type) else values.cast(pa.float64(), safe=False)
    numbers = plain.to_numpy(zero_copy_only=False)
    missing = np.isnan(numbers)
    if (np.abs(numbers) > LARGEST).any():
        return None
    codes = pack(numbers, numbers)
    return np.where(missing, OPEN, codes) if missing.any() else codes


def _code(covariate: Covariate, value: Any) -> tuple[int, str]:
    """The code of a value, and what is wrong with it."""
    try:
        return encode_value(covariate, value), ""
    except QueryError as error:
        return OPEN, str(error)


def _distinct(values: Any) -> tuple[list[Any], npt.NDArray[np.intp]]:
    """The distinct values that are not missing, and the place of each value among them, one beyond if it is missing."""
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if pa.types.is_nested(array.type):
        array = pa.array([label(value) for value in array.to_pylist()], pa.string())
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    distinct = encoded.dictionary.to_pylist()
    place = encoded.indices.fill_null(len(distinct)).to_numpy(zero_copy_only=False).astype(np.intp)
    return distinct, place
