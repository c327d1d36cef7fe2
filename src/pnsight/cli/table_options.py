"""The tables of a study as arguments and options of a command, and what to say about them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

import pnsight
from pnsight._text import count_text
from pnsight.cli.output import say
from pnsight.cli.progress_bar import bar
from pnsight.cli.reading_options import ReadingOptions
from pnsight.cli.structure_options import StructureOptions
from pnsight.data.labels import NO_LABELS, Labels, read_labels
from pnsight.errors import join_names

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


def read_tables(
    experimental: str | None,
    observational: str | None,
    treatment: str | None,
    outcome: str | None,
    reading: ReadingOptions,
    structure: StructureOptions,
) -> pnsight.Study:
    """Count the tables, and say what was counted and what was not."""
    if treatment is None:
        raise typer.BadParameter(
            "it is missing; name the column that says who was treated. If you do not know what to name, let `pnsight "
            "start` look at the tables. Only files that count wrote go without it.",
            param_hint="--treatment",
        )
    words = _read_words(reading.labels)
    with bar("reading") as progress:
        study: pnsight.Study = pnsight.read_study(
            experimental,
            observational,
            treatment=treatment,
            outcome=outcome,
            progress=progress,
            **reading.arguments(),
            **structure.arguments(),
        )
    _say_what_was_counted(study)
    return _labelled(study, words)


def read_tables_or_counts(
    experimental: str | None,
    observational: str | None,
    treatment: str | None,
    outcome: str | None,
    reading: ReadingOptions,
    structure: StructureOptions,
) -> pnsight.Study:
    """The same of tables, or of files with counts of sites; options of reading are then none."""
    find = pnsight.data.reading.count_files.find_count_files
    found = [None if each is None else find(each) for each in (experimental, observational)]
    if not any(found):
        return read_tables(experimental, observational, treatment, outcome, reading, structure)
    for given, files in zip((experimental, observational), found, strict=True):
        if given is not None and files is None:
            raise typer.BadParameter(
                f"{given!r} is no file of counts, but the other one is; give counts of both tables, or both tables."
            )
    words = _read_words(reading.labels)
    study: pnsight.Study = pnsight.read_counts(*(files or [] for files in found))
    _check_no_options(study, {"treatment": treatment, "outcome": outcome}, reading, structure)
    _say_what_was_counted(study)
    return _labelled(study, words)


def _check_no_options(
    study: pnsight.Study, columns: dict[str, str | None], reading: ReadingOptions, structure: StructureOptions
) -> None:
    """Counts were made with all options that say how to read tables; the columns may be named again."""
    stored = {"treatment": study.treatment, "outcome": study.outcome}
    options = [f"--{name}" for name, column in columns.items() if column not in (None, stored[name])]
    options += [f"--{name.replace('_', '-')}" for name in reading.given() if name != "labels"]
    options += [] if structure == StructureOptions() else ["--arms, --time and the like"]
    if options:
        raise typer.BadParameter(
            "it says how to read tables, and these are counts, which were made with it or without; leave it out, or "
            "count the tables again.",
            param_hint=options[0],
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
