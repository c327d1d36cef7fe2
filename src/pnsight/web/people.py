"""A table of people as text: read it, decide about everyone in it, and write the decisions beside it."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any

from pnsight.decide import Decisions
from pnsight.errors import LimitError, TableError, listed
from pnsight.tabular import beside
from pnsight.web.explorer import Explorer
from pnsight.web.state import Options

MOST_BYTES = 5_000_000
MOST_ROWS = 100_000

_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


@dataclass(frozen=True)
class People:
    """Decisions about the people of a table.

    Attributes
    ----------
    found : decisions, one a row
    columns : the table's own columns, then those of the decisions
    unused : columns that are no covariates
    """

    found: Decisions
    columns: dict[str, list[Any]]
    unused: tuple[str, ...]


def decide_about(explorer: Explorer, content: bytes, options: Options) -> People:
    """Decide about every person of a table in CSV: one a row, its columns covariates, blank for open."""
    given = read_table(content)
    codes = explorer.schema.encode_columns(given)
    found = explorer.decisions(codes, options)
    unused = tuple(name for name in given if name not in explorer.schema.names)
    return People(found, beside(found.columns(), given), unused)


def read_table(content: bytes) -> dict[str, list[str]]:
    """The columns of a table in CSV, separated by commas, semicolons or tabs."""
    if len(content) > MOST_BYTES:
        raise LimitError(f"the table has {len(content):,} bytes; at most {MOST_BYTES:,} are read here.")
    text = _text(content)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    try:
        header = [name.strip() for name in next(rows, [])]
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
    return text.lstrip("\r\n")


def _delimiter(text: str) -> str:
    """What separates the names in the first line."""
    return max(",;\t", key=text.split("\n", 1)[0].count)


def _refuse_bad_names(header: list[str]) -> None:
    if "" in header:
        raise TableError(f"column {header.index('') + 1} of the table has no name; name all in the first line.")
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise TableError(f"the table has more than one column called {listed(twice)}; keep one of each.")


def _columns(header: list[str], rows: Any) -> dict[str, list[str]]:
    columns: list[list[str]] = [[] for _ in header]
    people = 0
    for row in rows:
        if not row:  # an empty line; in a table of one column it might be a person, of whom nothing is known
            continue
        people += 1
        if len(row) != len(header):
            raise TableError(
                f"row {people} of the table has {len(row)} values for {len(header)} columns: {listed(header)}."
            )
        if people > MOST_ROWS:
            raise LimitError(f"the table has more than {MOST_ROWS:,} people, the most that are read here.")
        for values, value in zip(columns, row, strict=True):
            values.append(value)
    if not people:
        raise TableError("the table has column names but no row; give one line for each person.")
    return dict(zip(header, columns, strict=True))
