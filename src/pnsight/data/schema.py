"""Covariates, their levels, and queries that fix some of them and leave the rest open.

Inside the package a query is a row of integer codes, one per covariate, with ``OPEN`` (-1) for a covariate that
is left open; `Schema` translates between such rows and everything a person may write.
"""

from __future__ import annotations

import datetime
import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from pnsight.errors import QueryError, did_you_mean, join_names

OPEN = -1
OTHER, MISSING = "other", "missing"
"""Levels that stand for rare levels, and for no value."""

OPEN_SYMBOL = "X"
_OPEN_SYMBOLS = (OPEN_SYMBOL, "x")  # what is read as open in the short form

Codes: TypeAlias = npt.NDArray[np.int32]
"""Query or profile codes, shape (rows, covariates)."""

QueryLike: TypeAlias = Any
"""``None`` or ``""`` (everyone), text, a mapping name -> level, a `Query`, a list of those, a data frame with one query
a row, or an integer array of codes (positions of levels, not levels)."""

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_DECIMAL = re.compile(r"-?(0|[1-9]\d*)\.\d+")


def label(value: Any) -> str | None:
    """The name of a level as text, the same from every engine; ``None`` when the value is missing.

    ``1``, ``1.0`` and ``"1"`` are one level, and so are ``True`` and ``"true"``.
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):  # pandas' own missing values
        return None
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        return None if math.isnan(value) else _float_label(float(str(value)))  # a float32 by its shortest name
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
    """Levels sorted as numbers when all of them are numbers, else as words."""
    found = sorted(set(levels))
    if all(_NUMBER.fullmatch(text) for text in found):
        return tuple(sorted(found, key=float))
    return tuple(found)


def band_labels(edges: Sequence[float]) -> tuple[str, ...]:
    """Names of the bands between the edges: ``under-40``, ``40-65``, ``65+`` where the outer edges are infinite."""
    return tuple(_band_label(low, high) for low, high in pairwise(edges))


def _band_label(low: float, high: float) -> str:
    if math.isinf(low):
        return "all" if math.isinf(high) else f"under-{_float_label(high)}"
    return f"{_float_label(low)}+" if math.isinf(high) else f"{_float_label(low)}-{_float_label(high)}"


@dataclass(frozen=True)
class Covariate:
    """A column that describes people, and the levels it can take.

    Attributes
    ----------
    name, levels
        The column and the names of its levels.
    edges
        For a column of numbers that was cut into bands: the edges, of which the outer ones may be infinite. The first
        levels are the bands. An edge belongs to the band above it, the last edge to the last band.
    rare_levels
        Rare levels that became the level ``other``.
    """

    name: str
    levels: tuple[str, ...]
    edges: tuple[float, ...] | None = None
    rare_levels: tuple[str, ...] = ()

    @cached_property
    def _code_of(self) -> dict[str, int]:
        found = {level: code for code, level in enumerate(self.levels)}
        return {**dict.fromkeys(self.rare_levels, found.get(OTHER, OPEN)), **found}

    def code(self, value: Any) -> int:
        """The code of a level, or of the band a number lies in; a missing value is open."""
        if isinstance(value, str) and value in self._code_of:
            return self._code_of[value]
        text = label(value)
        if text is None:
            return OPEN
        if self.edges is not None and _NUMBER.fullmatch(text):
            return self._band(float(text), self.edges)
        code = self._code_of.get(text)
        if code is None:
            numbers = ", or give a number" if self.edges else ""
            raise QueryError(
                f"covariate {self.name!r} has no level {text!r}; it has {join_names(self.levels)}{numbers}."
                + did_you_mean(text, self.levels)
            )
        return code

    def _band(self, number: float, edges: tuple[float, ...]) -> int:
        if not edges[0] <= number <= edges[-1]:
            raise QueryError(
                f"covariate {self.name!r} cannot be {_float_label(number)}: its bands go from {_float_label(edges[0])} "
                f"to {_float_label(edges[-1])}; give a number between them, or one of {join_names(self.levels)}."
            )
        return bisect_right(edges, number, 1, len(edges) - 1) - 1


@dataclass(frozen=True)
class Query:
    """A subpopulation: the covariates it fixes, by name; all others are open."""

    fixed: Mapping[str, str]

    def __str__(self) -> str:
        """``name=level,name=level`` with ``,`` ``=`` and backslash escaped; empty for everyone."""
        return ",".join(f"{_escape(name)}={_escape(level)}" for name, level in self.fixed.items())

    @property
    def words(self) -> str:
        """The people as a reader calls them: ``name = level, name = level``, or ``everyone``."""
        return ", ".join(f"{name} = {level}" for name, level in self.fixed.items()) or "everyone"


@dataclass(frozen=True)
class Schema:
    """The covariates of a study, in order."""

    covariates: tuple[Covariate, ...] = ()

    @classmethod
    def binary(cls, names: Iterable[str]) -> Schema:
        """Covariates with the levels 0 and 1."""
        return cls(tuple(Covariate(name, ("0", "1")) for name in names))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Covariate names, in order."""
        return tuple(covariate.name for covariate in self.covariates)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of levels of each covariate."""
        return tuple(len(covariate.levels) for covariate in self.covariates)

    @cached_property
    def n_profiles(self) -> int:
        """Number of exact queries (profiles)."""
        return math.prod(self.shape)

    @cached_property
    def n_queries(self) -> int:
        """Number of all queries, each covariate fixed or open."""
        return math.prod(levels + 1 for levels in self.shape)

    @cached_property
    def single_character(self) -> bool:
        """Whether a query can be written as one character a covariate."""
        levels = [level for covariate in self.covariates for level in covariate.levels]
        return bool(levels) and all(
            len(level) == 1 and not level.isspace() and level not in (*_OPEN_SYMBOLS, ",", "=", "\\")
            for level in levels
        )

    def covariate(self, name: str) -> Covariate:
        """The covariate of that name."""
        return self.covariates[self.index(name)]

    def index(self, name: str) -> int:
        """Position of the covariate of that name."""
        for candidate in (name, name.strip()):
            if candidate in self.names:
                return self.names.index(candidate)
        known = f"the covariates are {join_names(self.names)}." if self.names else "there are no covariates."
        raise QueryError(f"no covariate is called {name!r}; {known}" + did_you_mean(name, self.names))

    # --- reading queries -------------------------------------------------------------------------------

    def encode(self, queries: QueryLike = None) -> Codes:
        """Codes of the queries, shape (queries, covariates), from whatever a person may give."""
        if isinstance(queries, np.ndarray) and queries.dtype.kind in "iu":
            return self._checked(queries)
        frame = nw.from_native(queries, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            raise QueryError("the queries are a lazy table; collect it first, so that they have an order.")
        if isinstance(frame, nw.DataFrame):
            return self.encode_columns(frame.to_dict(as_series=False))
        if isinstance(queries, Sequence | np.ndarray) and not isinstance(queries, str):
            return self._stack([self._encode_one(query) for query in queries])
        return self._stack([self._encode_one(queries)])

    def encode_columns(self, columns: Mapping[str, Sequence[Any]]) -> Codes:
        """One query a row; a missing value is open, columns that are not covariates are passed over."""
        self._refuse_misspelt(columns)
        rows = len(next(iter(columns.values()), ()))
        codes = np.full((rows, len(self.names)), OPEN, dtype=np.int32)
        for column, values in columns.items():
            if column in self.names:
                codes[:, self.names.index(column)] = self._encode_column(self.covariate(column), values)
        return codes

    def _encode_column(self, covariate: Covariate, values: Sequence[Any]) -> list[int]:
        seen: dict[Any, int] = {}
        for row, value in enumerate(values, start=1):
            if value not in seen:
                try:
                    seen[value] = self._code_or_open(covariate, value)
                except QueryError as error:
                    raise QueryError(f"row {row}: {error}") from None
        return [seen[value] for value in values]

    def _code_or_open(self, covariate: Covariate, value: Any) -> int:
        if isinstance(value, str) and value == OPEN_SYMBOL and OPEN_SYMBOL not in covariate.levels:
            return OPEN
        return covariate.code(value)

    def _refuse_misspelt(self, columns: Iterable[str]) -> None:
        """A column that is nearly a covariate which is otherwise absent would be left open by mistake."""
        columns = list(columns)
        absent = [name for name in self.names if name not in columns]
        if self.names and len(absent) == len(self.names):
            raise QueryError(
                f"the queries have the columns {join_names(columns)}, but none of them is a covariate; "
                f"the covariates are {join_names(self.names)}."
            )
        folded = {name.strip().casefold(): name for name in absent}
        for column in columns:
            meant = folded.get(column.strip().casefold())
            if column not in self.names and meant is not None:
                raise QueryError(f"the queries have a column {column!r}; write it {meant!r} as in the model.")

    def _encode_one(self, query: QueryLike) -> list[int]:
        if isinstance(query, Query):
            query = query.fixed
        if query is None:
            query = {}
        if isinstance(query, str):
            return self._parse(query)
        if not isinstance(query, Mapping):
            raise QueryError(
                f"a query must be text such as '{self.example()}' or a mapping from covariate to level, "
                f"not {type(query).__name__} {query!r}."
            )
        codes = [OPEN] * len(self.names)
        for name, level in query.items():
            codes[self.index(name)] = self._code_or_open(self.covariate(name), level)
        return codes

    def _parse(self, text: str) -> list[int]:
        if not text.strip():
            return [OPEN] * len(self.names)
        pieces = split_unescaped(text, ",")
        if self.single_character and len(pieces) == 1 and len(split_unescaped(text, "=")) == 1:
            return self._parse_compact(text.strip())
        fixed: dict[str, str] = {}
        for piece in pieces:
            name, level = self._name_and_level(piece, text)
            if fixed.setdefault(name, level) != level:
                raise QueryError(f"query {text!r} fixes {name!r} to both {fixed[name]!r} and {level!r}; keep one.")
        return self._encode_one(fixed)

    def _name_and_level(self, piece: str, text: str) -> tuple[str, str]:
        parts = split_unescaped(piece, "=")
        if len(parts) != 2:
            raise QueryError(
                f"query {text!r}: {piece!r} is not of the form name=level; write for example '{self.example()}' "
                "(a backslash before a comma or equals sign that belongs to a name or level)."
            )
        name, level = self.names[self.index(unescape(parts[0]))], unescape(parts[1])
        if not level:
            raise QueryError(f"query {text!r} names no level of {name!r}; leave the covariate out to leave it open.")
        return name, level

    def _parse_compact(self, text: str) -> list[int]:
        if len(text) != len(self.names):
            raise QueryError(
                f"query {text!r} has {len(text)} characters, but there are {len(self.names)} covariates "
                f"({join_names(self.names)}): give one character for each, {OPEN_SYMBOL} for open, or name=level pairs."
            )
        symbols = [None if symbol in _OPEN_SYMBOLS else symbol for symbol in text]
        return [covariate.code(symbol) for covariate, symbol in zip(self.covariates, symbols, strict=True)]

    def _stack(self, rows: list[list[int]]) -> Codes:
        return np.array(rows, dtype=np.int32).reshape(len(rows), len(self.names))

    def _checked(self, codes: npt.NDArray[Any]) -> Codes:
        codes = np.atleast_2d(codes)
        if codes.shape[1] != len(self.names):
            raise QueryError(f"query codes have {codes.shape[1]} columns, expected {len(self.names)}, one a covariate.")
        if codes.size and ((codes < OPEN) | (codes >= np.array(self.shape, dtype=np.int32))).any():
            raise QueryError("query codes must be -1 (open) or the position of a level of the covariate.")
        return codes.astype(np.int32)

    # --- writing queries -------------------------------------------------------------------------------

    def query(self, codes: npt.NDArray[np.int32]) -> Query:
        """One row of codes as a `Query`."""
        pairs = zip(self.covariates, codes, strict=True)
        return Query({covariate.name: covariate.levels[code] for covariate, code in pairs if code != OPEN})

    def format(self, codes: Codes) -> list[str]:
        """Queries as text: one character a covariate where that is possible, else ``name=level``."""
        if not self.single_character:
            return [str(self.query(row)) for row in codes]
        symbols = [np.array([*covariate.levels, OPEN_SYMBOL]) for covariate in self.covariates]
        characters = np.stack([table[codes[:, j]] for j, table in enumerate(symbols)], axis=1)
        width = len(self.names)
        texts: list[str] = np.ascontiguousarray(characters).view(f"<U{width}").ravel().tolist()
        return texts

    def example(self) -> str:
        """A query a person could write for this schema."""
        return str(Query({covariate.name: covariate.levels[0] for covariate in self.covariates[:2]}))

    def one_hot(self, codes: Codes) -> npt.NDArray[np.float32]:
        """Indicators of each covariate's levels and, last, of being open; shape (queries, sum of levels + 1)."""
        blocks = [
            np.eye(levels + 1, dtype=np.float32)[codes[:, j]]  # OPEN is -1: the last channel
            for j, levels in enumerate(self.shape)
        ]
        return np.concatenate([np.empty((len(codes), 0), dtype=np.float32), *blocks], axis=1)

    def effect_coding(self, codes: Codes) -> npt.NDArray[np.float32]:
        """Profiles as +1 and -1: one column for a covariate of two levels, one a level for more, none for fewer."""
        blocks = [
            np.eye(levels, dtype=np.float32)[codes[:, j], 1 if levels <= 2 else 0 :] * 2 - 1
            for j, levels in enumerate(self.shape)
        ]
        return np.concatenate([np.empty((len(codes), 0), dtype=np.float32), *blocks], axis=1)


def split_names(text: str) -> list[str]:
    """Names separated by commas; a backslash keeps a comma inside a name."""
    return [unescape(piece) for piece in split_unescaped(text, ",")] if text.strip() else []


def split_unescaped(text: str, separator: str) -> list[str]:
    """Split at separators that no backslash escapes."""
    return re.findall(rf"((?:\\.|[^\\{separator}]|\\$)*)(?:{separator}|$)", text)[: _count(text, separator) + 1]


def _count(text: str, separator: str) -> int:
    return re.sub(r"\\.", "", text).count(separator)


def _escape(text: str) -> str:
    return re.sub(r"([\\,=])", r"\\\1", text)


def unescape(text: str) -> str:
    """Take away the backslashes that `_escape` put in."""
    return re.sub(r"\\(.)", r"\1", text)
