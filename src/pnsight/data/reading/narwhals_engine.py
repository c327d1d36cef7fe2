"""Engine for the data frames and relations that narwhals knows, each computed by its own library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, TypeAlias

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from pnsight.data.reading.duckdb_progress import report_progress
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
    nearly_all_differ,
    not_numeric_error,
    unreadable_error,
)
from pnsight.errors import TableError, join_names

Frame: TypeAlias = nw.LazyFrame[Any] | nw.DataFrame[Any]

_SUMMARY = ("low", "high", "present", "apart")
"""What the range of a column is made of, in the order of `ColumnRange.from_summary`."""
_HASHES = 1_000_000
"""Rows are drawn by the last six digits of their hash."""


@dataclass(frozen=True)
class NarwhalsEngine:
    """A table behind narwhals. Its columns are renamed ``c0``, ``c1``, ...: not every engine can quote every name."""

    role: str
    names: tuple[str, ...]
    frame: Frame
    connection: duckdb.DuckDBPyConnection | None = None
    """Connection that reports progress, if the table is in a DuckDB of our own."""

    @classmethod
    def from_native(cls, native: Any, role: str, connection: duckdb.DuckDBPyConnection | None = None) -> NarwhalsEngine:
        """Wrap a data frame or relation, without reading it.

        Parameters
        ----------
        native
            A table of a library that narwhals knows.
        role
            Role of the table, for messages.
        connection
            Connection that reports progress, if it is a relation of our own DuckDB.

        Returns
        -------
        NarwhalsEngine
            The table.
        """
        try:
            frame: Frame = nw.from_native(native)
            names = list(frame.collect_schema().names())
        except nw.exceptions.DuplicateError:
            check_unique_names([str(name) for name in native.columns], f"the {role} table")
            raise
        except TypeError:
            raise TableError(
                f"the {role} table is a {type(native).__name__}; give a path to a CSV or Parquet file, the URL of a "
                "SQL database, or a pandas, Polars, Arrow, DuckDB, Dask, Spark or Ibis table."
            ) from None
        except Exception as error:  # whatever the user's own engine may raise, of a lazy table that is not there
            raise unreadable_error(role, error) from error
        for name in names:
            if not isinstance(name, str):
                raise TableError(
                    f"the {role} table has a column called {name!r}; rename it, column names must be text."
                )
        return cls(role, tuple(names), _with_short_names(frame, names), connection)

    def _column(self, name: str) -> str:
        return f"c{self.names.index(name)}"

    def with_numeric(self, columns: Sequence[str]) -> NarwhalsEngine:
        """Convert columns to numbers, NaN to missing; raises a `TableError` for other values."""
        frame, kinds = self.frame, self.frame.collect_schema()
        for name in columns:
            plain = self._column(name)
            kind = kinds[plain]
            if kind == nw.String and frame.implementation.is_duckdb():
                frame = self._parsed(frame, name)
            elif not kind.is_numeric() and kind != nw.Boolean:
                raise not_numeric_error(name, self.role, f"values of type {kind}")
            frame = frame.with_columns(nw.col(plain).cast(nw.Float64))
            frame = frame.with_columns(nw.when(~nw.col(plain).is_nan()).then(nw.col(plain)).alias(plain))
        return replace(self, frame=frame)

    def _parsed(self, frame: Frame, name: str) -> Frame:
        """A column of text, as in a CSV file, read as numbers."""
        relation: duckdb.DuckDBPyRelation = frame.to_native()
        column = self._column(name)
        number = f"TRY_CAST({column} AS DOUBLE)"
        try:
            odd = relation.filter(f"{number} IS NULL AND trim({column}) <> ''").project(column).distinct().limit(3)
            found = sorted(str(row[0]) for row in odd.fetchall())
        except duckdb.Error as error:
            raise unreadable_error(self.role, error) from None
        if found:
            raise not_numeric_error(name, self.role, join_names(map(repr, found)))
        return nw.from_native(relation.project(f"* REPLACE ({number} AS {column})"))

    def column_ranges(self, columns: Sequence[str]) -> dict[str, ColumnRange]:
        """Find the range of numeric columns."""
        asked = [
            number.alias(f"{what}{i}")
            for i, column in enumerate(map(nw.col, map(self._column, columns)))
            for what, number in zip(
                _SUMMARY,
                (column.min(), column.max(), column.count(), (column - column.round(0)).abs().max()),
                strict=True,
            )
        ]
        found = self._fetch(self.frame.select(*asked, nw.len().alias("rows")))
        (rows,) = found["rows"].tolist()
        summaries = [[found[f"{what}{i}"].tolist()[0] for what in _SUMMARY] for i in range(len(columns))]
        return {
            name: ColumnRange.from_summary(summary, int(rows)) for name, summary in zip(columns, summaries, strict=True)
        }

    def histogram(self, column: str, low: float, high: float, weight: str | None) -> Histogram:
        """Count the numbers from `low` to `high` in bins of equal width, and those on either side in one bin each."""
        number = nw.col(self._column(column))
        inside = (number - low) / ((high - low) / HISTOGRAM_BINS)
        cell = (
            nw.when(number < low)
            .then(nw.lit(-1.0))
            .otherwise(nw.when(number > high).then(nw.lit(2.0 * HISTOGRAM_BINS)).otherwise(inside))
        )
        present = self.frame.filter(~number.is_null())
        whole = cell.round(0)  # engines round halves differently; all keep the order
        held = present.select(whole.alias("cell"), number.alias("number"), self._weight(weight).alias("weight"))
        low_high = nw.col("number").min().alias("low"), nw.col("number").max().alias("high")
        found = self._fetch(held.group_by("cell").agg(*low_high, nw.col("weight").sum().alias("rows")))
        return Histogram(found["low"], found["high"], found["rows"])

    def _weight(self, weight: str | None) -> nw.Expr:
        return nw.lit(1.0) if weight is None else nw.col(self._column(weight))

    def group_by(self, grouping: GroupBy, report: ReportShare) -> GroupByResult:
        """Group the rows, and add up their weights; at most `MAX_GROUPS` groups are fetched."""
        return _group_by_result(grouping, self._fetch(self._grouped(grouping).head(MAX_GROUPS), report))

    def _grouped(self, grouping: GroupBy) -> Frame:
        """Each distinct row, its values as k0, k1, ..., with its rows and, where rows have weights, lines."""
        keys = {f"k{i}": self._key(name, grouping) for i, name in enumerate(grouping.keys)}
        sums = {} if grouping.weight is None else self._sums(self._weight(grouping.weight))
        held = self.frame.select(*(part.alias(name) for name, part in {**keys, **sums}.items()))
        totals = [nw.col(name).sum() for name in sums] or [nw.len().alias("rows")]
        try:
            return held.group_by(*keys).agg(*totals)
        except TypeError:
            raise TableError(
                f"the {self.role} table cannot be grouped by {join_names(grouping.keys)}: one of them holds lists or "
                "records; expected one plain value a row. Leave that column out with --exclude (exclude=), or "
                "make plain columns of it."
            ) from None

    @staticmethod
    def _sums(weight: nw.Expr) -> dict[str, nw.Expr]:
        """What is added up in each group: weights, and lines that have some."""
        return {"rows": weight, "lines": nw.when(weight > 0).then(nw.lit(1)).otherwise(nw.lit(0))}

    def _key(self, name: str, grouping: GroupBy) -> nw.Expr:
        column = nw.col(self._column(name))
        if name not in grouping.edges:
            return column
        above = [(column >= edge).cast(nw.Int64) for edge in grouping.edges[name][1:-1]]
        return nw.when(column.is_null()).then(nw.lit(-1)).otherwise(reduce(add, above, nw.lit(0)))

    def sampled(self, keys: Sequence[str], most: int, alike: bool = False) -> tuple[NarwhalsEngine, int] | None:
        """Draw rows where there are too many."""
        columns = [self._column(name) for name in keys]
        if not alike:
            first = self._fetch(self.frame.select(*columns).head(PEEKED_ROWS))
            if not nearly_all_differ(first.values(), most):
                return None
        rows = int(self._fetch(self.frame.select(nw.len().alias("rows")))["rows"][0])
        drawn = None if rows <= most else self._draw(columns, most, rows)
        return None if drawn is None else (replace(self, frame=drawn), rows)

    def _draw(self, columns: Sequence[str], most: int, rows: int) -> Frame | None:
        """About so many of the rows, always the same ones: by a hash of their values where the engine has one."""
        native: Any = self.frame.to_native()
        kind, below = self.frame.implementation, int(_HASHES * most / rows)
        if kind.is_duckdb():
            native = native.filter(f"hash({', '.join(columns)}) % {_HASHES} < {below}")
        elif kind.is_polars():
            from polars import struct

            native = native.filter(struct(columns).hash(SAMPLE_SEED) % _HASHES < below)
        elif kind.is_spark_like():
            native = native.sample(fraction=most / rows, seed=SAMPLE_SEED)
        elif kind.is_dask():
            native = native.sample(frac=most / rows, random_state=SAMPLE_SEED)
        elif kind.is_ibis():
            texts = [native[name].cast("string").fill_null("").concat("\x1f") for name in columns]
            hashed = reduce(lambda left, right: left.concat(right), texts).hash()
            native = native.filter((hashed % _HASHES + _HASHES) % _HASHES < below)  # hashes have a sign
        else:
            return None if isinstance(self.frame, nw.LazyFrame) else self.frame.sample(most, seed=SAMPLE_SEED)
        drawn: Frame = nw.from_native(native)
        return drawn

    def columns(self) -> dict[str, list[Any]]:
        """Fetch the whole table as lists by column name."""
        found = self._fetch(self.frame)
        return {name: found[self._column(name)].tolist() for name in self.names}

    def batches(self, rows: int) -> Iterator[Any]:
        """Read the table block by block, in its own order; only DuckDB never holds more than a few blocks."""
        native = self.frame.to_native()
        if not isinstance(native, duckdb.DuckDBPyRelation):
            eager = self._collected(self.frame) if isinstance(self.frame, nw.LazyFrame) else self.frame
            yield from eager.to_arrow().rename_columns(list(self.names)).to_batches(rows)
            return
        read: Any = getattr(native, "to_arrow_reader", None) or native.fetch_arrow_reader  # its name before DuckDB 1.5
        try:
            for batch in read(rows):
                yield batch.rename_columns(list(self.names))
        except (duckdb.Error, OSError) as error:  # a broken line is met only when it is read
            raise unreadable_error(self.role, error) from None

    def _fetch(self, frame: Frame, report: ReportShare | None = None) -> dict[str, npt.NDArray[Any]]:
        """Columns as arrays: numbers as numbers, anything else as Python objects."""
        native = frame.to_native()
        if isinstance(native, duckdb.DuckDBPyRelation):
            with report_progress(self.connection, report):
                return _fetch_relation(native, self.role)
        eager = self._collected(frame) if isinstance(frame, nw.LazyFrame) else frame
        return {name: _values(series) for name, series in eager.to_dict(as_series=True).items()}

    def _collected(self, frame: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
        how: dict[str, Any] = {"engine": "streaming"} if frame.implementation.is_polars() else {}
        try:
            return frame.collect(**how)
        except Exception as error:  # as above
            raise unreadable_error(self.role, error) from error


def _group_by_result(grouping: GroupBy, found: dict[str, npt.NDArray[Any]]) -> GroupByResult:
    values = {name: found[f"k{i}"] for i, name in enumerate(grouping.keys)}
    rows, lines = (found[name].astype(np.float64) for name in ("rows", "lines" if "lines" in found else "rows"))
    return GroupByResult(values, rows, lines)


def _with_short_names(frame: Frame, names: Sequence[str]) -> Frame:
    plain = {name: f"c{i}" for i, name in enumerate(names)}
    native: Any = frame.to_native()
    if frame.implementation.is_duckdb():
        native = native.project(", ".join(f"{_quoted(name)} AS {short}" for name, short in plain.items()))
    elif frame.implementation.is_spark_like():
        native = native.toDF(*plain.values())
    else:
        return frame.rename(plain)
    renamed: Frame = nw.from_native(native)
    return renamed


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _values(series: nw.Series[Any]) -> npt.NDArray[Any]:
    if series.dtype.is_float() or (series.dtype.is_integer() and not series.null_count()):
        return np.asarray(series.to_numpy())
    return _objects(series.to_list())


def _fetch_relation(relation: duckdb.DuckDBPyRelation, role: str) -> dict[str, npt.NDArray[Any]]:
    """Through NumPy, which unlike narwhals' way needs no Arrow."""
    try:
        columns = relation.fetchnumpy()
    except duckdb.Error as error:
        raise unreadable_error(role, error) from None
    plain = {name: values.dtype.kind in "biuf" and not np.ma.is_masked(values) for name, values in columns.items()}
    return {name: np.asarray(v) if plain[name] else _objects(v.tolist()) for name, v in columns.items()}


def _objects(values: list[Any]) -> npt.NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
