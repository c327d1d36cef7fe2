"""Query language: subpopulations as text, mappings or tables, translated to and from integer codes.

A query fixes some covariates and leaves the rest open. People write it as ``name=level,name=level``, where a backslash
escapes ``,`` and ``=``, or, if all levels are single characters, as one character for each covariate, such as
``1101X01110``. A numeric covariate is fixed to a number or to a range: ``age=52``, ``age=40..65`` with both ends,
``age=40..<65``, ``age>=65``, ``age>65``, ``age<=40``, ``age<40``; two of them for one covariate mean both. Inside the
package a query is a row of codes, one for each covariate, with ``OPEN`` (-1) for an open one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from pnsight._foreign_text import without_apostrophe
from pnsight.data.number_codes import is_range, of_numbers
from pnsight.data.reading.engine import check_unique_names
from pnsight.data.schema import OPEN, OPEN_SYMBOL, OPEN_SYMBOLS, Codes, Covariate, Schema, is_number
from pnsight.errors import QueryError, join_names

QueryLike: TypeAlias = Any
"""``None`` or ``""`` (everyone), text, a mapping name -> level, a `Query`, a list of those, a data frame with one query
a row, or an integer array of codes (positions of levels, not levels)."""


_MANY = 4096
"""Queries from which on their texts are written only where they are looked at."""

_SIGNS = "<>"
"""What the text of a range begins with that has no end below or above."""


@dataclass(frozen=True)
class Query:
    """A subpopulation: the covariates it fixes, by name, some of them `numeric`; all others are open."""

    fixed: Mapping[str, str]
    numeric: frozenset[str] = frozenset()

    def __str__(self) -> str:
        """``name=level,name=level`` with ``,`` ``=`` and backslash escaped; empty for everyone."""
        return ",".join(
            f"{escape(name)}{level}" if self._one_sided(name) else f"{escape(name)}={escape(level)}"
            for name, level in self.fixed.items()
        )

    @property
    def words(self) -> str:
        """The subpopulation for a reader: ``name = level, name = level``, or ``everyone``."""
        parts = [self._words_of(name, level) for name, level in self.fixed.items()]
        return ", ".join(parts) or "everyone"

    def _one_sided(self, name: str) -> bool:
        """Whether a covariate is fixed to the numbers below or above one, which has a sign of its own."""
        return name in self.numeric and self.fixed[name][0] in _SIGNS

    def _words_of(self, name: str, level: str) -> str:
        if self._one_sided(name):
            sign = level[: 2 if level[1] == "=" else 1]
            return f"{name} {sign} {level[len(sign) :]}"
        return f"{name} = {level}"


# --- reading queries -----------------------------------------------------------------------------------


def encode(schema: Schema, queries: QueryLike = None) -> Codes:
    """Translate queries to codes.

    Parameters
    ----------
    schema
        The covariates.
    queries
        One query or many, in any form that `QueryLike` names.

    Returns
    -------
    array of int32, shape (queries, covariates)
        The position of the level, or the code of the number or range, that each query fixes, or ``OPEN``.

    Raises
    ------
    QueryError
        If a name or a level is unknown, or the text is not a query.
    """
    if isinstance(queries, np.ndarray) and queries.dtype.kind in "iu":
        return _validate_codes(schema, queries)
    try:
        frame = nw.from_native(queries, pass_through=True)
    except nw.exceptions.DuplicateError:
        check_unique_names([str(name) for name in queries.columns], "the table of queries")
        raise
    if isinstance(frame, nw.LazyFrame):
        raise QueryError("the queries are a lazy table; collect it first, so that they have an order.")
    if isinstance(frame, nw.DataFrame):
        return encode_columns(schema, frame.to_dict(as_series=False))
    if isinstance(queries, Sequence | np.ndarray) and not isinstance(queries, str):
        return _stack(schema, [_encode_one(schema, query) for query in queries])
    return _stack(schema, [_encode_one(schema, queries)])


def encode_columns(schema: Schema, columns: Mapping[str, Sequence[Any]]) -> Codes:
    """Translate a table with one query a row to codes.

    Parameters
    ----------
    schema
        The covariates.
    columns
        Values by column name; a missing value is open, and columns that are not covariates are ignored. Names and
        levels may have the apostrophe that keeps them from being formulas in a CSV file.

    Returns
    -------
    array of int32, shape (rows, covariates)
        The codes of each row.
    """
    columns = {meant(str(name), schema.names): values for name, values in columns.items()}
    check_columns(schema, columns)
    rows = len(next(iter(columns.values()), ()))
    codes = np.full((rows, len(schema.names)), OPEN, dtype=schema.code_type)
    for column, values in columns.items():
        if column in schema.names:
            codes[:, schema.names.index(column)] = _encode_column(schema.covariate(column), values)
    return codes


def check_columns(schema: Schema, columns: Iterable[str]) -> None:
    """Check that a table describes people: a name that is nearly a covariate's would leave it open by mistake.

    Parameters
    ----------
    schema
        The covariates.
    columns
        Names of the table's columns.

    Raises
    ------
    QueryError
        If no column is a covariate, or one is written differently.
    """
    columns = list(columns)
    given = set(columns)
    absent = [name for name in schema.names if name not in given]
    if schema.names and len(absent) == len(schema.names):
        raise QueryError(
            f"the queries have the columns {join_names(columns) or '(none)'}, but none of them is a covariate; "
            f"the covariates are {join_names(schema.names)}."
        )
    folded = {name.strip().casefold(): name for name in absent}
    for column in columns:
        meant = folded.get(column.strip().casefold())
        if column not in schema.names and meant is not None:
            raise QueryError(f"the queries have a column {column!r}; write it {meant!r} as in the model.")


def _encode_column(covariate: Covariate, values: Sequence[Any]) -> list[int]:
    seen: dict[Any, int] = {}
    for row, value in enumerate(values, start=1):
        if value not in seen:
            try:
                seen[value] = encode_value(covariate, value)
            except QueryError as error:
                raise QueryError(f"row {row}: {error}") from None
    return [seen[value] for value in values]


def encode_value(covariate: Covariate, value: Any) -> int:
    """Encode one value of a covariate as people write it.

    Parameters
    ----------
    covariate
        The covariate.
    value
        A level, a number if it has bands, a number or range if it is numeric, or what stands for open: nothing, or
        ``X`` where that is no level.

    Returns
    -------
    int
        The code, or ``OPEN``.

    Raises
    ------
    QueryError
        If there is no such level.
    """
    if isinstance(value, str) and value == OPEN_SYMBOL and OPEN_SYMBOL not in covariate.levels:
        return OPEN
    return covariate.code(meant(value, covariate.levels) if isinstance(value, str) else value)


def meant(text: str, known: Sequence[str]) -> str:
    """Undo the apostrophe that keeps a name or level from being a formula in a file that pnsight wrote.

    Parameters
    ----------
    text
        A name or level as it is in a table.
    known
        All that there are.

    Returns
    -------
    str
        The one that is meant; the text itself if none is.
    """
    found = without_apostrophe(text)
    return found if found in known and text not in known else text


def _encode_one(schema: Schema, query: QueryLike) -> list[int]:
    if isinstance(query, Query):
        query = query.fixed
    if query is None:
        query = {}
    if isinstance(query, str):
        return _parse(schema, query)
    if not isinstance(query, Mapping):
        raise QueryError(
            f"a query must be text such as '{example_query(schema)}' or a mapping from covariate to level, "
            f"not {type(query).__name__} {query!r}."
        )
    codes = [OPEN] * len(schema.names)
    for name, level in query.items():
        codes[schema.index(name)] = encode_value(schema.covariate(name), level)
    return codes


def _parse(schema: Schema, text: str) -> list[int]:
    if not text.strip():
        return [OPEN] * len(schema.names)
    pieces = split_unescaped(text, ",")
    if schema.single_character and len(pieces) == 1 and len(split_unescaped(text, "=")) == 1:
        return _parse_short(schema, text.strip())
    fixed: dict[str, str] = {}
    for piece in pieces:
        name, level = _parse_piece(schema, piece, text)
        if name in fixed and schema.covariate(name).number is not None:
            level = _both(schema.covariate(name), fixed.pop(name), level)
        if fixed.setdefault(name, level) != level:
            raise QueryError(f"query {text!r} fixes {name!r} to both {fixed[name]!r} and {level!r}; keep one.")
    return _encode_one(schema, fixed)


def _both(covariate: Covariate, one: str, other: str) -> str:
    """What two conditions on a number say together, as one text."""
    number = covariate.number
    assert number is not None
    return number.text(number.both(encode_value(covariate, one), encode_value(covariate, other), covariate.name))


def _parse_piece(schema: Schema, piece: str, text: str) -> tuple[str, str]:
    """Name and level of one ``name=level`` of the query `text`; of numbers, with the sign if it is another."""
    for name in sorted((schema.names[j] for j in schema.numeric), key=len, reverse=True):
        begin = escape(name)
        rest = next((text[len(begin) :] for text in (piece, piece.lstrip()) if text.startswith(begin)), "").strip()
        if rest[:1] in ("<", ">"):
            return name, rest
    parts = split_unescaped(piece, "=")
    _refuse_sign(schema, unescape(parts[0]))
    if len(parts) != 2:
        raise QueryError(
            f"query {text!r}: {piece!r} is not of the form name=level; write for example '{example_query(schema)}' "
            "(a backslash before a comma or equals sign that belongs to a name or level)."
        )
    name, level = schema.names[schema.index(unescape(parts[0]))], unescape(parts[1])
    if not level:
        raise QueryError(f"query {text!r} names no level of {name!r}; leave the covariate out to leave it open.")
    return name, level


def _refuse_sign(schema: Schema, text: str) -> None:
    """Refuse what is before the first ``=`` if it asks for more or less of a covariate that is no number."""
    name = re.split(f"[{_SIGNS}]", text, maxsplit=1)[0].strip()
    if text.strip() not in schema.names and name != text.strip() and name in schema.names:
        raise QueryError(schema.covariate(name).no_range())


def _parse_short(schema: Schema, text: str) -> list[int]:
    """The short form: one character for each covariate."""
    if len(text) != len(schema.names):
        raise QueryError(
            f"query {text!r} has {len(text)} characters, but there are {len(schema.names)} covariates "
            f"({join_names(schema.names)}): give one character for each, {OPEN_SYMBOL} for open, or name=level pairs."
        )
    symbols = [None if symbol in OPEN_SYMBOLS else symbol for symbol in text]
    return [covariate.code(symbol) for covariate, symbol in zip(schema.covariates, symbols, strict=True)]


def _stack(schema: Schema, rows: list[list[int]]) -> Codes:
    return np.array(rows, dtype=schema.code_type).reshape(len(rows), len(schema.names))


def _validate_codes(schema: Schema, codes: npt.NDArray[Any]) -> Codes:
    codes = np.atleast_2d(codes)
    if codes.shape[1] != len(schema.names):
        raise QueryError(f"query codes have {codes.shape[1]} columns, expected {len(schema.names)}, one a covariate.")
    if codes.size and not all(_known(schema.covariates[j], codes[:, j]) for j in range(codes.shape[1])):
        raise QueryError("query codes must be -1 (open) or the position of a level of the covariate.")
    return codes.astype(schema.code_type)


def _known(covariate: Covariate, codes: npt.NDArray[Any]) -> bool:
    """Whether all codes, shape (queries,), are of the covariate."""
    if covariate.number is not None:
        return bool((of_numbers(codes) | (codes == OPEN)).all())
    return bool(((codes >= OPEN) & (codes < len(covariate.levels))).all())


# --- writing queries -----------------------------------------------------------------------------------


def decode(schema: Schema, codes: Codes) -> Query:
    """Translate one row of codes to a `Query`.

    Parameters
    ----------
    schema
        The covariates.
    codes : shape (covariates,)
        The code of each covariate.

    Returns
    -------
    Query
        The levels it fixes, by covariate.
    """
    pairs = zip(schema.covariates, codes.tolist(), strict=True)
    numeric = frozenset(schema.names[j] for j in schema.numeric)
    return Query({covariate.name: covariate.text(code) for covariate, code in pairs if code != OPEN}, numeric)


def format_queries(schema: Schema, codes: Codes) -> list[str]:
    """Write queries as text that `encode` reads back.

    Parameters
    ----------
    schema
        The covariates.
    codes : shape (queries, covariates)
        The queries.

    Returns
    -------
    list of str
        One character for each covariate if all levels are single characters, else ``name=level,name=level``.
    """
    if not schema.single_character:
        columns = [_fixings_of(covariate, codes[:, j]) for j, covariate in enumerate(schema.covariates)]
        rows = zip(*columns, strict=True) if columns else [()] * len(codes)
        return [",".join(filter(None, row)) for row in rows] if (codes == OPEN).any() else list(map(",".join, rows))
    symbols = [np.array([*covariate.levels, OPEN_SYMBOL]) for covariate in schema.covariates]
    characters = np.stack([table[codes[:, j]] for j, table in enumerate(symbols)], axis=1)
    width = len(schema.names)
    texts: list[str] = np.ascontiguousarray(characters).view(f"<U{width}").ravel().tolist()
    return texts


class QueryTexts(Sequence[str]):
    """What `format_queries` gives, written once somebody looks at it: it takes long where there are very many."""

    def __init__(self, schema: Schema, codes: Codes) -> None:
        self._schema, self._codes = schema, codes

    @cached_property
    def _texts(self) -> list[str]:
        return format_queries(self._schema, self._codes)

    def __len__(self) -> int:
        return len(self._codes)

    def __getitem__(self, place: Any) -> Any:
        return self._texts[place]


def texts_when_needed(schema: Schema, codes: Codes) -> Sequence[str]:
    """Write queries as `format_queries` does, very many of them only once they are looked at."""
    return format_queries(schema, codes) if len(codes) < _MANY else QueryTexts(schema, codes)


def _fixings_of(covariate: Covariate, codes: npt.NDArray[Any]) -> list[str]:
    """What queries fix one covariate to, each distinct code written once."""
    distinct, place = np.unique(codes, return_inverse=True)
    found: list[str] = np.array(fixings(covariate, distinct), dtype=object)[place.ravel()].tolist()
    return found


def fixings(covariate: Covariate, distinct: npt.NDArray[Any]) -> list[str]:
    """Write what codes fix a covariate to.

    Parameters
    ----------
    covariate
        The covariate.
    distinct : shape (codes,)
        Codes, in order and each once.

    Returns
    -------
    list of str
        ``name=level`` for each, and nothing for that of an open covariate.
    """
    begin, levels = fixing_begin(covariate), covariate.texts(distinct[distinct != OPEN])
    if covariate.number is None:
        texts = [f"{begin}{escape(level)}" for level in levels]
    elif is_range(distinct).any():
        texts = [f"{begin[:-1]}{level}" if level[0] in _SIGNS else f"{begin}{level}" for level in levels]
    else:
        texts = [f"{begin}{level}" for level in levels]
    if len(texts) < len(distinct):
        texts.insert(int(np.flatnonzero(distinct == OPEN)[0]), "")
    return texts


def fixing_begin(covariate: Covariate) -> str:
    """What the text of a level begins with: the name of the covariate and a sign."""
    return f"{escape(covariate.name)}="


def example_query(schema: Schema) -> str:
    """Write a query that a person could ask, for messages and help.

    Parameters
    ----------
    schema
        The covariates.

    Returns
    -------
    str
        The first levels of the first two covariates, as ``name=level,name=level``.
    """
    first = np.array([[each.level_codes[0] if j < 2 else OPEN for j, each in enumerate(schema.covariates)]])
    return str(decode(schema, first[0])) if schema.covariates else ""


# --- splitting and escaping ----------------------------------------------------------------------------


def split_names(text: str) -> list[str]:
    """Split names at commas; a backslash keeps a comma inside a name.

    Parameters
    ----------
    text
        Such as ``age,sex``.

    Returns
    -------
    list of str
        The names without their backslashes; none if the text is blank.
    """
    return [unescape(piece) for piece in split_unescaped(text, ",")] if text.strip() else []


def split_unescaped(text: str, separator: str) -> list[str]:
    """Split a text at the separators that no backslash escapes.

    Parameters
    ----------
    text
        What to split; backslashes are kept.
    separator
        One character.

    Returns
    -------
    list of str
        The pieces, one more than there are separators.
    """
    found, begin = [], 0
    for match in re.finditer(rf"\\.|{re.escape(separator)}", text, re.DOTALL):  # an escaped character, or a separator
        if match.group() == separator:
            found.append(text[begin : match.start()])
            begin = match.end()
    return [*found, text[begin:]]


def query_terms(text: str) -> list[str]:
    """What a written query says, for people to read and without its escapes.

    Parameters
    ----------
    text
        As `format_queries` writes it.

    Returns
    -------
    list of str
        ``name = level`` each; a query in the short form as it is, and nothing for everyone.
    """
    if not text.strip(OPEN_SYMBOL):
        return []
    return [_term_words(split_unescaped(piece, "=")) for piece in split_unescaped(text, ",")]


def _term_words(parts: list[str]) -> str:
    """A name and its level; a name that ends in a sign is below or above a number."""
    *names, level = map(unescape, parts)
    if names and names[-1][-1:] in ("<", ">") and is_number(level.strip()):
        return f"{names[-1][:-1].strip()} {names[-1][-1]}= {level.strip()}"
    if not names and (sign := max(level.rfind("<"), level.rfind(">"))) > 0:
        return f"{level[:sign].strip()} {level[sign]} {level[sign + 1 :].strip()}"
    return " = ".join(part.strip() for part in (*names, level))


def escape(text: str) -> str:
    """Put a backslash before the signs of a name or level that would end it."""
    return re.sub(r"([\\,=])", r"\\\1", text)


def unescape(text: str) -> str:
    """Remove the backslashes that escape a character.

    Parameters
    ----------
    text
        Such as ``a\\,b``.

    Returns
    -------
    str
        The text meant, such as ``a,b``.
    """
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
