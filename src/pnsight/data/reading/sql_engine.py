"""Engine for tables and queries of SQL databases, computed by the database; needs SQLAlchemy, an optional extra."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from pnsight._redact import redact_url
from pnsight.data.reading.arrow_blocks import ArrowBlocks
from pnsight.data.reading.engine import (
    HISTOGRAM_BINS,
    MAX_GROUPS,
    ColumnRange,
    GroupBy,
    GroupByResult,
    Histogram,
    ReportShare,
    check_unique_names,
    error_summary,
    not_numeric_error,
)
from pnsight.errors import PnsightError, TableError, did_you_mean, join_names

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Engine, Executable, FromClause

_ADDRESS = re.compile(r"(?P<url>[A-Za-z][\w+.-]*://(?:\[[^\]]*\]|.)*?)(?:::(?P<what>.*))?", re.DOTALL)
_QUERY = re.compile(r"\s*(select|with|values)\b", re.IGNORECASE)
_BATCH_ROWS = 10_000


@dataclass(frozen=True)
class SqlSource:
    """A table or a query of a SQL database; `repr` leaves out the URL, which may hold a password."""

    url: str = field(repr=False)
    table: str | None = None
    query: str | None = None


def sql(url: str, *, table: str | None = None, query: str | None = None) -> SqlSource:
    """Name a table of a SQL database, or the result of a query, for `read_study`.

    Parameters
    ----------
    url
        As SQLAlchemy writes it, for example ``sqlite:///trial.db`` or ``postgresql://user@host/base``.
    table
        Name of a table or view, if need be with its schema before a dot.
    query
        A SELECT in the database's own SQL.

    Returns
    -------
    SqlSource
        What to pass to `read_study` in place of a table; nothing is read yet.
    """
    if (table is None) == (query is None):
        raise TableError(f"sql() was given table={table!r} and query={query!r}; give one of the two.")
    return SqlSource(url, table, query)


def sql_address(text: str) -> SqlSource | None:
    """Parse the address of a table or a query.

    Parameters
    ----------
    text
        ``URL::table`` or ``URL::SELECT ...``.

    Returns
    -------
    SqlSource or None
        What it names; None if the text is not a URL.
    """
    address = _ADDRESS.fullmatch(text)
    if address is None:
        return None
    what = (address["what"] or "").strip()
    if not what:
        raise TableError(
            f"{redact_url(address['url'])!r} names a database but no table; write it as URL::TABLE or, "
            "in quotes, 'URL::SELECT ...'."
        )
    return sql(address["url"], query=what) if _QUERY.match(what) else sql(address["url"], table=what)


def _sqlalchemy() -> ModuleType:
    try:
        import sqlalchemy
    except ImportError:
        raise TableError(
            "SQL databases are read through SQLAlchemy; install it with: pip install 'pnsight[sql]'."
        ) from None
    return sqlalchemy


@dataclass(frozen=True)
class SqlEngine:
    """A table, view or query of a database."""

    role: str
    names: tuple[str, ...]
    engine: Engine = field(repr=False)
    source: FromClause
    url: str = field(repr=False)

    @classmethod
    def connect(cls, source: SqlSource, role: str) -> SqlEngine:
        """Connect to the database, and find the columns.

        Parameters
        ----------
        source
            Which table or query of which database.
        role
            Role of the table, for messages.

        Returns
        -------
        SqlEngine
            The table, not yet read.
        """
        engine = _engine(source.url, role)
        with _table_errors(role, source.url):
            if source.table is not None:
                found = _table(engine, source.table, role)
            else:
                found = _query(engine, source.query or "", role)
        names = [str(column.name) for column in found.columns]
        return cls(role, tuple(names), engine, found, source.url)

    def with_numeric(self, columns: Sequence[str]) -> SqlEngine:
        """Check that columns hold numbers only; raises a `TableError` otherwise."""
        sa = _sqlalchemy()
        for name in columns:
            column = self.source.c[name]
            for value in self._fetch(sa.select(sa.func.min(column), sa.func.max(column)))[0]:
                _check_number(value, name, self.role)
        return self

    def _number(self, name: str) -> ColumnElement[float]:
        sa = _sqlalchemy()
        number: ColumnElement[float] = sa.cast(self.source.c[name], sa.Double)
        return number

    def column_ranges(self, columns: Sequence[str]) -> dict[str, ColumnRange]:
        """Find the range of numeric columns."""
        sa = _sqlalchemy()
        asked = [
            ask(number) for number in map(self._number, columns) for ask in (sa.func.min, sa.func.max, sa.func.count)
        ]
        ((rows, *found),) = self._fetch(sa.select(sa.func.count(), *asked).select_from(self.source))
        return {name: ColumnRange.from_summary(found[3 * i : 3 * i + 3], int(rows)) for i, name in enumerate(columns)}

    def histogram(self, column: str, low: float, high: float, weight: str | None) -> Histogram:
        """Count the numbers from `low` to `high` in bins of equal width, and those on either side in one bin each."""
        sa, number = _sqlalchemy(), self._number(column)
        inside = sa.cast((number - low) / ((high - low) / HISTOGRAM_BINS), sa.Integer)
        cell = sa.case((number < low, -1), (number > high, 2 * HISTOGRAM_BINS), else_=inside)
        held = (
            sa.select(cell.label("cell"), number.label("number"), self._weight(weight).label("weight"))
            .where(number.is_not(None))
            .subquery()
        )
        ends = sa.func.min(held.c.number), sa.func.max(held.c.number)
        found = self._fetch(sa.select(*ends, sa.func.sum(held.c.weight)).group_by(held.c.cell))
        return Histogram(*np.array(found, dtype=np.float64).reshape(-1, 3).T)

    def _weight(self, weight: str | None) -> ColumnElement[float]:
        one: ColumnElement[float] = _sqlalchemy().literal(1.0)
        return one if weight is None else self._number(weight)

    def group_by(self, grouping: GroupBy, report: ReportShare) -> GroupByResult:
        """Group the rows, and add up their weights; at most `MAX_GROUPS` groups are fetched."""
        sa = _sqlalchemy()
        keys = [self._key(name, grouping).label(f"k{i}") for i, name in enumerate(grouping.keys)]
        weight = self._weight(grouping.weight)
        held = sa.select(*keys, weight.label("rows"), sa.case((weight > 0, 1), else_=0).label("lines")).subquery()
        chosen = [held.c[key.name] for key in keys]
        totals = sa.func.sum(held.c.rows), sa.func.sum(held.c.lines)
        found = self._fetch(sa.select(*chosen, *totals).group_by(*chosen).limit(MAX_GROUPS))
        columns = [np.array(column, dtype=object) for column in zip(*found, strict=True)]
        *values, rows, lines = columns or [np.empty(0, dtype=object)] * (len(keys) + 2)
        keyed = dict(zip(grouping.keys, values, strict=True))
        return GroupByResult(keyed, rows.astype(np.float64), lines.astype(np.float64))

    def _key(self, name: str, grouping: GroupBy) -> ColumnElement[Any]:
        if name not in grouping.edges:
            column: ColumnElement[Any] = self.source.c[name]
            return column
        case, number = _sqlalchemy().case, self._number(name)
        above = [case((number >= edge, 1), else_=0) for edge in grouping.edges[name][1:-1]]
        band: ColumnElement[Any] = case((number.is_(None), -1), else_=reduce(add, above, _sqlalchemy().literal(0)))
        return band

    def sampled(self, keys: Sequence[str], most: int) -> tuple[SqlEngine, int] | None:
        """All rows are counted."""
        return None

    def columns(self) -> dict[str, list[Any]]:
        """Fetch the whole table as lists by column name."""
        found = self._fetch(_sqlalchemy().select(*self.source.columns))
        return {name: [row[i] for row in found] for i, name in enumerate(self.names)}

    def batches(self, rows: int) -> Iterator[Any]:
        """Read the table block by block with a cursor of the server, in the order in which the database gives rows."""
        blocks = ArrowBlocks(self.role, self.names)
        statement = _sqlalchemy().select(*self.source.columns)
        with _table_errors(self.role, self.url), self.engine.connect() as connection:
            options = {"stream_results": True, "max_row_buffer": rows}
            found = connection.execution_options(**options).execute(statement)
            for part in found.partitions(rows):
                yield blocks.convert(part)

    def _fetch(self, statement: Executable) -> list[Sequence[Any]]:
        """Rows of the result, fetched in batches."""
        with _table_errors(self.role, self.url), self.engine.connect() as connection:
            parts = connection.execution_options(stream_results=True).execute(statement).partitions(_BATCH_ROWS)
            return [tuple(row) for part in parts for row in part]


def _engine(url: str, role: str) -> Engine:
    sa = _sqlalchemy()
    shown = redact_url(url)
    try:
        engine: Engine = sa.create_engine(url, poolclass=sa.NullPool)
    except sa.exc.NoSuchModuleError:
        raise TableError(
            f"the {role} table {shown!r} is of a kind of database that SQLAlchemy does not know; expected for example "
            "sqlite:///FILE or postgresql://USER@HOST/BASE."
        ) from None
    except (sa.exc.ArgumentError, ValueError):
        raise TableError(f"the {role} table {shown!r} is not a URL that SQLAlchemy understands; check it.") from None
    except ImportError as error:
        raise TableError(
            f"the {role} table {shown!r} needs a driver: {error_summary(error, url)}. Install it with pip."
        ) from None
    if engine.dialect.name == "sqlite":
        _check_sqlite_file(engine.url.database, shown, role)
    return engine


def _check_sqlite_file(file: str | None, shown: str, role: str) -> None:
    """SQLite would make the file, or a database in memory, with nothing in it."""
    if not file:
        raise TableError(f"the {role} table {shown!r} names no file; write it as sqlite:///FILE::TABLE.")
    if not Path(file).is_file():
        raise TableError(f"the {role} table {shown!r}: there is no file {file!r}; check the path.")


@contextmanager
def _table_errors(role: str, url: str) -> Iterator[None]:
    """Convert errors of the database to a `TableError`, without the password of its URL."""
    exc = _sqlalchemy().exc
    try:
        yield
    except PnsightError:
        raise
    except exc.DBAPIError as error:
        said = f"the database says: {error_summary(error.orig, url)}"
        raise TableError(f"the {role} table cannot be read; {said}") from None
    except Exception as error:  # whatever a driver may raise, of parameters of the URL that it does not know
        raise TableError(f"the {role} table cannot be read: {error_summary(error, url)}") from None


def _table(engine: Engine, name: str, role: str) -> FromClause:
    """A table or view; its schema may come before the name and a dot."""
    sa = _sqlalchemy()
    inspector = sa.inspect(engine)
    schema, _, bare = name.rpartition(".")
    for place, table in ((None, name), (schema or None, bare)):
        if inspector.has_table(table, schema=place):
            columns = [_column(entry) for entry in inspector.get_columns(table, schema=place)]
            found: FromClause = sa.table(table, *columns, schema=place)
            return found
    known = [*inspector.get_table_names(), *inspector.get_view_names()]
    raise TableError(
        f"the {role} table: the database has no table {name!r}; it has {join_names(known) or 'none'}."
        + did_you_mean(name, known)
    )


def _column(entry: Any) -> ColumnElement[Any]:
    """Values as the driver gives them, but for yes and no, which some databases keep as numbers."""
    sa = _sqlalchemy()
    kind = sa.Boolean if isinstance(entry["type"], sa.Boolean) else None
    column: ColumnElement[Any] = sa.column(entry["name"], kind)
    return column


def _query(engine: Engine, query: str, role: str) -> FromClause:
    """A query as the user wrote it, within ours."""
    sa = _sqlalchemy()
    text = sa.text(query.strip().rstrip(";").replace(":", "\\:"))  # a colon is the user's, not a parameter of ours
    with engine.connect() as connection:
        names = list(connection.execute(sa.select(sa.text("*")).select_from(text.columns().subquery()).limit(0)).keys())
    check_unique_names([re.sub(r":\d+$", "", name) for name in names], f"the {role} table")  # SQLite numbers them
    found: FromClause = text.columns(*(sa.column(name) for name in names)).subquery()
    return found


def _check_number(value: Any, name: str, role: str) -> None:
    """Databases order text after numbers, so if there is text then the largest value is."""
    try:
        number = float(value) if value is not None else 0.0
    except (TypeError, ValueError):
        number = float("nan")
    if isinstance(value, str) or number != number:
        raise not_numeric_error(name, role, repr(value))
