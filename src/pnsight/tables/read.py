"""Opening tables: files through DuckDB, data frames and relations as they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from pnsight.errors import OutputError, TableError

Table: TypeAlias = Any
"""A path to a CSV or Parquet file, a pandas, Polars or Arrow frame, or a DuckDB relation."""

_CSV = (".csv", ".csv.gz", ".tsv", ".txt")
_PARQUET = (".parquet", ".pq")


def open_table(source: Table, role: str) -> nw.LazyFrame[Any] | nw.DataFrame[Any]:
    """The table behind narwhals, not yet read. `role` names it in messages: experimental, observational, ..."""
    if isinstance(source, str | os.PathLike):
        source = _open_file(Path(source), role)
    try:
        frame: nw.LazyFrame[Any] | nw.DataFrame[Any] = nw.from_native(source)
        return frame
    except TypeError:
        raise TableError(
            f"the {role} table is a {type(source).__name__}; give a path to a CSV or Parquet file, "
            "a pandas, Polars or Arrow table, or a DuckDB relation."
        ) from None


@cache
def _engine() -> duckdb.DuckDBPyConnection:
    """One DuckDB for the process, in memory; it fetches no extension from the network."""
    return duckdb.connect(config={"autoinstall_known_extensions": "false"})


def _open_file(path: Path, role: str) -> duckdb.DuckDBPyRelation:
    if path.is_dir():
        raise TableError(f"the {role} table {str(path)!r} is a folder; give a CSV or Parquet file.")
    if not path.is_file():
        raise TableError(f"the {role} table {str(path)!r} does not exist; check the path.")
    if path.stat().st_size == 0:
        raise TableError(f"the {role} table {str(path)!r} is empty; it needs a header line and rows.")
    connection = _engine().cursor()
    try:
        if path.name.lower().endswith(_PARQUET):
            return connection.read_parquet(str(path))
        if path.name.lower().endswith(_CSV):
            return _read_csv(connection, path, role)
    except duckdb.Error as error:
        raise TableError(f"the {role} table {str(path)!r} cannot be read: {first_line(error)}") from None
    raise TableError(
        f"the {role} table {str(path)!r} has an unknown ending; expected one of {', '.join(_CSV + _PARQUET)}."
    )


def _read_csv(connection: duckdb.DuckDBPyConnection, path: Path, role: str) -> duckdb.DuckDBPyRelation:
    """All columns as text, so that no value depends on a guess of its type."""
    relation = connection.read_csv(str(path), all_varchar=True, header=True, quotechar='"')
    only = relation.columns[0]
    if len(relation.columns) == 1 and any(mark in only for mark in ",;\t|"):
        raise TableError(
            f"the {role} table {str(path)!r} cannot be split into columns: its header is {only!r}, but not every line "
            "has as many fields. Mend the lines that have more or fewer."
        )
    return relation


def count_groups(
    frame: nw.LazyFrame[Any] | nw.DataFrame[Any], columns: list[str], rows: str, role: str
) -> dict[str, npt.NDArray[Any]]:
    """Each distinct combination of the columns with its rows, under the name `rows`, counted where the data live."""
    native = frame.to_native()
    if isinstance(native, duckdb.DuckDBPyRelation):  # narwhals does not quote names for DuckDB's group-by
        names = ", ".join(_quoted(name) for name in columns)
        return _fetch_relation(native.aggregate(f"{names}, count(*) AS {_quoted(rows)}", names), role)
    return _fetch(frame.group_by(columns).agg(nw.len().alias(rows)), role)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def first_line(error: Exception) -> str:
    """The telling line of an engine's message."""
    return str(error).strip().splitlines()[0]


def _fetch(frame: nw.LazyFrame[Any] | nw.DataFrame[Any], role: str) -> dict[str, npt.NDArray[Any]]:
    """Columns as arrays: numbers as numbers, anything else as Python objects."""
    native = frame.to_native()
    if isinstance(native, duckdb.DuckDBPyRelation):
        return _fetch_relation(native, role)
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return {name: _values(series) for name, series in eager.to_dict(as_series=True).items()}


def _values(series: nw.Series[Any]) -> npt.NDArray[Any]:
    if series.dtype.is_integer() and not series.null_count():
        return np.asarray(series.to_numpy())
    return _objects(series.to_list())


def _fetch_relation(relation: duckdb.DuckDBPyRelation, role: str) -> dict[str, npt.NDArray[Any]]:
    """Through NumPy, which unlike narwhals' way needs no Arrow."""
    try:
        columns = relation.fetchnumpy()
    except duckdb.Error as error:
        raise TableError(f"the {role} table cannot be read: {first_line(error)}") from None
    plain = {name: values.dtype.kind in "biuf" and not np.ma.is_masked(values) for name, values in columns.items()}
    return {name: np.asarray(v) if plain[name] else _objects(v.tolist()) for name, v in columns.items()}


def _objects(values: list[Any]) -> npt.NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def read_columns(source: Table, role: str) -> dict[str, list[Any]]:
    """A whole small table as lists by column name."""
    return {name: values.tolist() for name, values in _fetch(open_table(source, role), role).items()}


def write_parquet(columns: Mapping[str, Any], path: Path) -> None:
    """Write columns (lists or arrays of one length) as a Parquet file, in one step or not at all."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    table = {name: _array(values) for name, values in columns.items()}
    try:
        connection = _engine().cursor()
        connection.register("columns_to_write", table)
        connection.table("columns_to_write").write_parquet(str(scratch))
        os.replace(scratch, path)
    except (duckdb.Error, OSError) as error:
        raise OutputError(f"cannot write {str(path)!r}: {first_line(error)}") from None
    finally:
        scratch.unlink(missing_ok=True)


def _array(values: Any) -> np.ndarray[Any, Any]:
    """An array DuckDB understands: missing numbers as NaN, words as objects."""
    if isinstance(values, np.ndarray):
        return values
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int} and None not in values:
        return np.array(values, dtype=np.int64)
    if kinds <= {int, float}:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.array(values, dtype=object)
