"""A table of people as text: read it, decide about everyone in it, and write the decisions beside it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pnsight._tabular import prepend_columns
from pnsight._text import number_of
from pnsight.data.schema import Codes, Schema
from pnsight.decisions import Decisions
from pnsight.errors import LimitError, QueryError, TableError, join_names
from pnsight.queries.query import encode, encode_columns
from pnsight.web.explorer import Explorer
from pnsight.web.state import Options

MOST_BYTES = 5_000_000
MOST_ROWS = 100_000
MOST_TOLD = 20
"""Bytes and people that are read, and mistakes that are listed."""

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
    if "" in header:
        raise TableError(f"column {header.index('') + 1} of the table has no name; name all in the first line.")
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise TableError(f"the table has more than one column called {join_names(twice)}; keep one of each.")


def _columns(header: list[str], rows: Any) -> Table:
    people: list[list[str]] = []
    lines: list[int] = []
    uneven: list[str] = []
    last = rows.line_num
    for row in rows:
        begins, last = last + 1, rows.line_num
        if not row:  # an empty line; in a table of one column it might be a person, of whom nothing is known
            continue
        people.append(row)
        lines.append(begins)
        if len(row) != len(header):
            has = f"{number_of(len(row), 'value')} for {len(header)} columns: {join_names(header)}."
            uneven.append(f"{_place(len(lines), begins)} has {has}")
        if len(people) > MOST_ROWS:
            raise LimitError(f"the table has more than {MOST_ROWS:,} people, the most that are read here.")
    if uneven:
        raise TableError(_all_of(uneven))
    if not people:
        raise TableError("the table has column names but no row; give one line for each person.")
    return Table({name: [row[k] for row in people] for k, name in enumerate(header)}, lines)


def _codes(schema: Schema, table: Table) -> Codes:
    """The queries, or everything that is wrong with them."""
    try:
        return encode_columns(schema, table.columns)
    except QueryError:
        wrong = list(_wrong(schema, table))
        if not wrong:  # it is the names of the columns
            raise
    raise TableError(_all_of(wrong)) from None


def _wrong(schema: Schema, table: Table) -> Iterator[str]:
    """What is wrong with values, from the first row on."""
    known = {name: values for name, values in table.columns.items() if name in schema.names}
    told: dict[tuple[str, str], str] = {}
    for row, line in enumerate(table.lines):
        for name, values in known.items():
            place = name, values[row]
            if place not in told:
                told[place] = _refusal(schema, *place)
            if told[place]:
                yield f"{_place(row + 1, line)}: {told[place]}"


def _refusal(schema: Schema, name: str, value: str) -> str:
    try:
        encode(schema, {name: value})
    except QueryError as error:
        return str(error)
    return ""


def _place(row: int, line: int) -> str:
    return f"row {row:,} (line {line:,} of the file)"


def _all_of(wrong: list[str]) -> str:
    """Everything that is wrong, a line each; of too much, the first."""
    if len(wrong) == 1:
        return wrong[0]
    more = [f"and {len(wrong) - MOST_TOLD:,} more."] if len(wrong) > MOST_TOLD else []
    return "\n".join([f"{len(wrong):,} things are wrong with this table:", *wrong[:MOST_TOLD], *more])
