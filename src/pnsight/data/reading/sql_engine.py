"""Engine for tables and queries of SQL databases, computed by the database; needs SQLAlchemy, an optional extra."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from importlib.util import find_spec
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
    PEEKED_ROWS,
    SAMPLE_SEED,
    ColumnRange,
    GroupBy,
    GroupByResult,
    Histogram,
    ReportShare,
    check_unique_names,
    error_summary,
    nearly_all_differ,
    not_numeric_error,
)
from pnsight.errors import PnsightError, TableError, did_you_mean, join_names

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Engine, Executable, FromClause, Inspector, Select

_ADDRESS = re.compile(r"(?P<url>[A-Za-z][\w+.-]*://(?:\[[^\]]*\]|.)*?)(?:::(?P<what>.*))?", re.DOTALL)
_QUERY = re.compile(r"\s*(select|with|values)\b", re.IGNORECASE)
_PERCENT = re.compile(r"""E'(?:[^'\\]|\\.)*'|'[^']*'|"[^"]*"|--[^\n]*|\$\$.*?\$\$|%%?""", re.DOTALL)
"""Signs of per cent in SQL, and texts, names and remarks, in which they mean nothing."""

_BATCH_ROWS = 10_000
_WITH_MD5 = ("postgresql", "mysql", "mariadb", "sqlite")  # have a function of this name; SQLite is given one
_DIGITS = 8  # first digits of it that rows are drawn by


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
            column = self._yes_as_one(name)
            for value in self._fetch(sa.select(sa.func.min(column), sa.func.max(column)))[0]:
                _check_number(value, name, self.role)
        return self

    def _yes_as_one(self, name: str) -> ColumnElement[Any]:
        """A column, yes and no as one and zero: not every database orders them, or takes them for numbers."""
        sa = _sqlalchemy()
        column: ColumnElement[Any] = self.source.c[name]
        return sa.cast(column, sa.Integer) if isinstance(column.type, sa.Boolean) else column

    def _number(self, name: str) -> ColumnElement[float]:
        """A column as numbers; what PostgreSQL keeps as not-a-number is missing, as it is in every other engine."""
        sa = _sqlalchemy()
        number: ColumnElement[float] = sa.cast(self._yes_as_one(name), sa.Double)
        if self.engine.dialect.name == "postgresql":
            number = sa.func.nullif(number, sa.cast("NaN", sa.Double), type_=sa.Double)
        return number

    def column_ranges(self, columns: Sequence[str]) -> dict[str, ColumnRange]:
        """Find the range of numeric columns."""
        sa = _sqlalchemy()
        asked = []
        for number in map(self._number, columns):
            apart = sa.func.max(sa.func.abs(number - sa.func.round(number)))
            asked += [sa.func.min(number), sa.func.max(number), sa.func.count(number), apart]
        ((rows, *found),) = self._fetch(sa.select(sa.func.count(), *asked).select_from(self.source))
        return {name: ColumnRange.from_summary(found[4 * i : 4 * i + 4], int(rows)) for i, name in enumerate(columns)}

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
        grouped, _ = self._grouped(grouping)
        return _group_by_result(grouping, self._fetch(grouped.limit(MAX_GROUPS)))

    def _grouped(self, grouping: GroupBy) -> tuple[Select[Any], list[ColumnElement[Any]]]:
        """Each distinct row with its rows and lines, and the columns by which rows are distinct."""
        sa = _sqlalchemy()
        keys = [self._key(name, grouping).label(f"k{i}") for i, name in enumerate(grouping.keys)]
        weight = self._weight(grouping.weight)
        held = sa.select(*keys, weight.label("rows"), sa.case((weight > 0, 1), else_=0).label("lines")).subquery()
        chosen = [held.c[key.name] for key in keys]
        grouped: Select[Any] = sa.select(*chosen, sa.func.sum(held.c.rows), sa.func.sum(held.c.lines))
        return grouped.group_by(*chosen), chosen

    def _key(self, name: str, grouping: GroupBy) -> ColumnElement[Any]:
        if name not in grouping.edges:
            column: ColumnElement[Any] = self.source.c[name]
            return column
        case, number = _sqlalchemy().case, self._number(name)
        above = [case((number >= edge, 1), else_=0) for edge in grouping.edges[name][1:-1]]
        band: ColumnElement[Any] = case((number.is_(None), -1), else_=reduce(add, above, _sqlalchemy().literal(0)))
        return band

    def sampled(self, keys: Sequence[str], most: int, alike: bool = False) -> tuple[SqlEngine, int] | None:
        """Draw rows by a hash of their values; of a database that has none, all rows are counted."""
        if self.engine.dialect.name not in _WITH_MD5:
            return None
        sa, chosen = _sqlalchemy(), [self.source.c[name] for name in keys]
        if not alike:
            first = self._fetch(sa.select(*chosen).limit(PEEKED_ROWS))
            if not nearly_all_differ(list(zip(*first, strict=True)), most):
                return None
        ((rows,),) = self._fetch(sa.select(sa.func.count()).select_from(self.source))
        if rows <= most:
            return None
        below = f"{int(16**_DIGITS * most / rows):0{_DIGITS}x}"
        drawn = sa.select(*self.source.columns).where(sa.func.substr(_digest(chosen), 1, _DIGITS) < below)
        return replace(self, source=drawn.subquery()), int(rows)

    def columns(self) -> dict[str, list[Any]]:
        """Fetch the whole table as lists by column name."""
        found = self._fetch(_sqlalchemy().select(*self.source.columns))
        return {name: [row[i] for row in found] for i, name in enumerate(self.names)}

    def batches(self, rows: int) -> Iterator[Any]:
        """Read the table block by block with a cursor of the server, in the order in which the database gives rows."""
        blocks = ArrowBlocks(self.role, self.names)
        for part in self._parts(_sqlalchemy().select(*self.source.columns), rows):
            yield blocks.convert(part)

    def _fetch(self, statement: Executable) -> list[Sequence[Any]]:
        """All rows of the result."""
        return list(self._rows(statement))

    def _rows(self, statement: Executable) -> Iterator[Sequence[Any]]:
        """Rows of the result, one after another."""
        for part in self._parts(statement, _BATCH_ROWS):
            yield from map(tuple, part)

    def _parts(self, statement: Executable, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Blocks of the result, fetched with a cursor of the server where it has them."""
        options = {"stream_results": True, "max_row_buffer": rows}
        with _table_errors(self.role, self.url), self.engine.connect() as connection:
            yield from connection.execution_options(**options).execute(statement).partitions(rows)


def _group_by_result(grouping: GroupBy, found: Sequence[Sequence[Any]]) -> GroupByResult:
    """Rows of keys, sum of weights and lines, by column."""
    columns = [np.array(column, dtype=object) for column in zip(*found, strict=True)]
    *values, rows, lines = columns or [np.empty(0, dtype=object)] * (len(grouping.keys) + 2)
    keyed = dict(zip(grouping.keys, values, strict=True))
    return GroupByResult(keyed, rows.astype(np.float64), lines.astype(np.float64))


def _digest(columns: Sequence[ColumnElement[Any]]) -> ColumnElement[str]:
    """The hash of a row's values: 32 hexadecimal digits."""
    sa = _sqlalchemy()
    between, present, absent = (sa.literal(text, sa.Text) for text in ("\x1f", "=", "-"))
    texts = [sa.func.coalesce(present + sa.cast(each, sa.Text), absent) for each in columns]
    mixed = reduce(lambda left, right: left + between + right, texts, sa.literal(str(SAMPLE_SEED), sa.Text))
    hashed: ColumnElement[str] = sa.func.md5(mixed)
    return hashed


def _engine(url: str, role: str) -> Engine:
    sa = _sqlalchemy()
    shown = redact_url(url)
    try:
        engine = _create_engine(url)
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


def _create_engine(url: str) -> Engine:
    """A connection by the driver that the URL names, or SQLAlchemy's own; of PostgreSQL else that of our extra."""
    sa = _sqlalchemy()
    try:
        engine: Engine = sa.create_engine(url, poolclass=sa.NullPool)
    except ImportError:
        if not url.startswith("postgresql://") or find_spec("pg8000") is None:
            raise
        engine = sa.create_engine(url.replace("postgresql", "postgresql+pg8000", 1), poolclass=sa.NullPool)
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _with_md5)
    if engine.dialect.driver == "pg8000":
        sa.event.listen(engine, "before_cursor_execute", _single_percents, retval=True)
    return engine


def _with_md5(connection: Any, _: Any) -> None:
    """Give SQLite the function that other databases have, to draw rows by."""
    connection.create_function("md5", 1, _md5, deterministic=True)


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _single_percents(_0: Any, _1: Any, statement: str, parameters: Any, _2: Any, _3: Any) -> tuple[str, Any]:
    """What pg8000 takes as `%`: `%%` where there are parameters, and `%` where there are none."""
    return (statement if parameters else _percents(statement, "%")), parameters


def _percents(statement: str, sign: str) -> str:
    """SQL with another sign of per cent."""
    return _PERCENT.sub(lambda found: sign if found[0].startswith("%") else found[0], statement)


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
        said = error_summary(_message(error.orig), url)
        raise TableError(f"the {role} table cannot be read; the database says: {said}") from None
    except Exception as error:  # whatever a driver may raise, of parameters of the URL that it does not know
        raise TableError(f"the {role} table cannot be read: {error_summary(error, url)}") from None


def _message(error: BaseException | None) -> object:
    """What a driver's error says; pg8000 gives the fields of PostgreSQL's message, of which M is the text."""
    fields = error.args[0] if error is not None and error.args else None
    return fields["M"] if isinstance(fields, dict) and "M" in fields else error


def _table(engine: Engine, name: str, role: str) -> FromClause:
    """A table or view; its schema may come before the name and a dot."""
    sa = _sqlalchemy()
    inspector = sa.inspect(engine)
    for place, table in _places(name):
        if inspector.has_table(table, schema=place):
            columns = [_column(entry) for entry in inspector.get_columns(table, schema=place)]
            found: FromClause = sa.table(table, *columns, schema=place)
            return found
    known = _known_tables(inspector, name)
    raise TableError(
        f"the {role} table: the database has no table {name!r}; it has {join_names(known) or 'none'}."
        + did_you_mean(name, known)
    )


def _places(name: str) -> Iterator[tuple[str | None, str]]:
    """Schema and table that a name may mean: the whole of it a table, or divided at one of its dots."""
    yield None, name
    for dot in (place for place, letter in enumerate(name) if letter == "."):
        yield name[:dot] or None, name[dot + 1 :]


def _known_tables(inspector: Inspector, name: str) -> list[str]:
    """Tables and views of the schema that a name begins with, or of the usual one."""
    schemas = set(inspector.get_schema_names()) if "." in name else set()
    schema = next((place for place, _ in _places(name) if place in schemas), None)
    found = [*inspector.get_table_names(schema), *inspector.get_view_names(schema)]
    return found if schema is None else [f"{schema}.{table}" for table in found]


def _column(entry: Any) -> ColumnElement[Any]:
    """Values as the driver gives them, but for yes and no, which some databases keep as numbers."""
    sa = _sqlalchemy()
    kind = sa.Boolean if isinstance(entry["type"], sa.Boolean) else None
    column: ColumnElement[Any] = sa.column(entry["name"], kind)
    return column


def _query(engine: Engine, query: str, role: str) -> FromClause:
    """A query as the user wrote it, within ours."""
    sa = _sqlalchemy()
    plain = query.strip().rstrip(";").replace(":", "\\:")  # a colon is the user's, not a parameter of ours
    if engine.dialect.driver == "pg8000":
        plain = _percents(plain, "%%")
    text = sa.text(f"{plain}\n")  # on a line of its own, what follows is no part of a remark that ends the query
    with engine.connect() as connection:
        names = list(connection.execute(sa.select(sa.text("*")).select_from(text.columns().subquery()).limit(0)).keys())
    check_unique_names([re.sub(r":\d+$", "", name) for name in names], f"the {role} table")  # SQLite numbers them
    found: FromClause = text.columns(*(sa.column(name) for name in names)).subquery()
    return found


def _check_number(value: Any, name: str, role: str) -> None:
    """Databases order text after numbers, so if there is text then the largest value is."""
    try:
        float(value or 0.0)
    except (TypeError, ValueError):
        raise not_numeric_error(name, role, repr(value)) from None
    if isinstance(value, str):
        raise not_numeric_error(name, role, repr(value))
