"""`pnsight count`: how many people of a table are alike, and nothing else about them."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import pnsight
from pnsight.cli.options import within
from pnsight.cli.output import check_file, say
from pnsight.cli.reading_options import ReadingOptions, reading_options
from pnsight.cli.structure_options import StructureOptions, structure_options
from pnsight.cli.table_options import OutcomeOption, TreatmentOption, read_tables


class Role(StrEnum):
    """Whether treatment was randomised or chosen."""

    EXPERIMENTAL = "experimental"
    OBSERVATIONAL = "observational"


@structure_options
@reading_options(
    "numeric", "merge_rare", "labels", "weight", "weight_is_people", "survey_weight", "cluster", "assignment"
)
def count(
    table: Annotated[
        str, typer.Argument(help="CSV or Parquet, a quoted pattern for many files, or URL::TABLE of a SQL database.")
    ],
    *,
    role: Annotated[Role, typer.Option("--role", help="Whether treatment was randomised in it, or chosen.")],
    treatment: TreatmentOption,
    outcome: OutcomeOption = None,
    out: Annotated[Path, typer.Option("--out", help="Parquet file for the counts.")],
    min_cell: Annotated[
        int | None,
        typer.Option(
            "--min-cell",
            help="Withhold counts of people from 1 to below this, such as 5; without it all counts are in the file.",
            callback=within(2),
        ),
    ] = None,
    reading: ReadingOptions,
    weight: Annotated[
        str | None, typer.Option("--weight", help="Column that says how many people each row stands for.")
    ] = None,
    structure: StructureOptions,
) -> None:
    """Count one table of one site, for a study of several sites that share counts and no rows.

    The file has one line for each combination of covariates and each treatment and outcome, with the number of people.
    Give the files of all sites to check and fit.
    """
    check_file(out)
    if found := reading.cut_at_quantiles():
        raise typer.BadParameter(
            f"{found[0]} would be cut where this site's people are, and elsewhere at other sites; give the edges, as "
            f"in {found[0]}=0,40,65,120.",
            param_hint="--bands",
        )
    trial, registry = (table, None) if role is Role.EXPERIMENTAL else (None, table)
    as_people = replace(reading, weight=weight, weight_is_people=weight is not None)
    study = read_tables(trial, registry, treatment, outcome, as_people, structure)
    shown = study if min_cell is None else pnsight.suppress(study, min_cell)
    pnsight.write_counts(shown, out)
    for note in shown.withheld.notes if shown.withheld else ():
        say(str(note))
    if min_cell is None:
        say("all counts are in the file, however small; --min-cell withholds those of few people")
    say(f"counts written to {out}")
