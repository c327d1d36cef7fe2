"""`pnsight query`: bounds for subpopulations from a fitted model."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Annotated, Any

import typer

import pnsight
from pnsight.cli.options import (
    FormatOption,
    OutOption,
    PayoffsOption,
    People,
    Quantity,
    QueriesArgument,
    Refine,
    RefineOption,
    Space,
    four_numbers,
    within,
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
    quantity: Annotated[
        Quantity | None,
        typer.Option("--quantity", help="What to bound; by default what the model was fitted for, or pns."),
    ] = None,
    level: Annotated[float, typer.Option("--level", help="Confidence of the intervals.", callback=within(0, 1))] = 0.9,
    population: Annotated[
        People | None,
        typer.Option(
            "--population", help="Whose people an open covariate is averaged over; by default as the model was fitted."
        ),
    ] = None,
    payoffs: PayoffsOption = None,
    assume: Annotated[
        list[str] | None,
        typer.Option(
            "--assume",
            metavar="ASSUMPTION",
            help="Assume monotone (nobody is harmed), exogenous (given the covariates, the treatment chosen is as good "
            "as random), or both: comma-separated or repeated. Refused where the tables contradict it.",
        ),
    ] = None,
    refine: RefineOption = Refine.NONE,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Bound a quantity for subpopulations; no query means everyone."""
    fitted = pnsight.load(model)
    codes, kept = asked(fitted, queries, space, query_file)
    more = {"payoffs": four_numbers(payoffs), "assume": ",".join(assume or []), "refine": refine.value}
    answer = _answered(fitted, codes, quantity, level, population, more)
    columns = answer.columns()
    if answer.quantity != Quantity.PNS:
        say(f"bounds on {answer.quantity}")
    for note in answer.notes:
        say(note)
    taken = {*columns, *kept}
    emit({**{_free(name, columns, taken): values for name, values in kept.items()}, **columns}, format, out)


def _answered(
    fitted: pnsight.Model,
    codes: Any,
    quantity: str | None,
    level: float,
    population: People | None,
    more: dict[str, Any],
) -> pnsight.BoundTable:
    if population is None:
        return fitted.bounds(codes, quantity, level, **more)
    if not isinstance(fitted, pnsight.ResponseTypeModel):
        raise QueryError(
            f"--population {population} was given, but a {fitted.name} model has only the people it was fitted to; "
            "leave the option out, or fit a response-types model."
        )
    return fitted.bounds(codes, quantity, level, population.value, **more)


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
        return pnsight.lattice.SPACES[space](fitted.schema), {}
    if query_file is not None:
        kept = pnsight.tables.read_columns(query_file, "query")
        codes = fitted.schema.encode_columns(kept)
        _tell_unused(kept, fitted.schema.names)
        return codes, kept
    return fitted.schema.encode(queries or [""]), {}


def _free(name: str, answers: Container[str], taken: Container[str]) -> str:
    """The name of a column to keep, changed if an answer has it."""
    if name not in answers:
        return name
    while name in taken:
        name += "_given"
    return name


def _tell_unused(columns: dict[str, list[Any]], names: tuple[str, ...]) -> None:
    unused = [name for name in columns if name not in names]
    if unused:
        say(f"columns that are not covariates, kept as they are: {', '.join(unused)}")
