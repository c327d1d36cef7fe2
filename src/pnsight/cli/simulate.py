"""`pnsight simulate`: rows of both tables from a known population."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pnsight
from pnsight.cli.options import SeedOption, within
from pnsight.cli.output import say
from pnsight.errors import OutputError


def simulate(
    population: Annotated[
        str,
        typer.Argument(help="confounder, covariate, direct, direct-positive, mediator, or kind:seed for a random one."),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for experimental.parquet and observational.parquet.")],
    experimental: Annotated[
        int, typer.Option("--experimental", help="Rows of the experimental table.", callback=within(1))
    ] = 200_000,
    observational: Annotated[
        int, typer.Option("--observational", help="Rows of the observational table.", callback=within(1))
    ] = 200_000,
    seed: SeedOption = 1,
    assignment: Annotated[
        float, typer.Option("--assignment", help="Probability of treatment in the experiment.")
    ] = 0.5,
) -> None:
    """Sample an experimental and an observational table from a known population."""
    tables = pnsight.simulation.get(population).tables(experimental, observational, seed, assignment)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {str(out)!r}: {error.strerror}.") from None
    for name, columns in zip(("experimental", "observational"), tables, strict=True):
        pnsight.data.reading.write_parquet(columns, out / f"{name}.parquet")
        say(f"{out / f'{name}.parquet'}: {len(columns['x']):,} rows")
