"""CSV and Parquet files, one or many, read by DuckDB."""

from __future__ import annotations

import glob
import os
import re
import zlib
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from pnsight._redact import redact_url
from pnsight._text import in_utf8
from pnsight.data.reading.csv_text import MAX_LINE_BYTES, check_bytes, check_header, check_text, unreadable_file_error
from pnsight.data.reading.engine import check_unique_names, error_summary
from pnsight.data.reading.narwhals_engine import NarwhalsEngine
from pnsight.data.reading.spill import make_spill_folder
from pnsight.data.sources import TableSource
from pnsight.errors import TableError, join_names

_CSV = (".csv", ".csv.gz", ".tsv", ".txt")
_PARQUET = (".parquet", ".pq")


@cache
def _engine(process: int) -> duckdb.DuckDBPyConnection:
    """One DuckDB for the process of that number, in memory; it fetches no extension from the network."""
    folder = make_spill_folder()
    return duckdb.connect(
        config={"autoinstall_known_extensions": "false", "temp_directory": "" if folder is None else str(folder)}
    )


def new_connection() -> duckdb.DuckDBPyConnection:
    """Connect to the DuckDB of this process.

    Returns
    -------
    DuckDBPyConnection
        A connection of its own, which reports its progress.
    """
    connection = _engine(os.getpid()).cursor()  # a process that was forked has one of its own
    connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
    return connection


def open_files(path: Path, role: str) -> NarwhalsEngine:
    """Open the table in a file, or in all files that match a pattern.

    Parameters
    ----------
    path
        A CSV or Parquet file or, if there is no file of exactly that name, a pattern such as ``data/*.parquet``.
    role
        Role of the table, for messages.

    Returns
    -------
    NarwhalsEngine
        The table, not yet read.

    Raises
    ------
    TableError
        If there is no such file, it cannot be read, or the files have different columns.
    """
    connection = new_connection()
    try:
        paths = [path] if os.path.exists(path) else _matching(path, role)
        kind = _kind(paths, role)
        opened = [_open(connection, [each], kind, role) for each in paths]
        _check_same_columns(paths, opened, role)
        relation = opened[0] if len(opened) == 1 else _open(connection, paths, kind, role)
    except (duckdb.Error, EOFError, OSError, zlib.error) as error:
        raise unreadable_file_error(path, role, error_summary(error)) from None
    return NarwhalsEngine.from_native(relation, role, connection)


def file_source(path: Path, role: str) -> TableSource | None:
    """What the file or the files of a table are called, and of which day they are.

    Parameters
    ----------
    path
        A file or a pattern.
    role
        Role of the table.

    Returns
    -------
    TableSource or None
        None where there is no such file, as where the path is an address of a database.
    """
    paths = [path] if os.path.exists(path) else list(map(Path, glob.glob(str(path), recursive=True)))
    if not paths:
        return None
    newest = datetime.fromtimestamp(max(each.stat().st_mtime for each in paths), UTC)
    name = path.name.encode("utf-8", "replace").decode()  # names of files may hold bytes that are not valid text
    return TableSource(role, name, len(paths), newest.date().isoformat())


def _matching(path: Path, role: str) -> list[Path]:
    shown = redact_url(str(path))  # it may be a URL with a mistake
    if not glob.has_magic(str(path)):
        raise TableError(f"the {role} table {shown!r} does not exist; check the path.")
    found = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]
    if not found:
        raise TableError(f"the {role} table {shown!r} is neither a file nor a pattern that any file matches.")
    return found


def _kind(paths: list[Path], role: str) -> tuple[str, ...]:
    """The endings of the format that all files have."""
    for path in paths:
        _check_file(path, role)
    for kind in (_PARQUET, _CSV):
        if all(path.name.lower().endswith(kind) for path in paths):
            return kind
    odd = next((path for path in paths if not path.name.lower().endswith(_PARQUET + _CSV)), None)
    if odd is None:
        named = join_names([str(path) for path in paths], most=3)
        raise TableError(f"the {role} table is in CSV and in Parquet files ({named}); give files of one kind.")
    raise TableError(
        f"the {role} table {str(odd)!r} has an unknown ending; expected one of {', '.join(_CSV + _PARQUET)}."
    )


def _check_file(path: Path, role: str) -> None:
    if path.is_dir():
        raise TableError(
            f"the {role} table {str(path)!r} is a folder; give a CSV or Parquet file, or a pattern "
            f"such as {str(path / '*.parquet')!r}."
        )
    if path.stat().st_size == 0:
        raise TableError(f"the {role} table {str(path)!r} is empty; it needs a header line and rows.")
    if not in_utf8(str(path)):  # which DuckDB cannot open
        raise TableError(f"the {role} table {str(path)!r} has a name that is not in UTF-8; rename it.")


def _open(
    connection: duckdb.DuckDBPyConnection, paths: list[Path], kind: tuple[str, ...], role: str
) -> duckdb.DuckDBPyRelation:
    names: Any = [_literal(path) for path in paths]
    if kind is _CSV:
        return _open_csv(connection, paths, names, role)
    relation = connection.read_parquet(names, union_by_name=True)
    if len(paths) == 1:
        _check_not_renamed(connection, relation, names[0], f"the {role} table {str(paths[0])!r}")
    return relation


def _check_not_renamed(
    connection: duckdb.DuckDBPyConnection, relation: duckdb.DuckDBPyRelation, name: str, table: str
) -> None:
    """DuckDB renames a column whose name another one has, whatever their case."""
    escaped = name.replace("'", "''")  # not as a parameter, for which DuckDB would load pandas
    known = [row[0] for row in connection.execute(f"SELECT name FROM parquet_schema('{escaped}')").fetchall()]
    if any(column not in known for column in relation.columns):
        check_unique_names(known[1:], table)


def _open_csv(
    connection: duckdb.DuckDBPyConnection, paths: list[Path], names: Any, role: str
) -> duckdb.DuckDBPyRelation:
    """All columns as text, so that no value depends on a guess of its type."""
    if len(paths) == 1:
        check_bytes(paths[0], role)
    try:
        relation = connection.read_csv(
            names,
            all_varchar=True,
            header=True,
            quotechar='"',
            comment="",  # a level may start with '#'
            skiprows=0,  # lines above the header are a mistake to report, not to pass over
            union_by_name=True,
            max_line_size=MAX_LINE_BYTES,
        )
    except duckdb.InvalidInputException:
        check_text(paths[0], role)
        raise
    if len(paths) == 1:
        check_header(paths[0], relation.columns, role)
    return relation


def _check_same_columns(paths: list[Path], opened: list[duckdb.DuckDBPyRelation], role: str) -> None:
    """Files of one table have the same columns, in any order."""
    first = opened[0].columns
    for path, relation in zip(paths, opened, strict=True):
        if sorted(relation.columns) != sorted(first):
            raise TableError(
                f"the files of the {role} table differ: {str(paths[0])!r} has the columns {join_names(first)}, "
                f"{str(path)!r} has {join_names(relation.columns)}. Give files with the same columns."
            )


def _literal(path: Path) -> str:
    """The path for DuckDB, which would take its ``*``, ``?`` and ``[`` for patterns."""
    return re.sub(r"([*?[])", r"[\1]", str(path))
