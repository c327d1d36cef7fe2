"""Write columns to a Parquet or CSV file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from pnsight._files import replacing, replacing_together
from pnsight._text import in_utf8
from pnsight.data.reading.engine import error_summary
from pnsight.data.reading.files import new_connection
from pnsight.errors import OutputError


def write_parquet(columns: Mapping[str, Any], path: Path) -> None:
    """Write columns to a Parquet file, atomically.

    Parameters
    ----------
    columns
        Lists or arrays of one length, by name.
    path
        Where to write; a file that is there is replaced once the new one is complete.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    with _telling(path), replacing(path) as scratch:
        _write(columns, scratch, path)


def write_tables(tables: Mapping[str, Mapping[str, Any]], folder: Path) -> None:
    """Write tables that belong together to files of one folder.

    Parameters
    ----------
    tables
        Columns as `write_parquet` takes them, by the name of the file: CSV with a header where it ends in ``.csv``,
        else Parquet.
    folder
        Where to write, which is made if need be. Files that are there are replaced once all are complete; whoever is
        interrupted leaves the old ones, or some missing, and never an old one beside a new one.

    Raises
    ------
    OutputError
        If they cannot be written.
    """
    with _telling(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with replacing_together(folder, tuple(tables)) as scratch:
            for name, columns in tables.items():
                _write(columns, scratch / name, folder / name)


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    """Say what could not be written, and why."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot write {str(path)!r}: {error.strerror}.") from None
    except duckdb.Error as error:
        raise OutputError(f"cannot write {str(path)!r}: {error_summary(error)}") from None


def _write(columns: Mapping[str, Any], scratch: Path, path: Path) -> None:
    """Write columns to a scratch file that will be called `path`."""
    if not in_utf8(str(scratch)):  # to which DuckDB cannot write
        raise OutputError(f"cannot write {str(path.resolve())!r}: the name is not in UTF-8; use another.")
    connection = new_connection()
    connection.register("columns_to_write", {name: _array(values) for name, values in columns.items()})
    table = connection.table("columns_to_write")
    write = table.write_csv if path.suffix == ".csv" else table.write_parquet
    write(str(scratch))


def _array(values: Any) -> np.ndarray[Any, Any]:
    """An array that DuckDB understands: missing numbers as NaN, text as objects."""
    if isinstance(values, np.ndarray):
        return values.astype(object) if values.dtype.kind == "U" else values
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int} and None not in values:
        return np.array(values, dtype=np.int64)
    if kinds <= {int, float}:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.array(values, dtype=object)
