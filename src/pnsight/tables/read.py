"""Opening tables: files through DuckDB, data frames and relations as they are."""

from __future__ import annotations

import csv
import gzip
import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from pnsight.errors import OutputError, TableError, listed
from pnsight.files import replacing

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
        names = list(frame.collect_schema().names())
    except nw.exceptions.DuplicateError:
        refuse_repeated_names([str(name) for name in source.columns], f"the {role} table")
        raise
    except TypeError:
        raise TableError(
            f"the {role} table is a {type(source).__name__}; give a path to a CSV or Parquet file, "
            "a pandas, Polars or Arrow table, or a DuckDB relation."
        ) from None
    for name in names:
        if not isinstance(name, str):
            raise TableError(f"the {role} table has a column called {name!r}; rename it, column names must be text.")
    return frame


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
            return connection.read_parquet(_literal(path))
        if path.name.lower().endswith(_CSV):
            return _read_csv(connection, path, role)
    except duckdb.Error as error:
        raise TableError(f"the {role} table {str(path)!r} cannot be read: {reason(error)}") from None
    raise TableError(
        f"the {role} table {str(path)!r} has an unknown ending; expected one of {', '.join(_CSV + _PARQUET)}."
    )


def _read_csv(connection: duckdb.DuckDBPyConnection, path: Path, role: str) -> duckdb.DuckDBPyRelation:
    """All columns as text, so that no value depends on a guess of its type."""
    relation = connection.read_csv(
        _literal(path),
        all_varchar=True,
        header=True,
        quotechar='"',
        comment="",  # a level may start with '#'
        skiprows=0,  # lines above the header are a mistake to report, not to pass over
    )
    _refuse_repeated_header(path, len(relation.columns), role)
    only = relation.columns[0]
    if len(relation.columns) == 1 and any(mark in only for mark in ",;\t|"):
        raise TableError(
            f"the {role} table {str(path)!r} cannot be split into columns: its header is {only!r}, but not every line "
            "has as many fields. Mend the lines that have more or fewer."
        )
    return relation


def _literal(path: Path) -> str:
    """The path for DuckDB, which would take its ``*``, ``?`` and ``[`` for patterns."""
    return re.sub(r"([*?[])", r"[\1]", str(path))


def _refuse_repeated_header(path: Path, columns: int, role: str) -> None:
    """DuckDB renames a column whose name another one has, whatever their case."""
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8-sig", errors="replace", newline="") as file:
        header = file.readline()
    for delimiter in ",;\t|":
        names = next(csv.reader([header], delimiter=delimiter), [])
        if len(names) == columns:
            refuse_repeated_names(names, f"the {role} table {str(path)!r}")


def refuse_repeated_names(names: Sequence[str], table: str) -> None:
    """Two columns of one name, also but for case, cannot be told apart."""
    folded = [name.strip().casefold() for name in names]
    for name, plain in zip(names, folded, strict=True):
        if folded.count(plain) > 1:
            raise TableError(f"{table} has more than one column called {name!r}; give each a name of its own.")


def count_groups(
    frame: nw.LazyFrame[Any] | nw.DataFrame[Any], columns: list[str], rows: str, role: str
) -> dict[str, npt.NDArray[Any]]:
    """Each distinct combination of the columns with its rows, under the name `rows`, counted where the data live."""
    native = frame.to_native()
    if isinstance(native, duckdb.DuckDBPyRelation):  # narwhals does not quote names for DuckDB's group-by
        names = ", ".join(_quoted(name) for name in columns)
        return _fetch_relation(native.aggregate(f"{names}, count(*) AS {_quoted(rows)}", names), role)
    try:
        return _fetch(frame.group_by(columns).agg(nw.len().alias(rows)), role)
    except TypeError:
        raise TableError(
            f"the {role} table cannot be grouped by {listed(columns)}: one of them holds lists or records; expected "
            "one plain value a row. Leave that column out with --covariates (covariates=), or make plain columns of it."
        ) from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def reason(error: Exception) -> str:
    """The telling lines of an engine's message, as one."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:3])[:300]


def _fetch(frame: nw.LazyFrame[Any] | nw.DataFrame[Any], role: str) -> dict[str, npt.NDArray[Any]]:
    """Columns as arrays: numbers as numbers, anything else as Python objects."""
    native = frame.to_native()
    if isinstance(native, duckdb.DuckDBPyRelation):
        return _fetch_relation(native, role)
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return {name: _values(series) for name, series in eager.to_dict(as_series=True).items()}


def _values(series: nw.Series[Any]) -> npt.NDArray[Any]:
    if series.dtype.is_float() or (series.dtype.is_integer() and not series.null_count()):
        return np.asarray(series.to_numpy())
    return _objects(series.to_list())


def _fetch_relation(relation: duckdb.DuckDBPyRelation, role: str) -> dict[str, npt.NDArray[Any]]:
    """Through NumPy, which unlike narwhals' way needs no Arrow."""
    try:
        columns = relation.fetchnumpy()
    except duckdb.Error as error:
        raise TableError(f"the {role} table cannot be read: {reason(error)}") from None
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
    table = {name: _array(values) for name, values in columns.items()}
    try:
        connection = _engine().cursor()
        connection.register("columns_to_write", table)
        with replacing(path) as scratch:
            connection.table("columns_to_write").write_parquet(str(scratch))
    except (duckdb.Error, OSError) as error:
        raise OutputError(f"cannot write {str(path)!r}: {reason(error)}") from None


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
