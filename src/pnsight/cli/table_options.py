"""The tables of a study as options of a command, and what to say about them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, TypeAlias

import typer

import pnsight
from pnsight._text import count_text
from pnsight.cli.options import within
from pnsight.cli.output import say
from pnsight.cli.progress_bar import bar
from pnsight.errors import join_names


class Missing(StrEnum):
    """What to do with a missing covariate."""

    ERROR = "error"
    DROP = "drop"
    LEVEL = "level"


_TABLE = "CSV or Parquet, a quoted pattern for many files, or URL::TABLE of a SQL database."

ExperimentalArgument: TypeAlias = Annotated[str, typer.Argument(help=f"Table with randomised treatment: {_TABLE}")]
ObservationalArgument: TypeAlias = Annotated[
    str | None, typer.Argument(help="Table with chosen treatment; may be left out.")
]
TreatmentOption: TypeAlias = Annotated[str, typer.Option("--treatment", help="Column that says who was treated.")]
OutcomeOption: TypeAlias = Annotated[str, typer.Option("--outcome", help="Column that says who responded.")]
CovariatesOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--covariates",
        help="Columns that describe people, comma-separated; by default all shared ones, '' for none.",
    ),
]
TreatedOption: TypeAlias = Annotated[
    str | None, typer.Option("--treated", help="Level of the treatment that means treated.")
]
SuccessOption: TypeAlias = Annotated[
    str | None, typer.Option("--success", help="Level of the outcome that means success.")
]
BandsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--bands",
        metavar="COLUMN=EDGES",
        help="Cut a column of numbers into bands: age=0,40,65,120 gives the edges, age=4 asks for four bands of "
        "equally many rows. May be repeated.",
    ),
]
MergeRareOption: TypeAlias = Annotated[
    int | None,
    typer.Option("--merge-rare", help="Levels with fewer rows become one level, other.", callback=within(1)),
]
MissingOption: TypeAlias = Annotated[
    Missing,
    typer.Option("--missing", help="A missing covariate is an error, drops its row, or is a level, missing."),
]
WeightOption: TypeAlias = Annotated[
    str | None, typer.Option("--weight", help="Column that says for how many rows each row stands.")
]
SurveyWeightOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--survey-weight", help="Column that says how many people each row stands for; its scale is free."),
]
ClusterOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--cluster", help="Column that says which rows belong together: households, hospitals, villages."),
]
AssignmentOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--assignment", help="Column with the probability of being treated, where that was not one for all."),
]


def read_tables(
    experimental: str | None,
    observational: str | None,
    *,
    covariates: str | None,
    bands: list[str] | None,
    missing: Missing,
    **options: Any,
) -> pnsight.Study:
    """Count the tables, and say what was counted and what was not."""
    with bar("reading") as progress:
        study: pnsight.Study = pnsight.read_study(
            experimental,
            observational,
            covariates=None if covariates is None else pnsight.queries.query.split_names(covariates),
            bands=_bands(bands or []),
            missing=missing.value,
            progress=progress,
            **options,
        )
    say(repr(study))
    for reason, rows in study.dropped.items():
        say(f"left out: {count_text(rows)} {reason}")
    for note in study.notes:
        say(f"note: {note}")
    if study.ignored:
        say(f"not used, since only one table has them: {join_names(study.ignored)}")
    return study


def _bands(texts: list[str]) -> dict[str, int | list[float]]:
    """``age=4`` as a number of bands, ``age=0,40,65`` as edges."""
    bands: dict[str, int | list[float]] = {}
    for text in texts:
        name, given = _name_and_numbers(text)
        if name in bands:
            raise typer.BadParameter(f"{name!r} was given twice; give its bands once.", param_hint="--bands")
        try:
            numbers = [float(number) for number in given.split(",")]
        except ValueError:
            raise typer.BadParameter(
                f"{text!r} was given; expected numbers, as in age=0,40,65,120 or age=4.", param_hint="--bands"
            ) from None
        whole = len(numbers) == 1 and numbers[0].is_integer()
        bands[name] = int(numbers[0]) if whole else numbers
    return bands


def _name_and_numbers(text: str) -> tuple[str, str]:
    parts = pnsight.queries.query.split_unescaped(text, "=")
    if len(parts) != 2:
        raise typer.BadParameter(
            f"{text!r} was given; expected a column and its edges, as in age=0,40,65,120 or age=4.",
            param_hint="--bands",
        )
    return pnsight.queries.query.unescape(parts[0]).strip(), parts[1]
