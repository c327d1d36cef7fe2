"""Open tables: files and databases by their address, data frames and relations directly."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from pnsight.data.reading.engine import Engine
from pnsight.data.reading.files import file_source, open_files
from pnsight.data.reading.narwhals_engine import NarwhalsEngine
from pnsight.data.reading.sql_engine import SqlEngine, SqlSource, sql_address
from pnsight.data.sources import TableSource

Table: TypeAlias = Any
"""A path to a CSV or Parquet file, or a pattern such as ``data/*.parquet`` for many; a table of a SQL database, as
``URL::table``, ``URL::SELECT ...`` or `sql`; or a table of pandas, Polars, Arrow, DuckDB, Dask, Spark or Ibis."""


def open_table(source: Table, role: str) -> Engine:
    """Open a table with the engine that can read it.

    Parameters
    ----------
    source
        A path, a pattern, an address of a database, or a table of a library.
    role
        Role of the table, for messages: experimental, observational, ...

    Returns
    -------
    Engine
        The table, not yet read.
    """
    if isinstance(source, str) and not os.path.exists(source):
        source = sql_address(source) or source
    if isinstance(source, SqlSource):
        return SqlEngine.connect(source, role)
    if isinstance(source, str | os.PathLike):
        return open_files(Path(source), role)
    return NarwhalsEngine.from_native(source, role)


def table_sources(tables: Mapping[str, Table | None]) -> tuple[TableSource, ...]:
    """The files that tables are in.

    Parameters
    ----------
    tables
        By role, whatever `read_study` takes for a table; None where there is none.

    Returns
    -------
    tuple
        One for each table that is in files; none for those of a database or a library.
    """
    named = {role: Path(table) for role, table in tables.items() if isinstance(table, str | os.PathLike)}
    found = (file_source(path, role) for role, path in named.items())
    return tuple(source for source in found if source is not None)


def read_columns(source: Table, role: str) -> dict[str, list[Any]]:
    """Read a whole small table.

    Parameters
    ----------
    source
        Whatever `read_study` takes for a table.
    role
        What messages call the table, such as ``query``.

    Returns
    -------
    dict
        Lists of values by column name.
    """
    return open_table(source, role).columns()
