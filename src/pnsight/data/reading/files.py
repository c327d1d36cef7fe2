"""CSV and Parquet files, one or many, read by DuckDB."""

from __future__ import annotations

import csv
import glob
import gzip
import os
import re
import tempfile
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

import duckdb

from pnsight._text import in_utf8
from pnsight.data.reading.engine import check_unique_names, error_summary
from pnsight.data.reading.narwhals_engine import NarwhalsEngine
from pnsight.errors import TableError, join_names

_CSV = (".csv", ".csv.gz", ".tsv", ".txt")
_PARQUET = (".parquet", ".pq")
_ENCODING = "it is not in UTF-8; convert it first, for example with: iconv -f LATIN1 -t UTF-8."
_NOT_TEXT = {
    b"\xff\xfe": _ENCODING.replace("LATIN1", "UTF-16"),
    b"\xfe\xff": _ENCODING.replace("LATIN1", "UTF-16"),
    b"\x1f\x8b": "it is compressed by gzip; end its name in .csv.gz.",
    b"PAR1": "it is a Parquet file; end its name in .parquet.",
    b"PK\x03\x04": "it is a spreadsheet or another zip archive; save the table as CSV.",
}
"""First bytes of files that are not plain text, and what to do with them."""

_CHUNK_BYTES = 1 << 20


@cache
def _engine() -> duckdb.DuckDBPyConnection:
    """One DuckDB for the process, in memory; it fetches no extension from the network."""
    return duckdb.connect(
        config={
            "autoinstall_known_extensions": "false",
            "temp_directory": str(Path(tempfile.gettempdir()) / "pnsight"),  # not a folder beside the user's work
        }
    )


def new_connection() -> duckdb.DuckDBPyConnection:
    """Connect to the DuckDB of this process.

    Returns
    -------
    DuckDBPyConnection
        A connection of its own, which reports its progress.
    """
    connection = _engine().cursor()
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
        raise _unreadable(path, role, error_summary(error)) from None
    return NarwhalsEngine.from_native(relation, role, connection)


def _unreadable(path: Path, role: str, why: str) -> TableError:
    return TableError(f"the {role} table {str(path)!r} cannot be read: {why}")


def _matching(path: Path, role: str) -> list[Path]:
    if not glob.has_magic(str(path)):
        raise TableError(f"the {role} table {str(path)!r} does not exist; check the path.")
    found = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]
    if not found:
        raise TableError(f"the {role} table {str(path)!r} is neither a file nor a pattern that any file matches.")
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
        _check_bytes(paths[0], role)
    try:
        relation = connection.read_csv(
            names,
            all_varchar=True,
            header=True,
            quotechar='"',
            comment="",  # a level may start with '#'
            skiprows=0,  # lines above the header are a mistake to report, not to pass over
            union_by_name=True,
        )
    except duckdb.InvalidInputException:
        _check_text(paths[0], role)
        raise
    if len(paths) == 1:
        _check_header(paths[0], relation.columns, role)
    return relation


def _check_header(path: Path, columns: list[str], role: str) -> None:
    """Reject columns that DuckDB renamed, since another has the name, and lines that it could not split."""
    table = f"the {role} table {str(path)!r}"
    with _opened(path, "rt", encoding="utf-8-sig", errors="replace") as file:
        header = file.readline()
    if not header.strip():
        raise TableError(f"{table} begins with a blank line; its first line must name the columns. Take it out.")
    for delimiter in ",;\t|":
        with suppress(csv.Error):  # parts too long for a name, where this is not the delimiter of a wide table
            names = next(csv.reader([header], delimiter=delimiter), [])
            if len(names) == len(columns):
                check_unique_names(names, table)
    if len(columns) == 1 and any(mark in columns[0] for mark in ",;\t|"):
        raise TableError(
            f"{table} cannot be split into columns: its header is {columns[0]!r}, but not every line "
            "has as many fields. Correct the lines that have more or fewer."
        )


def _opened(path: Path, mode: str = "rb", **text: str) -> IO[Any]:
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    file: IO[Any] = opener(path, mode, **text)
    return file


def _check_bytes(path: Path, role: str) -> None:
    """Reject files that are not text, and compressed files that are cut short, which DuckDB would accept."""
    with _opened(path) as file:
        part = file.read(_CHUNK_BYTES)
        for beginning, why in _NOT_TEXT.items():
            if part.startswith(beginning):
                raise _unreadable(path, role, why)
        while part:
            if b"\0" in part:
                raise _unreadable(path, role, "it holds NUL bytes, which no text does; export it again as CSV.")
            part = file.read(_CHUNK_BYTES)


def _check_text(path: Path, role: str) -> None:
    """Raise the reason why a file cannot be read, where DuckDB lists many possible causes; do nothing if unknown."""
    opened, quoted, ends = 1, False, set()
    with _opened(path, "rt", encoding="utf-8", newline="") as file:
        try:
            for number, line in enumerate(file, start=1):
                opened = opened if quoted else number
                quoted ^= line.count('"') % 2 == 1
                if not quoted:
                    ends.add(line[len(line.rstrip("\r\n")) :])
        except UnicodeDecodeError:
            raise _unreadable(path, role, _ENCODING) from None
    if quoted:
        raise _unreadable(path, role, f"the quotation mark in line {opened:,} is not closed; close it or take it out.")
    if len(ends - {""}) > 1:
        raise _unreadable(path, role, "its lines end in different ways (LF, CRLF or CR); save it with one of them.")


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
