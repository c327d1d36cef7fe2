"""`pnsight query`: bounds for subpopulations from a fitted model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import pnsight
from pnsight._tabular import prepend_columns
from pnsight.cli.options import (
    AskedQuantityOption,
    AssumeOption,
    FormatOption,
    LevelOption,
    OutOption,
    PayoffsOption,
    People,
    PopulationOption,
    Quantity,
    QueriesArgument,
    Refine,
    RefineOption,
    Space,
    four_numbers,
)
from pnsight.cli.output import emit, say
from pnsight.errors import QueryError

ModelArgument = Annotated[Path, typer.Argument(help="Folder written by pnsight fit.")]
SpaceOption = Annotated[
    Space | None,
    typer.Option("--space", help="All exact queries, all queries, or the profiles that have rows."),
]
QueryFileOption = Annotated[
    str | None,
    typer.Option("--queries", help="CSV or Parquet with one query a row, blank for open; its columns are kept."),
]


def query(
    model: ModelArgument,
    queries: QueriesArgument = None,
    space: SpaceOption = None,
    query_file: QueryFileOption = None,
    quantity: AskedQuantityOption = None,
    level: LevelOption = 0.9,
    population: PopulationOption = None,
    payoffs: PayoffsOption = None,
    assume: AssumeOption = None,
    refine: RefineOption = Refine.NONE,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Bound a quantity for subpopulations; no query means everyone."""
    fitted = pnsight.load(model)
    codes, kept = asked(fitted, queries, space, query_file)
    options = how_to_answer(fitted, quantity, level, population, payoffs, assume, refine)
    answer = fitted.bounds(codes, **options)
    if answer.quantity != Quantity.PNS:
        say(f"bounds on {answer.quantity}")
    for note in answer.notes:
        say(note)
    emit(prepend_columns(answer.columns(), kept), format, out)


def how_to_answer(
    fitted: pnsight.Model,
    quantity: Quantity | None,
    level: float,
    population: People | None,
    payoffs: str | None,
    assume: list[str] | None,
    refine: Refine,
) -> dict[str, Any]:
    """Arguments of the model's `bounds` that the options stand for."""
    options: dict[str, Any] = {
        "quantity": None if quantity is None else quantity.value,
        "level": level,
        "payoffs": four_numbers(payoffs),
        "assume": ",".join(assume or []),
        "refine": refine.value,
    }
    if population is None:
        return options
    fitted.validate_population(population.value)
    return {**options, "population": population.value}


def asked(
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
        say(f"columns that are not covariates, kept as they are: {', '.join(unused)}")
