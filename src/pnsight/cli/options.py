"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer


class Format(StrEnum):
    """How a table is written."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


class Space(StrEnum):
    """A whole set of queries."""

    EXACT = "exact"
    MASK = "mask"
    OBSERVED = "observed"


class Quantity(StrEnum):
    """What is bounded."""

    PNS = "pns"
    PN = "pn"
    PS = "ps"
    PD = "pd"
    PE = "pe"
    HARM = "harm"


FormatOption: TypeAlias = Annotated[
    Format | None,
    typer.Option("--format", help="How to write the table; by default what --out's ending says, else table."),
]
OutOption: TypeAlias = Annotated[Path | None, typer.Option("--out", help="File to write to instead of the screen.")]
SeedOption: TypeAlias = Annotated[int, typer.Option("--seed", help="Seed of all randomness.", min=0)]
QueriesArgument: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="QUERY",
        help="name=level,name=level with the rest open, or one character a covariate such as 1101X01110. "
        "Empty, or none at all, means everyone.",
    ),
]
QuantityOption: TypeAlias = Annotated[Quantity, typer.Option("--quantity", help="What to bound.")]
