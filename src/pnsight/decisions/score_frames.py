"""Score a data frame, and give back a frame of the same kind, computed where its data live."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa

from pnsight._tabular import kept_names
from pnsight.data.reading.engine import check_unique_names
from pnsight.data.schema import label
from pnsight.decisions.score_files import covariate_columns
from pnsight.decisions.scorer import Scorer
from pnsight.errors import TableError
from pnsight.estimands.estimand import EstimandLike
from pnsight.models import Model

_NUMBER = count()


def score(
    model: Model,
    people: Any,
    threshold: float | None = None,
    cautious: bool = False,
    quantity: EstimandLike = None,
    extrapolate: bool = False,
    **options: Any,
) -> Any:
    """Decide about every person of a data frame, and put the decisions beside it.

    Parameters
    ----------
    model
        A fitted model.
    people
        A frame of pandas, Polars (eager or lazy), Arrow, Dask or Spark, or a DuckDB relation, with one person a row.
        Columns that are covariates are read, a missing value is open, and all other columns are kept.
    threshold, cautious, quantity, extrapolate, options
        As `pnsight.decide` takes them, but for ``simultaneous``.

    Returns
    -------
    A frame of the same kind: the columns given, then ``decision``, ``decision_cautious`` and those of an answer, and
    ``problem``, which says why the status of a row is ``invalid``. A column that has the name of one of these is
    renamed, ``name_given``. What is lazy stays lazy: Dask, Spark and Polars compute it when asked, where the data are.
    """
    try:
        frame = nw.from_native(people, pass_through=True)
    except nw.exceptions.DuplicateError:
        check_unique_names([str(name) for name in people.columns], "the table of people")
        raise
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        raise _unknown(people)
    names = [str(name) for name in frame.collect_schema().names()]
    check_unique_names(names, "the table of people")
    scorer = Scorer(model, threshold, cautious, quantity, extrapolate, options)
    beside = _Beside(scorer, covariate_columns(scorer, names), tuple(names), tuple(kept_names(names, scorer.names)))
    attach = _ATTACH.get(str(frame.implementation.value))
    if attach is None:
        raise _unknown(people)
    return attach(beside, people)


def _unknown(people: Any) -> TableError:
    return TableError(
        f"the table of people is a {type(people).__name__}; give a frame of pandas, Polars, Arrow, Dask or Spark, or a "
        "DuckDB relation. For files and databases use pnsight score."
    )


@dataclass(frozen=True)
class _Beside:
    """Which columns of a frame are read, and what they are called beside the answers.

    Attributes
    ----------
    scorer : the model, and what is asked
    covariates : by covariate, its column
    given, kept : columns of the frame, and their names in the result
    """

    scorer: Scorer
    covariates: Mapping[str, str]
    given: tuple[str, ...]
    kept: tuple[str, ...]

    def answers(self, table: Any) -> Any:
        """Answers to the people of an Arrow table or batch."""
        columns = {name: table.column(column) for name, column in self.covariates.items()}
        return self.scorer.score(columns, table.num_rows)

    def in_arrow(self, table: Any) -> Any:
        """An Arrow table with its answers."""
        found = self.answers(table)
        return pa.Table.from_arrays([*table.columns, *found.columns], names=[*self.kept, *found.column_names])

    def in_pandas(self, frame: Any) -> Any:
        """A pandas frame with its answers, and its own index."""
        import pandas

        table = pa.table({name: _arrow_array(frame[name]) for name in self.covariates.values()})
        if not self.covariates:
            table = pa.table({"": pa.nulls(len(frame))})
        found = self.answers(table).to_pandas().set_index(frame.index)
        return pandas.concat([frame.set_axis(list(self.kept), axis=1), found], axis=1)

    def in_polars(self, frame: Any) -> Any:
        """A Polars frame with its answers."""
        import polars

        found = polars.from_arrow(self.answers(frame.select(list(self.covariates.values())).to_arrow()))
        return frame.rename(dict(zip(self.given, self.kept, strict=True))).hstack(found)

    def in_polars_lazily(self, frame: Any) -> Any:
        """A lazy Polars frame that will have its answers."""
        import polars

        empty = self.in_polars(polars.DataFrame(schema=frame.collect_schema()))
        return frame.map_batches(self.in_polars, schema=empty.schema, streamable=True)

    def in_dask(self, frame: Any) -> Any:
        """A Dask frame each of whose partitions will have its answers."""
        return frame.map_partitions(self.in_pandas, meta=self.in_pandas(frame._meta))

    def in_spark(self, frame: Any) -> Any:
        """A Spark frame whose batches are answered by Spark's own workers."""
        from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

        kinds = {pa.string(): StringType, pa.int64(): LongType, pa.float64(): DoubleType}
        own = [
            StructField(name, each.dataType, True) for name, each in zip(self.kept, frame.schema.fields, strict=True)
        ]
        added = [StructField(each.name, kinds[each.type](), True) for each in self.scorer.schema]
        return frame.mapInArrow(self._spark_batches(), StructType([*own, *added]))

    def _spark_batches(self) -> Callable[[Iterator[Any]], Iterator[Any]]:
        def answer(batches: Iterator[Any]) -> Iterator[Any]:
            for batch in batches:
                yield from self.in_arrow(batch).combine_chunks().to_batches()

        return answer

    def in_duckdb(self, relation: Any) -> Any:
        """A relation that joins each distinct person's answers, and is computed by DuckDB."""
        people, answers = f"pnsight_people_{next(_NUMBER)}", f"pnsight_answers_{next(_NUMBER)}"
        columns = [_quoted(name) for name in self.covariates.values()]
        distinct = relation.project(", ".join(columns)).distinct().to_arrow_table()
        named = distinct.rename_columns([f"key{k}" for k in range(len(columns))])
        found = self.answers(distinct)
        table = pa.Table.from_arrays([*named.columns, *found.columns], names=[*named.column_names, *found.column_names])
        own = [f"p.{_quoted(name)} AS {_quoted(kept)}" for name, kept in zip(self.given, self.kept, strict=True)]
        added = [f"a.{_quoted(name)}" for name in found.column_names]
        equal = " AND ".join(f"p.{column} IS NOT DISTINCT FROM a.key{k}" for k, column in enumerate(columns))
        text = f"SELECT {', '.join([*own, *added])} FROM {people} p LEFT JOIN {answers} a ON {equal}"
        return _query_with(relation, people, text, answers, table)


def _query_with(relation: Any, view: str, text: str, name: str, table: Any) -> Any:
    """A query of the relation's own connection, which finds the Arrow table by its name among the variables here."""
    globals()[name] = table
    try:
        return relation.query(view, text)
    finally:
        del globals()[name]


def _arrow_array(series: Any) -> Any:
    """A column of pandas; values of several kinds as text, each as levels are named."""
    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([label(value) for value in series], pa.string())


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _polars(beside: _Beside, people: Any) -> Any:
    return beside.in_polars_lazily(people) if hasattr(people, "collect") else beside.in_polars(people)


_ATTACH: Mapping[str, Callable[[_Beside, Any], Any]] = {
    "pandas": _Beside.in_pandas,
    "polars": _polars,
    "pyarrow": _Beside.in_arrow,
    "dask": _Beside.in_dask,
    "duckdb": _Beside.in_duckdb,
    "pyspark": _Beside.in_spark,
}
"""By narwhals' name of a library."""
