"""Profiles and counts as arrays of a stored model, each in as few bytes as hold it.

Levels are whole numbers of one or two bytes, and numbers have the single precision that their codes have; a missing one
is NaN. Counts that are small whole numbers, as nearly all are, take one or two bytes as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.number_codes import NO_NUMBER, low_ends, pack
from pnsight.data.schema import Codes, Schema

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]

NUMBERS = "numbers"
"""After the name of profiles, where the numbers of numeric covariates are."""

_SMALL = (np.uint8, np.uint16)


def profiles_out(name: str, schema: Schema, profiles: Codes) -> dict[str, npt.NDArray[Any]]:
    """Arrays of single profiles.

    Parameters
    ----------
    name
        What to call them.
    schema
        The covariates.
    profiles : shape (profiles, covariates)
        Codes, each of a level or of a single number.

    Returns
    -------
    Arrays by name: the levels and, where some covariates are numeric, their numbers.
    """
    levels = [j for j in range(len(schema.names)) if j not in schema.numeric]
    found = {name: _small(profiles[:, levels])}
    if schema.numeric:
        numbers = low_ends(profiles[:, list(schema.numeric)])
        found[f"{name}.{NUMBERS}"] = np.where(np.isinf(numbers), np.float32(np.nan), numbers)
    return found


def profiles_in(name: str, schema: Schema, arrays: Arrays) -> Codes:
    """The profiles that `profiles_out` made arrays of.

    Parameters
    ----------
    name, schema
        As there.
    arrays
        All arrays of a stored model.

    Returns
    -------
    Codes, shape (profiles, covariates).

    Raises
    ------
    ValueError
        If the arrays do not fit the covariates.
    """
    levels, size = arrays[name], len(schema.names) - len(schema.numeric)
    if levels.shape != (len(levels), size) or levels.dtype not in _SMALL:
        raise ValueError(f"{name} are {levels.dtype} of shape {levels.shape}; expected {size} columns of levels")
    found = np.empty((len(levels), len(schema.names)), dtype=schema.code_type, order="F")
    found[:, [j for j in range(len(schema.names)) if j not in schema.numeric]] = levels
    for j, levels_of_j in enumerate(schema.shape):
        if j not in schema.numeric and (found[:, j] >= levels_of_j).any():
            raise ValueError(f"{name} have levels that the covariates have not")
    if schema.numeric:
        found[:, list(schema.numeric)] = _codes_of(
            arrays[f"{name}.{NUMBERS}"], name, (len(levels), len(schema.numeric))
        )
    return found


def _codes_of(numbers: npt.NDArray[Any], name: str, shape: tuple[int, int]) -> Codes:
    if numbers.shape != shape or numbers.dtype != np.float32 or np.isinf(numbers).any():
        raise ValueError(f"the numbers of {name} are {numbers.dtype} of shape {numbers.shape}; expected {shape} finite")
    known = np.where(np.isnan(numbers), np.float32(NO_NUMBER), numbers)
    return pack(known, known)


def counts_out(counts: FloatArray) -> npt.NDArray[Any]:
    """Counts, shape (profiles, cells), as small whole numbers where they are."""
    return _small(counts)


def counts_in(counts: npt.NDArray[Any]) -> FloatArray:
    """The counts that `counts_out` made smaller; raises ValueError where they are no counts."""
    if counts.dtype.kind != "f" and counts.dtype not in _SMALL:
        raise ValueError(f"counts are {counts.dtype}; expected numbers")
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise ValueError("the counts have values that are not finite, or are below zero")
    return counts.astype(np.float64)


def _small(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same values in the smallest type that holds them, if they are small whole numbers."""
    for kind in _SMALL:
        smaller = values.astype(kind) if values.max(initial=0) <= np.iinfo(kind).max else None
        if smaller is not None:
            return smaller if (smaller == values).all() else values
    return values
