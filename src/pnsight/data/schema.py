"""Schema: the covariates of a study, their levels, and the codings of profiles and queries.

Inside the package a profile or a query is a row of integer codes, one for each covariate: the position of its level, or
``OPEN`` (-1) for a covariate that a query leaves open; of a numeric covariate the code of a number or of a range of
numbers (`pnsight.data.number_codes`). `pnsight.queries.query` reads and writes queries.
"""

from __future__ import annotations

import datetime
import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pnsight.data.number_codes import of_numbers
from pnsight.data.number_scale import STANDARDISED, Coding, NumberScale, is_two_sided, parse_date
from pnsight.errors import QueryError, did_you_mean, join_names

OPEN = -1
"""Code of a covariate that a query leaves open."""

_MOST_SHOWN = 60
"""Characters of a value that are shown where it is refused."""

OTHER, MISSING = "other", "missing"
"""Levels that stand for all rare levels, and for a missing value."""

OPEN_SYMBOL = "X"
"""How an open covariate is written in the short form of a query."""

OPEN_SYMBOLS = (OPEN_SYMBOL, "x")
"""What is read as open in the short form."""

Codes: TypeAlias = npt.NDArray[np.integer[Any]]
"""Query or profile codes, shape (rows, covariates); wide enough for numbers where a covariate is numeric."""

# No two neighbours of these patterns match the same characters, so that what is no number is refused in linear time.
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
_DECIMAL = re.compile(r"-?(0|[1-9]\d*)\.\d+")


def label(value: Any) -> str | None:
    """Name the level of a value, the same from every engine.

    Parameters
    ----------
    value
        A value of a table. ``1``, ``1.0`` and ``"1"`` are one level, and so are ``True`` and ``"true"``.

    Returns
    -------
    str or None
        The name as text; None when the value is missing.
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # pandas' own missing values
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        return None if math.isnan(value) else _float_label(float(str(value)))  # a float32 by its shortest name
    if isinstance(value, Decimal):
        return None if value.is_nan() else _text_label(f"{value:f}")
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        value = value.date()
    if isinstance(value, datetime.date):
        return value.isoformat()
    return _text_label(str(value))


def _float_label(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _text_label(text: str) -> str | None:
    text = text.strip()
    if text.lower() in ("true", "false"):
        return text.lower()
    if not text:
        return None
    return _float_label(float(text)) if _DECIMAL.fullmatch(text) else text


def sort_levels(levels: Iterable[str]) -> tuple[str, ...]:
    """Sort distinct levels as numbers when all of them are numbers, else as words.

    Parameters
    ----------
    levels
        Names of levels, possibly repeated.

    Returns
    -------
    tuple of str
        Each level once, in order.
    """
    found = sorted(set(levels))
    if all(map(is_number, found)):
        return tuple(sorted(found, key=float))
    return tuple(found)


def is_number(text: str) -> bool:
    """Whether the name of a level is a number.

    Parameters
    ----------
    text
        Name of a level.

    Returns
    -------
    bool
        True for ``52``, ``-1.5`` and ``1e3``.
    """
    return _NUMBER.fullmatch(text) is not None


def band_labels(edges: Sequence[float]) -> tuple[str, ...]:
    """Name the bands between edges.

    Parameters
    ----------
    edges
        Increasing numbers, of which the outer ones may be infinite.

    Returns
    -------
    tuple of str
        One name fewer than edges: ``under-40``, ``40-65``, ``65+``.
    """
    return tuple(_band_label(low, high) for low, high in pairwise(edges))


def _band_label(low: float, high: float) -> str:
    if math.isinf(low):
        return "all" if math.isinf(high) else f"under-{_float_label(high)}"
    return f"{_float_label(low)}+" if math.isinf(high) else f"{_float_label(low)}-{_float_label(high)}"


def whole_band_labels(edges: Sequence[float]) -> tuple[str, ...]:
    """Name the bands between edges by the whole numbers that they hold.

    Parameters
    ----------
    edges
        Increasing numbers, of which the outer ones may be infinite. An edge belongs to the band above it, the last
        edge to the last band.

    Returns
    -------
    tuple of str
        One name fewer than edges: ``0-39``, ``40``, ``41-65``; a band without a whole number by its edges.
    """
    bands = list(pairwise(edges))
    return tuple(_whole_band_label(*band, last=k == len(bands) - 1) for k, band in enumerate(bands))


def _whole_band_label(low: float, high: float, last: bool) -> str:
    if math.isinf(low) or math.isinf(high):
        return _band_label(*(end if math.isinf(end) else math.ceil(end) for end in (low, high)))
    first, final = math.ceil(low), math.floor(high) if last else math.ceil(high) - 1
    if first > final:
        return _band_label(low, high)
    return str(first) if first == final else f"{first}-{final}"


@dataclass(frozen=True)
class Covariate:
    """Covariate: a column that describes people, and the levels it can take.

    Attributes
    ----------
    name, levels
        The column and the names of its levels; of numbers, those of their groups.
    edges
        For a column of numbers that was cut into bands: the edges, of which the outer ones may be infinite. The first
        levels are the bands. An edge belongs to the band above it, the last edge to the last band. Bands of whole
        numbers are called by what they hold, and are found by their edges too: ``0-39`` is also ``0-40``.
    rare_levels
        Rare levels that became the level ``other``.
    number
        For a column of numbers that was left uncut: their scale.
    """

    name: str
    levels: tuple[str, ...]
    edges: tuple[float, ...] | None = None
    rare_levels: tuple[str, ...] = ()
    number: NumberScale | None = None

    @classmethod
    def numeric(cls, name: str, number: NumberScale) -> Covariate:
        """A covariate of numbers, whose levels are groups of them."""
        return cls(name, number.group_names, number=number)

    @cached_property
    def level_codes(self) -> Codes:
        """The code of each level, or of each group of numbers, shape (levels,)."""
        return np.arange(len(self.levels), dtype=np.int32) if self.number is None else self.number.group_codes

    def text(self, code: int) -> str:
        """The level, number or range that has a code, as people write it."""
        return self.levels[code] if self.number is None else self.number.text(code)

    def texts(self, codes: npt.NDArray[Any]) -> list[str]:
        """The same of many codes, shape (codes,)."""
        return [self.levels[code] for code in codes] if self.number is None else self.number.texts(codes)

    @cached_property
    def _code_of(self) -> dict[str, int]:
        found = {level: code for code, level in enumerate(self.levels)}
        by_edges = {} if self.edges is None else {name: code for code, name in enumerate(band_labels(self.edges))}
        return {**dict.fromkeys(self.rare_levels, found.get(OTHER, OPEN)), **by_edges, **found}

    def with_whole_bands(self) -> Covariate:
        """The same covariate with its bands called by the whole numbers that they hold."""
        if self.edges is None:
            return self
        names = whole_band_labels(self.edges)
        return replace(self, levels=(*names, *self.levels[len(names) :]))

    def code(self, value: Any) -> int:
        """Encode a value.

        Parameters
        ----------
        value
            A level, a number if the covariate has bands or is numeric, a range if it is numeric, or a missing value.

        Returns
        -------
        int
            The position of the level, or of the band that holds the number, or the code of the number or range;
            ``OPEN`` for a missing value.

        Raises
        ------
        QueryError
            If there is no such level, or the number is outside the bands.
        """
        code = self.find(value)
        if code is None:
            raise QueryError(self._refusal(label(value) or ""))
        return code

    def find(self, value: Any) -> int | None:
        """Encode a value as `code` does, without a word where it cannot be.

        Parameters
        ----------
        value
            As in `code`.

        Returns
        -------
        int or None
            The code; None where `code` would refuse the value.
        """
        if self.number is None and isinstance(value, str) and value in self._code_of:
            return self._code_of[value]
        if self.number is not None:
            return OPEN if label(value) is None else self.number.code(value)
        text = label(value)
        if text is None:
            return OPEN
        if self.edges is not None and is_number(text):
            return _band(float(text), self.edges)
        return self._code_of.get(text)

    def _refusal(self, text: str) -> str:
        """Why a value has no code."""
        text = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
        if self.number is not None:
            low, high = self.number.number_text(self.number.low), self.number.number_text(self.number.high)
            kind = "a number" if self.number.origin is None else "a date"
            return (
                f"covariate {self.name!r} cannot be {text!r}: it is {kind}, seen from {low} to {high}; give {kind}, or "
                f"a range such as {self.name}={low}..{high}, {self.name}>={low} or {self.name}<{high}."
            )
        if self.edges is not None and is_number(text):
            low, high = _float_label(self.edges[0]), _float_label(self.edges[-1])
            return (
                f"covariate {self.name!r} cannot be {_float_label(float(text))}: its bands go from {low} to {high}; "
                f"give a number between them, or one of {join_names(self.levels)}."
            )
        if self.levels and is_two_sided(text):
            return self.no_range()
        numbers = ", or give a number" if self.edges else ""
        known = f"it has {join_names(self.levels)}{numbers}."
        return f"covariate {self.name!r} has no level {text!r}; {known}" + did_you_mean(text, self.levels)

    def no_range(self) -> str:
        """Why a range of a covariate with levels cannot be asked about, and what to do."""
        known = f"covariate {self.name!r} has levels, and a range is of numbers; give one of {join_names(self.levels)}"
        dates = all(is_number(level) or parse_date(level) for level in self.levels if level != MISSING)
        number = (
            f", or leave the column as numbers when fitting, with --numeric {self.name} (numeric=)" if dates else ""
        )
        return f"{known}{number}."


def _band(number: float, edges: tuple[float, ...]) -> int | None:
    """The band that holds a number, None if none does."""
    return bisect_right(edges, number, 1, len(edges) - 1) - 1 if edges[0] <= number <= edges[-1] else None


@dataclass(frozen=True)
class Schema:
    """The covariates of a study, in order."""

    covariates: tuple[Covariate, ...] = ()

    @classmethod
    def binary(cls, names: Iterable[str]) -> Schema:
        """Make a schema of covariates with the levels 0 and 1.

        Parameters
        ----------
        names
            Names of the covariates.

        Returns
        -------
        Schema
            The covariates, in order.
        """
        return cls(tuple(Covariate(name, ("0", "1")) for name in names))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Covariate names, in order."""
        return tuple(covariate.name for covariate in self.covariates)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in reversed(list(enumerate(self.names)))}

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of levels of each covariate; of numbers, of their groups."""
        return tuple(len(covariate.levels) for covariate in self.covariates)

    @cached_property
    def numeric(self) -> dict[int, NumberScale]:
        """By position, the scales of the numeric covariates."""
        return {j: each.number for j, each in enumerate(self.covariates) if each.number is not None}

    @property
    def code_type(self) -> np.dtype[Any]:
        """Type of the codes of queries and profiles."""
        return np.dtype(np.int64 if self.numeric else np.int32)

    @cached_property
    def grouped(self) -> Schema:
        """The same covariates with groups of numbers as plain levels."""
        if not self.numeric:
            return self
        return Schema(tuple(Covariate(e.name, e.levels) if e.number is not None else e for e in self.covariates))

    def positions(self, codes: Codes) -> npt.NDArray[np.int32]:
        """Codes with the group of each number in its place, as `grouped` has them.

        A range within one group has the position of the group. Open stays open, and so becomes a range that reaches
        over several groups.
        """
        if not self.numeric:
            return codes.astype(np.int32, copy=False)
        found = np.empty(codes.shape, dtype=np.int32, order="F")
        for j in range(codes.shape[1]):
            own = codes[:, j]
            found[:, j] = np.where(own == OPEN, OPEN, self.numeric[j].group_of(own)) if j in self.numeric else own
        return found

    def coded(self, positions: Codes) -> Codes:
        """Codes of queries that `grouped` has: groups of numbers become ranges."""
        if not self.numeric:
            return positions
        found = positions.astype(np.int64)
        for j, number in self.numeric.items():
            fixed = positions[:, j] != OPEN
            found[fixed, j] = number.group_codes[positions[fixed, j]]
        return found

    @property
    def countable(self) -> bool:
        """Whether profiles can be numbered: no covariate is numeric, and there are not too many."""
        return not self.numeric and self.n_profiles <= np.iinfo(np.int64).max

    @cached_property
    def n_profiles(self) -> int:
        """Number of profiles: queries that fix every covariate, numbers to a group."""
        return math.prod(self.shape)

    @cached_property
    def n_queries(self) -> int:
        """Number of queries, each covariate fixed or open."""
        return math.prod(levels + 1 for levels in self.shape)

    @cached_property
    def single_character(self) -> bool:
        """Whether queries have a short form: all levels are single characters, and none has another meaning there."""
        levels = [level for covariate in self.covariates for level in covariate.levels]
        return (
            bool(levels)
            and not self.numeric
            and all(
                len(level) == 1 and not level.isspace() and level not in (*OPEN_SYMBOLS, ",", "=", "\\")
                for level in levels
            )
        )

    def covariate(self, name: str) -> Covariate:
        """Look up a covariate by name.

        Parameters
        ----------
        name
            Its name; blanks around it are ignored.

        Returns
        -------
        Covariate
            The covariate of that name.
        """
        return self.covariates[self.index(name)]

    def index(self, name: str) -> int:
        """Look up the position of a covariate.

        Parameters
        ----------
        name
            Its name; blanks around it are ignored.

        Returns
        -------
        int
            Its position in `covariates`.

        Raises
        ------
        QueryError
            If no covariate has that name.
        """
        for candidate in (name, name.strip()):
            if candidate in self._places:
                return self._places[candidate]
        known = f"the covariates are {join_names(self.names)}." if self.names else "there are no covariates."
        raise QueryError(f"no covariate is called {name!r}; {known}" + did_you_mean(name, self.names))

    def one_hot(self, codes: Codes) -> npt.NDArray[np.float32]:
        """One-hot coding of queries: an indicator of each level, or group of numbers, and, last, of being open.

        Parameters
        ----------
        codes : shape (queries, covariates)
            Codes of queries.

        Returns
        -------
        array of float32, shape (queries, sum over covariates of levels + 1)
            Zeros and ones; the columns of a covariate add up to one.
        """
        codes = self.positions(codes)
        blocks = [
            np.eye(levels + 1, dtype=np.float32)[codes[:, j]]  # OPEN is -1: the last channel
            for j, levels in enumerate(self.shape)
        ]
        return np.concatenate([np.empty((len(codes), 0), dtype=np.float32), *blocks], axis=1)

    def effect_coding(self, codes: Codes, coding: Coding = STANDARDISED) -> npt.NDArray[np.float32]:
        """Effect coding of profiles: +1 for the level that a profile has, -1 for the others; numbers as inputs.

        Parameters
        ----------
        codes : shape (profiles, covariates)
            Codes of profiles, none of them open.
        coding
            What is seen of numbers.

        Returns
        -------
        array of float32, shape (profiles, columns)
            One column for a covariate of two levels, one for each level if there are more, none if there is only one;
            after these, what `NumberScale.inputs` gives for each numeric covariate.
        """
        sizes = tuple(0 if j in self.numeric else size for j, size in enumerate(self.shape))
        covariate, level = _coded_levels(sizes)
        found = np.where(codes[:, covariate] == level, np.float32(1), np.float32(-1))
        if not self.numeric:
            return found
        widths = [len(each.inputs(codes[:0, j], coding)) for j, each in self.numeric.items()]
        both = np.empty((len(codes), found.shape[1] + sum(widths)), dtype=np.float32)
        both[:, : found.shape[1]] = found
        ends = found.shape[1] + np.cumsum(widths)
        for (j, each), width, end in zip(self.numeric.items(), widths, ends, strict=True):
            both[:, end - width : end] = np.column_stack(each.inputs(codes[:, j], coding))
        return both


def codes_of(queries: Sequence[Sequence[int]]) -> Codes:
    """Codes of queries, shape (queries, covariates), as wide as they have to be."""
    wide = np.array(queries, dtype=np.int64)
    return wide if of_numbers(wide).any() else wide.astype(np.int32)


@lru_cache
def _coded_levels(shape: tuple[int, ...]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The covariate and the level that each column of the effect coding stands for, shape (columns,) each."""
    columns = [(j, level) for j, levels in enumerate(shape) for level in range(1 if levels <= 2 else 0, levels)]
    covariate, level = np.array(columns, dtype=np.intp).reshape(-1, 2).T
    return covariate, level
