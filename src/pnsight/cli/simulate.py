"""`pnsight simulate`: rows of both tables from a known population."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import pnsight
from pnsight.cli.options import SeedOption, within
from pnsight.cli.output import say


class TableFormat(StrEnum):
    """What a table is written as."""

    PARQUET = "parquet"
    CSV = "csv"


def simulate(
    population: Annotated[
        str,
        typer.Argument(
            help="toxic-drug; confounder, covariate, direct, direct-positive or mediator; three-doses, five-grades, "
            "survival, noncompliance, noncompliance-alone or untried-arm; or kind:seed for a random one."
        ),
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
        str | None,
        typer.Option(
            "--assignment",
            metavar="PROBABILITY[,...]",
            help="Probability of treatment in the experiment or, of more arms than two, of each arm that it has; by "
            "default they are equally likely.",
        ),
    ] = None,
    format: Annotated[
        TableFormat, typer.Option("--format", help="Write Parquet files, or experimental.csv and observational.csv.")
    ] = TableFormat.PARQUET,
) -> None:
    """Sample an experimental and an observational table from a known population."""
    known = pnsight.simulation.get(population)
    tables = known.tables(experimental, observational, seed, _probabilities(assignment))
    files = {
        f"{name}.{format}": columns
        for name, columns in zip(("experimental", "observational"), tables, strict=True)
        if columns
    }
    pnsight.data.reading.write_tables(files, out)
    for name, columns in files.items():
        say(f"{out / name}: {len(columns[known.design.treatment]):,} rows")
    if known.reading.keys() - {"treatment", "outcome"}:
        paths = shlex.join(str(out / name) for name in files)
        say(f"read with: pnsight fit {paths} {_as_options(known.reading)} --out MODEL")


def _probabilities(given: str | None) -> float | list[float] | None:
    if given is None:
        return None
    try:
        found = [float(each) for each in given.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"{given!r} was given; expected a probability, or one for each arm as in 0.4,0.3,0.3.",
            param_hint="--assignment",
        ) from None
    return found[0] if len(found) == 1 else found


def _as_options(arguments: dict[str, Any]) -> str:
    """Arguments of `read_study` as the command line takes them."""
    words: list[str] = []
    for name, value in arguments.items():
        listed = (
            [f"{each:g}" if isinstance(each, float) else each for each in value] if isinstance(value, list) else None
        )
        option = f"--{name.replace('_', '-')}"
        words += [option] if value is True else [option, value if listed is None else ",".join(listed)]
    return shlex.join(words)
