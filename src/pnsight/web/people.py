"""A table of people as text: read it, decide about everyone in it, and write the decisions beside it."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from pnsight._tabular import prepend_columns
from pnsight._text import number_of
from pnsight.data.schema import OPEN_SYMBOL, Codes, Schema
from pnsight.decisions import Decisions
from pnsight.errors import LimitError, QueryError, TableError, join_names
from pnsight.queries.query import encode, encode_columns
from pnsight.web.explorer import Explorer
from pnsight.web.limits import MOST_TEXT
from pnsight.web.state import Options

MOST_BYTES = 5_000_000
MOST_ROWS = 100_000
MOST_COLUMNS = 10_000
MOST_TOLD = 20
"""Bytes, people and columns that are read, and mistakes that are listed."""

_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


@dataclass(frozen=True)
class People:
    """Decisions about the people of a table.

    Attributes
    ----------
    found : decisions, one a row
    given : the table's own columns
    columns : the same, then those of the decisions
    unused : columns that are no covariates
    """

    found: Decisions
    given: dict[str, list[str]]
    columns: dict[str, list[Any]]
    unused: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """The columns of a table, and the line of the file at which each row begins."""

    columns: dict[str, list[str]]
    lines: list[int]


def decide_about(explorer: Explorer, content: bytes, options: Options) -> People:
    """Decide about every person of a table in CSV: one a row, its columns covariates, blank for open."""
    table = read_table(content)
    given = table.columns
    codes = _codes(explorer.schema, table)
    found = explorer.decisions(codes, options)
    unused = tuple(name for name in given if name not in explorer.schema.names)
    return People(found, given, prepend_columns(found.columns(), given), unused)


def read_table(content: bytes) -> Table:
    """A table in CSV, separated by commas, semicolons or tabs."""
    if len(content) > MOST_BYTES:
        raise LimitError(f"the table has {len(content):,} bytes; at most {MOST_BYTES:,} are read here.")
    text = _text(content)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    try:
        header = [name.strip() for name in next((row for row in rows if row), [])]
        _refuse_bad_names(header)
        return _columns(header, rows)
    except csv.Error as error:
        raise TableError(f"the table cannot be read as CSV: {error}.") from None


def _text(content: bytes) -> str:
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        raise TableError("the table is not in UTF-8; save it as CSV in UTF-8.") from None
    if "\0" in text:
        raise TableError("the table is not text; save it as CSV, not as a spreadsheet.")
    if not text.strip():
        raise TableError("the table is empty; give a line of column names, then one line for each person.")
    return text


def _delimiter(text: str) -> str:
    """What separates the names in the first line that is not empty."""
    return max(",;\t", key=text.lstrip("\r\n").split("\n", 1)[0].count)


def _refuse_bad_names(header: list[str]) -> None:
    if len(header) > MOST_COLUMNS:
        raise LimitError(f"the table has {len(header):,} columns; at most {MOST_COLUMNS:,} are read here.")
    if "" in header:
        raise TableError(f"column {header.index('') + 1} of the table has no name; name all in the first line.")
    twice = sorted(name for name, times in Counter(header).items() if times > 1)
    if twice:
        raise TableError(f"the table has more than one column called {join_names(twice)}; keep one of each.")


def _columns(header: list[str], rows: Any) -> Table:
    people: list[list[str]] = []
    lines: list[int] = []
    uneven = _Mistakes()
    expected = f"{len(header)} columns: {join_names(header)}."
    last = rows.line_num
    for row in rows:
        begins, last = last + 1, rows.line_num
        if not row:  # an empty line; in a table of one column it might be a person, of whom nothing is known
            continue
        people.append(row)
        lines.append(begins)
        if len(row) != len(header):
            uneven.add(f"{_place(len(lines), begins)} has {number_of(len(row), 'value')} for {expected}")
        if len(people) > MOST_ROWS:
            raise LimitError(f"the table has more than {MOST_ROWS:,} people, the most that are read here.")
    if uneven.number:
        raise TableError(str(uneven))
    if not people:
        raise TableError("the table has column names but no row; give one line for each person.")
    return Table({name: [row[k] for row in people] for k, name in enumerate(header)}, lines)


def _codes(schema: Schema, table: Table) -> Codes:
    """The queries, or everything that is wrong with them."""
    try:
        return encode_columns(schema, table.columns)
    except QueryError:
        wrong = _Mistakes()
        places = _unreadable(schema, table)
        for row, name, value in islice(places, MOST_TOLD):
            wrong.add(f"{_place(row + 1, table.lines[row])}: {_refusal(schema, name, value)}")
        wrong.number += sum(1 for _ in places)
        if not wrong.number:  # it is the names of the columns
            raise
    raise TableError(str(wrong)) from None


def _unreadable(schema: Schema, table: Table) -> Iterator[tuple[int, str, str]]:
    """Row, covariate and value of everything that is wrong, from the first row on."""
    known = {name: values for name, values in table.columns.items() if name in schema.names}
    bad = {
        name: {value for value in set(values) if value != OPEN_SYMBOL and schema.covariate(name).find(value) is None}
        for name, values in known.items()
    }
    for row in range(len(table.lines)):
        yield from ((row, name, values[row]) for name, values in known.items() if values[row] in bad[name])


def _refusal(schema: Schema, name: str, value: str) -> str:
    if len(value) > MOST_TEXT:
        return f"the value of {name!r} has {len(value):,} characters; at most {MOST_TEXT:,} are read."
    try:
        encode(schema, {name: value})
    except QueryError as error:
        return str(error)
    return ""


def _place(row: int, line: int) -> str:
    return f"row {row:,} (line {line:,} of the file)"


@dataclass
class _Mistakes:
    """Everything that is wrong with a table, a line each; of too much, the first and how much more there is."""

    number: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, words: str) -> None:
        self.number += 1
        if len(self.first) < MOST_TOLD:
            self.first.append(words)

    def __str__(self) -> str:
        if self.number == 1:
            return self.first[0]
        more = [f"and {self.number - MOST_TOLD:,} more."] if self.number > MOST_TOLD else []
        return "\n".join([f"{self.number:,} things are wrong with this table:", *self.first, *more])
