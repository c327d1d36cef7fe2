"""Codes of numbers: the code of a number, or of a range of numbers, is its two ends in the halves of one whole number.

Both ends belong to a range, and a single number has equal ends. Ends are kept in single precision, which holds seven
digits. Zero is kept as minus zero: so the upper half of the code of a number is never zero, as that of a level's code
is, nor all ones, as that of ``OPEN``, and codes tell by themselves what they are of.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pnsight._typing import BoolArray, Float32Array

NumberCodes: TypeAlias = npt.NDArray[np.int64]

LARGEST = float(np.finfo(np.float32).max)
"""The end of a range that has none, below or above."""

NO_NUMBER = float("inf")
"""Both ends of the code of a missing number: no range holds it."""


def pack(low: npt.ArrayLike, high: npt.ArrayLike) -> NumberCodes:
    """Codes of the ranges from `low` to `high`.

    Parameters
    ----------
    low, high : any shape
        Both ends, which belong to the range.

    Returns
    -------
    array of int64 of their shape
    """
    if low is high:  # single numbers, of which there may be very many
        bits = _without_zero(low).view("<u4").astype(np.uint64)
        return np.asarray((bits << np.uint64(32)) | bits).view(np.int64)
    ends = _without_zero(np.stack(np.broadcast_arrays(low, high), axis=-1))
    return np.asarray(ends.view("<i8")[..., 0], dtype=np.int64)


def _without_zero(numbers: npt.ArrayLike) -> Float32Array:
    """Numbers in single precision, minus zero in the place of zero."""
    found = np.array(numbers, dtype="<f4")
    found[found == 0] = -0.0
    return found


def low_ends(codes: npt.NDArray[Any]) -> Float32Array:
    """The low end of each code of a number, in the shape of the codes; of a single number, the number."""
    return _ends(codes)[..., 0]


def high_ends(codes: npt.NDArray[Any]) -> Float32Array:
    """The high end of each code of a number, in the shape of the codes."""
    return _ends(codes)[..., 1]


def _ends(codes: npt.NDArray[Any]) -> Float32Array:
    whole = np.ascontiguousarray(codes, dtype="<i8")
    return whole.view("<f4").reshape(*np.shape(codes), 2)


def of_numbers(codes: npt.NDArray[Any]) -> BoolArray:
    """Which codes are of a number or a range, in the shape of the codes."""
    upper = codes >> 32
    return np.asarray((upper != 0) & (upper != -1))


def is_range(codes: npt.NDArray[Any]) -> BoolArray:
    """Which codes are of a range of more than one number, in the shape of the codes."""
    differ = (codes >> 32) != codes.astype(np.int32)  # both halves of a single number are alike
    if not np.any(differ):
        return np.zeros(np.shape(codes), dtype=bool)
    return np.asarray(differ & of_numbers(codes) & (low_ends(codes) < high_ends(codes)))


def covers(asked: npt.NDArray[Any], present: npt.NDArray[Any]) -> BoolArray:
    """Whether whoever has the code `present` has what `asked` says: the same level, or a number within its range.

    Parameters
    ----------
    asked, present : any shapes that go together
        Codes of one covariate; those of an open one cover and are covered by nothing but themselves.

    Returns
    -------
    array of bool
    """
    same = np.asarray(asked == present)
    if present.dtype != np.int64 or asked.dtype != np.int64 or not of_numbers(asked).any():
        return same
    within = (low_ends(asked) <= low_ends(present)) & (high_ends(present) <= high_ends(asked))
    return np.asarray(same | (within & of_numbers(asked) & of_numbers(present)))
