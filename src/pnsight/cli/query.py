"""`pnsight query`: bounds for groups from a fitted model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import pnsight
from pnsight._tabular import prepend_columns
from pnsight.cli.estimand_options import EstimandOptions, estimand_options
from pnsight.cli.loading import load_model
from pnsight.cli.messages import say_about
from pnsight.cli.options import FormatOption, OutOption, QueriesArgument, Space
from pnsight.cli.output import emit, say
from pnsight.errors import QueryError
from pnsight.estimands.quantities import PNS

ModelArgument = Annotated[Path, typer.Argument(help="Folder written by pnsight fit.")]
SpaceOption = Annotated[
    Space | None,
    typer.Option("--space", help="All profiles, all groups, or the profiles that have rows."),
]
QueryFileOption = Annotated[
    str | None,
    typer.Option("--queries", help="CSV or Parquet with one query a row, blank for open; its columns are kept."),
]


@estimand_options()
def query(
    model: ModelArgument,
    queries: QueriesArgument = None,
    space: SpaceOption = None,
    query_file: QueryFileOption = None,
    *,
    asking: EstimandOptions,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Bound a quantity for groups of people; no query means everyone."""
    fitted = load_model(model)
    codes, kept = parse_queries(fitted, queries, space, query_file)
    estimand = asking.of(fitted)
    answer = fitted.bounds(codes, estimand)
    say_about(fitted, estimand, answer.notes, "" if answer.quantity == PNS.name else answer.caption)
    emit(prepend_columns(answer.columns(), kept), format, out, fitted.schema, fitted.study.labels, kept)


def parse_queries(
    fitted: pnsight.Model, queries: list[str] | None, space: Space | None, query_file: str | None
) -> tuple[Any, dict[str, list[Any]]]:
    """Codes of the queries that were asked for in one of three ways, and the columns to keep beside the answers."""
    given = [name for name, value in {"queries": queries, "--space": space, "--queries": query_file}.items() if value]
    if len(given) > 1:
        raise QueryError(f"{' and '.join(given)} are given; use one of them.")
    if space is Space.OBSERVED:
        return fitted.study.profiles, {}
    if space is not None:
        return pnsight.queries.lattice.SPACES[space](fitted.schema), {}
    if query_file is not None:
        kept = pnsight.data.reading.read_columns(query_file, "query")
        codes = pnsight.queries.query.encode_columns(fitted.schema, kept)
        _tell_unused(kept, fitted.schema.names)
        return codes, kept
    return pnsight.queries.query.encode(fitted.schema, queries or [""]), {}


def _tell_unused(columns: dict[str, list[Any]], names: tuple[str, ...]) -> None:
    unused = [name for name in columns if name not in names]
    if unused:
        say(str(pnsight.Note("columns_kept", {"columns": unused})))
