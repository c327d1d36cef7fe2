"""A table of people as text: read it, decide about everyone in it, and write the decisions beside it."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pnsight._tabular import prepend_columns
from pnsight._text import number_of
from pnsight.data.schema import OPEN, OPEN_SYMBOL, Codes, Schema
from pnsight.decisions import NONE, Decisions
from pnsight.errors import LimitError, QueryError, TableError, join_names
from pnsight.queries.bound_table import INTERVAL_ENDS, INVALID
from pnsight.queries.query import encode, encode_columns
from pnsight.web.explorer import Explorer
from pnsight.web.limits import MOST_TEXT
from pnsight.web.state import Options

MOST_BYTES = 5_000_000
MOST_ROWS = 100_000
MOST_COLUMNS = 10_000
MOST_TOLD = 20
"""Bytes, people and columns that are read, and mistakes that are listed."""

_NUMBERS = ("lower", "upper", *INTERVAL_ENDS, "trial_lower", "trial_upper", "effective_rows")
_SUPPORT = ("support_experimental", "support_observational")
"""Columns of an answer that a row which cannot be read does not have."""

WESTERN = "cp1252"
"""How a text is read that is not in UTF-8: as Windows and older programs write in western Europe (Latin-1)."""

_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))


@dataclass(frozen=True)
class People:
    """Decisions about the people of a table.

    Attributes
    ----------
    found : decisions, one a row; none about rows that cannot be read, whose status is ``invalid``
    codes : shape (rows, covariates)
        The queries; of a row that cannot be read, that of everyone.
    given : the table's own columns
    columns : the same, then those of the decisions, and what is wrong with rows where something is
    unused : columns that are no covariates
    problems : by row, what is wrong with those that cannot be read
    encoding : how the text was read, where that had to be guessed; else empty
    """

    found: Decisions
    codes: Codes
    given: dict[str, list[str]]
    columns: dict[str, list[Any]]
    unused: tuple[str, ...]
    problems: dict[int, str]
    encoding: str


@dataclass(frozen=True)
class Table:
    """The columns of a table, and the line of the file at which each row begins.

    `problems` says by row what is wrong with those that have another number of values than there are columns, and
    `encoding` how the text was read, where that had to be guessed.
    """

    columns: dict[str, list[str]]
    lines: list[int]
    problems: dict[int, str] = field(default_factory=dict)
    encoding: str = ""


def decide_about(explorer: Explorer, content: bytes, options: Options) -> People:
    """Decide about every person of a table in CSV: one a row, its columns covariates, blank for open.

    Rows that cannot be read are flagged one by one; a table without any other is refused.
    """
    table = read_table(content)
    given = table.columns
    codes, problems = _codes(explorer.schema, table)
    if len(problems) == len(codes):
        raise TableError(_listed(problems))
    found = _about_valid(explorer, codes, problems, options)
    unused = tuple(name for name in given if name not in explorer.schema.names)
    columns = prepend_columns(found.columns(), given)
    if problems:
        columns["problem"] = [problems.get(row, "") for row in range(len(codes))]
    return People(found, codes, given, columns, unused, problems, table.encoding)


def _about_valid(explorer: Explorer, codes: Codes, problems: Mapping[int, str], options: Options) -> Decisions:
    """Decisions about the rows that can be read, and none about the others."""
    valid = np.ones(len(codes), dtype=bool)
    valid[list(problems)] = False
    found = explorer.decisions(codes[valid], options)
    if not problems:
        return found
    place = np.maximum(np.cumsum(valid) - 1, 0)
    answers = found.answers.take(place)
    blank: dict[str, Any] = {
        name: np.where(valid, values, np.nan) for name in _NUMBERS if (values := getattr(answers, name)) is not None
    }
    told: dict[str, Any] = {"status": np.where(valid, answers.status, INVALID)}
    if answers.basis is not None:
        told["basis"] = np.where(valid, answers.basis, "")
    told |= {name: np.where(valid, getattr(answers, name), 0.0) for name in _SUPPORT}
    plain, cautious = (np.where(valid, words[place], NONE) for words in (found.decision, found.decision_cautious))
    return replace(found, answers=replace(answers, **blank, **told), decision=plain, decision_cautious=cautious)


def read_table(content: bytes) -> Table:
    """A table in CSV, separated by commas, semicolons or tabs."""
    if len(content) > MOST_BYTES:
        raise LimitError(f"the table has {len(content):,} bytes; at most {MOST_BYTES:,} are read here.")
    text, encoding = _text(content)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    try:
        header = [name.strip() for name in next((row for row in rows if row), [])]
        _refuse_bad_names(header)
        return replace(_columns(header, rows), encoding=encoding)
    except csv.Error as error:
        raise TableError(f"the table cannot be read as CSV: {error}.") from None


def _text(content: bytes) -> tuple[str, str]:
    """The text, and how it was read where that had to be guessed."""
    encoding, guessed = next((name for mark, name in _MARKS if content.startswith(mark)), "utf-8"), ""
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        guessed = WESTERN
        text = content.decode(WESTERN, errors="replace")
    if "\0" in text:
        raise TableError("the table is not text; save it as CSV, not as a spreadsheet.")
    if not text.strip():
        raise TableError("the table is empty; give a line of column names, then one line for each person.")
    return text, guessed


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
    uneven: dict[int, str] = {}
    expected = f"{len(header)} columns: {join_names(header)}."
    last = rows.line_num
    for row in rows:
        begins, last = last + 1, rows.line_num
        if not row:  # an empty line; in a table of one column it might be a person, of whom nothing is known
            continue
        if len(row) != len(header):
            place = _place(len(people) + 1, begins)
            uneven[len(people)] = f"{place} has {number_of(len(row), 'value')} for {expected}"
        if (len(people) + 1) * len(
            header
        ) > MOST_BYTES:  # more values than bytes: rows are short, and filling them is dear
            first = next(iter(uneven.values()))
            raise TableError(f"{len(uneven):,} or more rows are too short; {first} Give every row all values.")
        people.append([*row, *[""] * (len(header) - len(row))])
        lines.append(begins)
        if len(people) > MOST_ROWS:
            raise LimitError(f"the table has more than {MOST_ROWS:,} people, the most that are read here.")
    if not people:
        raise TableError("the table has column names but no row; give one line for each person.")
    return Table({name: [row[k] for row in people] for k, name in enumerate(header)}, lines, uneven)


def _codes(schema: Schema, table: Table) -> tuple[Codes, dict[int, str]]:
    """The queries, and by row what is wrong with those that cannot be read; their query is that of everyone."""
    problems = dict(table.problems)
    try:
        codes = encode_columns(schema, table.columns)
    except QueryError:
        wrong: dict[int, list[str]] = {}
        for row, name, value in _unreadable(schema, table):
            wrong.setdefault(row, []).append(_refusal(schema, name, value))
        if not wrong:  # it is the names of the columns
            raise
        for row, said in wrong.items():
            problems.setdefault(row, f"{_place(row + 1, table.lines[row])}: {' '.join(said)}")
        readable = {
            name: [OPEN_SYMBOL if row in wrong else value for row, value in enumerate(values)]
            for name, values in table.columns.items()
        }
        codes = encode_columns(schema, readable)
    codes[list(problems)] = OPEN
    return codes, dict(sorted(problems.items()))


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


def _listed(problems: Mapping[int, str]) -> str:
    """What is wrong with every row of a table; of too much, the first and how much more there is."""
    first = list(problems.values())[:MOST_TOLD]
    if len(problems) == 1:
        return first[0]
    more = [f"and {len(problems) - MOST_TOLD:,} more."] if len(problems) > MOST_TOLD else []
    return "\n".join([f"no row of this table can be read, of {len(problems):,}:", *first, *more])
