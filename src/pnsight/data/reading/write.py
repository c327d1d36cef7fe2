"""Write columns to a Parquet file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from pnsight._files import replacing
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
    table = {name: _array(values) for name, values in columns.items()}
    try:
        connection = new_connection()
        connection.register("columns_to_write", table)
        with replacing(path) as scratch:
            if not in_utf8(str(scratch)):  # to which DuckDB cannot write
                raise OutputError(f"cannot write {str(path.resolve())!r}: the name is not in UTF-8; use another.")
            connection.table("columns_to_write").write_parquet(str(scratch))
    except (duckdb.Error, OSError) as error:
        raise OutputError(f"cannot write {str(path)!r}: {error_summary(error)}") from None


def _array(values: Any) -> np.ndarray[Any, Any]:
    """An array that DuckDB understands: missing numbers as NaN, text as objects."""
    if isinstance(values, np.ndarray):
        return values
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int} and None not in values:
        return np.array(values, dtype=np.int64)
    if kinds <= {int, float}:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.array(values, dtype=object)
