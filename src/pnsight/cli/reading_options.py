"""The options that say how tables are read, once for all commands that read them: such a command is decorated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import pnsight
from pnsight.cli.option_group import expand_options
from pnsight.cli.options import within


class Missing(StrEnum):
    """What to do with a missing covariate."""

    ERROR = "error"
    DROP = "drop"
    LEVEL = "level"


@dataclass(frozen=True)
class ReadingOptions:
    """How tables are read; each field is an option of every command that `reading_options` decorates."""

    covariates: Annotated[
        str | None,
        typer.Option(
            "--covariates",
            help="Columns that describe people, comma-separated; by default all shared ones, '' for none.",
        ),
    ] = None
    exclude: Annotated[
        str | None,
        typer.Option(
            "--exclude", help="Columns that do not describe people, comma-separated: all shared ones but these."
        ),
    ] = None
    treated: Annotated[str | None, typer.Option("--treated", help="Level of the treatment that means treated.")] = None
    success: Annotated[str | None, typer.Option("--success", help="Level of the outcome that means success.")] = None
    bands: Annotated[
        list[str] | None,
        typer.Option(
            "--bands",
            metavar="COLUMN=EDGES",
            help="Cut a column of numbers into bands: age=0,40,65,120 gives the edges, age=4 asks for four bands of "
            "equally many rows. May be repeated.",
        ),
    ] = None
    numeric: Annotated[
        str,
        typer.Option(
            "--numeric",
            metavar="auto|none|COLUMN,COLUMN,...",
            help="Columns that are left as numbers: auto takes those with more than 20 distinct numbers that --bands "
            "does not cut. A column of dates or times that is named becomes days.",
        ),
    ] = "auto"
    merge_rare: Annotated[
        int | None,
        typer.Option("--merge-rare", help="Levels with fewer rows become one level, other.", callback=within(1)),
    ] = None
    missing: Annotated[
        Missing,
        typer.Option("--missing", help="A missing covariate is an error, drops its row, or is a level, missing."),
    ] = Missing.ERROR
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            help="TOML file with words for columns, under [columns], and for values, under [values.COLUMN], to be "
            "shown to people.",
        ),
    ] = None
    weight: Annotated[
        str | None, typer.Option("--weight", help="Column that says for how many rows each row stands.")
    ] = None
    weight_is_people: Annotated[
        bool,
        typer.Option(
            "--weight-is-people",
            help="Each weight is a number of people, as in a table of counts: --min-cell goes by it. Otherwise a row "
            "of a table is a person, whatever it weighs.",
        ),
    ] = False
    survey_weight: Annotated[
        str | None,
        typer.Option(
            "--survey-weight", help="Column that says how many people each row stands for; its scale is free."
        ),
    ] = None
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", help="Column that says which rows belong together: households, hospitals, villages."),
    ] = None
    assignment: Annotated[
        str | None,
        typer.Option(
            "--assignment", help="Column with the probability of being treated, where that was not one for all."
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """What `pnsight.read_study` takes."""
        return {
            "covariates": self.covariate_names(),
            "exclude": self.excluded_names(),
            "treated": self.treated,
            "success": self.success,
            "bands": _bands(self.bands or []),
            "numeric": _numeric(self.numeric),
            "merge_rare": self.merge_rare,
            "missing": self.missing.value,
            "weight": self.weight,
            "weight_is_people": self.weight_is_people,
            "survey_weight": self.survey_weight,
            "cluster": self.cluster,
            "assignment": self.assignment,
        }

    def covariate_names(self) -> list[str] | None:
        """The value of --covariates as names, if there is one."""
        return None if self.covariates is None else pnsight.queries.query.split_names(self.covariates)

    def excluded_names(self) -> list[str]:
        """The value of --exclude as names."""
        return pnsight.queries.query.split_names(self.exclude or "")

    def cut_at_quantiles(self) -> list[str]:
        """Columns of --bands whose edges are found in the tables."""
        return [name for name, asked in _bands(self.bands or []).items() if isinstance(asked, int)]

    def given(self) -> list[str]:
        """Fields that are not as they are where no option is given."""
        return [each.name for each in fields(self) if getattr(self, each.name) not in (each.default, [])]


def reading_options(*left_out: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of reading in place of its parameter `reading`.

    Parameters
    ----------
    left_out
        Fields of `ReadingOptions` that are no options of this command.

    Returns
    -------
    A decorator.
    """
    return expand_options(ReadingOptions, "reading", left_out)


def _numeric(text: str) -> Any:
    """``auto``, ``none``, or names."""
    return text if text in ("auto", "none") else pnsight.queries.query.split_names(text) or "none"


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
