"""Options that several commands share."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

import typer

from pnsight.errors import QueryError, percent_hint


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


class Refine(StrEnum):
    """Whether profiles are bounded before they are averaged."""

    NONE = "none"
    COVARIATES = "covariates"


class Among(StrEnum):
    """Of whom a quantity is asked, where people were assigned an arm."""

    EVERYONE = "everyone"
    COMPLIERS = "compliers"


class People(StrEnum):
    """Whose people an open covariate is averaged over."""

    OBSERVATIONAL = "observational"
    EXPERIMENTAL = "experimental"
    POOLED = "pooled"


Number = TypeVar("Number", int, float, int | None)


def within(low: float, high: float = math.inf) -> Callable[[Number], Number]:
    """A check for an option's value, if it has one, that says which value it refuses."""
    expected = f"between {low} and {high}" if math.isfinite(high) else f"at least {low}"

    def check(value: Number) -> Number:
        if value is not None and not low <= value <= high:
            meant = percent_hint(value) if high == 1 else "."
            raise typer.BadParameter(f"{value} was given; expected {expected}{meant}")
        return value

    return check


def confidence(level: float) -> float:
    """The value of --level, refused here too for models without intervals, which would pass over it."""
    from pnsight.queries.bound_table import validate_level  # loads NumPy, which --help can do without

    try:
        validate_level(level)
    except QueryError as error:
        raise typer.BadParameter(str(error)) from None
    return level


FormatOption: TypeAlias = Annotated[
    Format | None,
    typer.Option("--format", help="How to write the table; by default what --out's ending says, else table."),
]
OutOption: TypeAlias = Annotated[Path | None, typer.Option("--out", help="File to write to instead of the screen.")]
SeedOption: TypeAlias = Annotated[int, typer.Option("--seed", help="Seed of all randomness.", callback=within(0))]
QueriesArgument: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="QUERY",
        help="name=level,name=level with the rest open, or one character a covariate such as 1101X01110. "
        "Empty, or none at all, means everyone.",
    ),
]
LeastSupportOption: TypeAlias = Annotated[
    float, typer.Option("--least-support", help="Rows in each table that one must have.", callback=within(0))
]
ThresholdOption: TypeAlias = Annotated[
    float | None,
    typer.Option("--threshold", help="Treat where the quantity is at least this; by default 0.5, and 0 for benefit."),
]
CostOption: TypeAlias = Annotated[
    float | None,
    typer.Option("--cost", help="With --payoffs: what treating one person costs, which the benefit must be worth."),
]
CautiousOption: TypeAlias = Annotated[
    bool, typer.Option("--cautious", help="Go by the far ends of the bounds' intervals, at the confidence --level.")
]
ExtrapolateOption: TypeAlias = Annotated[
    bool, typer.Option("--extrapolate", help="Decide also where the answer is extrapolated: nobody like this was seen.")
]
TrialAloneOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--trial-alone", help="Answer from the experiment alone, about its people, without the observational table."
    ),
]
MinCellOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--min-cell",
        help="Withhold counts of people from 1 to below this, such as 10, and fit again to the rest; to do so once, "
        "use pnsight export.",
        callback=within(2),
    ),
]


def threshold_or_cost(threshold: float | None, cost: float | None, payoffs: str | None) -> float | None:
    """What the quantity must reach, under either name."""
    if cost is None:
        return threshold
    if threshold is not None:
        raise typer.BadParameter(
            f"--threshold {threshold:g} and --cost {cost:g} are given; both say what the benefit must reach, use one."
        )
    if not math.isfinite(cost):
        raise typer.BadParameter(f"--cost {cost:g} was given; expected what treating one person costs, a number.")
    if payoffs is None:
        raise typer.BadParameter(
            f"--cost {cost:g} was given without --payoffs; say what treating people is worth, as in "
            "--payoffs 100,-60,0,-140, or use --threshold for another quantity."
        )
    return cost


def four_numbers(text: str | None) -> list[float] | None:
    """The value of --payoffs as numbers, if there is one."""
    try:
        return None if text is None else [float(number) for number in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} was given; expected four numbers, as in 100,-60,0,-140.", param_hint="--payoffs"
        ) from None
