"""The tables of a study as options of a command, and what to say about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

import pnsight
from pnsight._text import count_text
from pnsight.cli.option_group import expand_options
from pnsight.cli.options import within
from pnsight.cli.output import say
from pnsight.cli.progress_bar import bar
from pnsight.data.labels import NO_LABELS, Labels, read_labels
from pnsight.errors import join_names


class EventIs(StrEnum):
    """Whether an event is wished for."""

    GOOD = "good"
    BAD = "bad"


class MissingOutcome(StrEnum):
    """What to make of a row without an outcome."""

    DROP = "drop"
    SET = "set"
    WORST_CASE = "worst-case"


class Missing(StrEnum):
    """What to do with a missing covariate."""

    ERROR = "error"
    DROP = "drop"
    LEVEL = "level"


_TABLE = (
    "CSV or Parquet, a quoted pattern for many files, or URL::TABLE of a SQL database; or files that count wrote, "
    "with commas between."
)

ExperimentalArgument: TypeAlias = Annotated[str, typer.Argument(help=f"Table with randomised treatment: {_TABLE}")]
ObservationalArgument: TypeAlias = Annotated[
    str | None, typer.Argument(help="Table with chosen treatment; may be left out.")
]
TreatmentOption: TypeAlias = Annotated[str, typer.Option("--treatment", help="Column that says who was treated.")]
TreatmentUnlessCountedOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--treatment", help="Column that says who was treated; required but for files that count wrote."),
]
OutcomeOption: TypeAlias = Annotated[
    str | None, typer.Option("--outcome", help="Column that says who responded; or give --time in its place.")
]
CovariatesOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--covariates",
        help="Columns that describe people, comma-separated; by default all shared ones, '' for none.",
    ),
]
ExcludeOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--exclude", help="Columns that do not describe people, comma-separated: all shared ones but these."),
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
LabelsOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        help="TOML file with words for columns, under [columns], and for values, under [values.COLUMN], to be shown to "
        "people.",
    ),
]
NumericOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--numeric",
        metavar="auto|none|COLUMN,COLUMN,...",
        help="Columns that are left as numbers: auto takes those with more than 20 distinct numbers that --bands does "
        "not cut. A column of dates or times that is named becomes days.",
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
WeightIsPeopleOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--weight-is-people",
        help="Each weight is a number of people, as in a table of counts: --min-cell goes by it. Otherwise a row of a "
        "table is a person, whatever it weighs.",
    ),
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


@dataclass(frozen=True)
class StructureOptions:
    """What rows show beyond two arms and two outcomes; each field is an option of every command that reads tables."""

    arms: Annotated[
        str | None,
        typer.Option(
            "--arms",
            metavar="NAME,NAME,...",
            help="All values of the treatment, the reference first: placebo,low,high.",
        ),
    ] = None
    outcomes: Annotated[
        str | None,
        typer.Option("--outcomes", metavar="NAME,NAME,...", help="All values of the outcome, the lowest first."),
    ] = None
    unordered: Annotated[bool, typer.Option("--unordered", help="The order of --outcomes means nothing.")] = False
    time: Annotated[
        str | None,
        typer.Option("--time", help="Column with the time to an event, or to the end of follow-up."),
    ] = None
    event: Annotated[
        str | None, typer.Option("--event", help="With --time: column that says whether the event happened then.")
    ] = None
    event_is: Annotated[EventIs | None, typer.Option("--event-is", help="With --time: what the event is.")] = None
    horizons: Annotated[
        str | None,
        typer.Option("--horizons", metavar="TIME,TIME,...", help="With --time: times to ask about, as 30,90,365."),
    ] = None
    assigned: Annotated[
        str | None,
        typer.Option(
            "--assigned", help="Column with the arm that was assigned, where --treatment says which was taken."
        ),
    ] = None
    missing_outcome: Annotated[
        MissingOutcome,
        typer.Option(
            "--missing-outcome",
            help="A row without an outcome is dropped, may have any as others like it have (set), or any at all.",
        ),
    ] = MissingOutcome.DROP

    def arguments(self) -> dict[str, Any]:
        """What `pnsight.read_study` takes."""
        return {
            "arms": _split(self.arms),
            "outcomes": _split(self.outcomes),
            "unordered": self.unordered,
            "time": self.time,
            "event": self.event,
            "event_is": None if self.event_is is None else self.event_is.value,
            "horizons": _numbers(self.horizons),
            "assigned": self.assigned,
            "missing_outcome": self.missing_outcome.value,
        }


def structure_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a structure in place of its parameter `structure`."""
    return expand_options(StructureOptions, "structure")(command)


def _split(names: str | None) -> list[str] | None:
    """Names separated by commas; a backslash escapes a comma."""
    if names is None:
        return None
    query = pnsight.queries.query
    return [query.unescape(name).strip() for name in query.split_unescaped(names, ",")]


def _numbers(text: str | None) -> list[float] | None:
    try:
        return None if text is None else [float(number) for number in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} was given; expected times, as in 30,90,365.", param_hint="--horizons"
        ) from None


def read_tables(
    experimental: str | None,
    observational: str | None,
    *,
    covariates: str | None,
    exclude: str | None,
    bands: list[str] | None,
    numeric: str,
    missing: Missing,
    labels: Path | None,
    structure: StructureOptions,
    **options: Any,
) -> pnsight.Study:
    """Count the tables, and say what was counted and what was not."""
    if options["treatment"] is None:
        raise typer.BadParameter(
            "it is missing; name the column that says who was treated. Only files that count wrote go without it.",
            param_hint="--treatment",
        )
    words = _read_words(labels)
    with bar("reading") as progress:
        study: pnsight.Study = pnsight.read_study(
            experimental,
            observational,
            covariates=None if covariates is None else pnsight.queries.query.split_names(covariates),
            exclude=pnsight.queries.query.split_names(exclude or ""),
            bands=_bands(bands or []),
            numeric=_numeric(numeric),
            missing=missing.value,
            progress=progress,
            **structure.arguments(),
            **options,
        )
    _say_what_was_counted(study)
    return _labelled(study, words)


def read_tables_or_counts(
    experimental: str | None, observational: str | None, *, labels: Path | None, **options: Any
) -> pnsight.Study:
    """The same of tables, or of files with counts of sites; options of reading are then none."""
    find = pnsight.data.reading.count_files.find_count_files
    found = [None if each is None else find(each) for each in (experimental, observational)]
    if not any(found):
        return read_tables(experimental, observational, labels=labels, **options)
    for given, files in zip((experimental, observational), found, strict=True):
        if given is not None and files is None:
            raise typer.BadParameter(
                f"{given!r} is no file of counts, but the other one is; give counts of both tables, or both tables."
            )
    words = _read_words(labels)
    study: pnsight.Study = pnsight.read_counts(*(files or [] for files in found))
    _check_no_options(study, options)
    _say_what_was_counted(study)
    return _labelled(study, words)


def _check_no_options(study: pnsight.Study, options: dict[str, Any]) -> None:
    """Counts were made with all options that say how to read tables; the columns may be named again."""
    stored = {"treatment": study.treatment, "outcome": study.outcome}
    usual = {"missing": Missing.ERROR, "structure": StructureOptions(), "numeric": "auto"}
    for name, value in options.items():
        if value in (None, False, stored.get(name), usual.get(name)) or value == []:
            continue
        option = "--arms, --time and the like" if name == "structure" else f"--{name.replace('_', '-')}"
        raise typer.BadParameter(
            "it says how to read tables, and these are counts, which were made with it or without; leave it out, or "
            "count the tables again.",
            param_hint=option,
        )


def _say_what_was_counted(study: pnsight.Study) -> None:
    say(repr(study))
    for reason, rows in study.dropped.items():
        say(f"left out: {count_text(rows)} {reason}")
    for note in study.notes:
        say(f"note: {note}")
    if study.ignored:
        say(f"not used, since only one table has them: {join_names(study.ignored)}")


def _read_words(labels: Path | None) -> Labels:
    return NO_LABELS if labels is None else read_labels(labels)


def _labelled(study: pnsight.Study, words: Labels) -> pnsight.Study:
    """The study with labels, once it is said which of them are for something that it has not."""
    found = study.with_labels(words)
    unused = [name for name in (*words.columns, *words.values) if name not in (*study.schema.names, *_shown(study))]
    if unused:
        say(f"labels not used, since no column that is used has that name: {join_names(dict.fromkeys(unused))}")
    return found


def _shown(study: pnsight.Study) -> tuple[str, str]:
    return study.treatment, study.outcome


def _numeric(text: str) -> Any:
    """``auto``, ``none``, or names."""
    return text if text in ("auto", "none") else pnsight.queries.query.split_names(text) or "none"


def cut_at_quantiles(texts: list[str] | None) -> list[str]:
    """Columns of --bands whose edges are found in the tables."""
    return [name for name, asked in _bands(texts or []).items() if isinstance(asked, int)]


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
