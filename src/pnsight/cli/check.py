"""`pnsight check`: whether two tables are usable."""

from __future__ import annotations

import typer

import pnsight
from pnsight.cli.options import Format, FormatOption, OutOption
from pnsight.cli.output import check_output, emit, put, put_json
from pnsight.cli.reading_options import ReadingOptions, reading_options
from pnsight.cli.screen import screen_width
from pnsight.cli.structure_options import StructureOptions, structure_options
from pnsight.cli.table_options import (
    ExperimentalArgument,
    ObservationalArgument,
    OutcomeOption,
    TreatmentUnlessCountedOption,
    read_tables_or_counts,
)


@structure_options
@reading_options("weight_is_people")
def check(
    experimental: ExperimentalArgument,
    observational: ObservationalArgument = None,
    *,
    treatment: TreatmentUnlessCountedOption = None,
    outcome: OutcomeOption = None,
    reading: ReadingOptions,
    structure: StructureOptions,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Say whether two tables are usable: treatment randomised, the same people, no contradiction, outcomes known.

    Exit code 0 if they are, with or without warnings, and 1 if not. As a table a report in words, as CSV or Parquet one
    row for each test, as JSON everything.
    """
    kind = check_output(format, out)
    study = read_tables_or_counts(experimental, observational, treatment, outcome, reading, structure)
    found = pnsight.check(study)
    if kind is Format.TABLE:
        put(f"{found.text(screen_width())}\n", out)
    elif kind is Format.JSON:
        put_json(found.details(), out)
    else:
        emit(found.looks(), kind, out)
    if not found.ok:
        raise typer.Exit(1)
