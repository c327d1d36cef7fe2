"""`pnsight validate`: whether what a model says holds on rows that it has not seen."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

import pnsight
from pnsight.cli.estimand_options import QUANTITY_NAMES, complete_quantity, quantity_name
from pnsight.cli.options import FormatOption, OutOption, SeedOption, confidence, within
from pnsight.cli.output import check_output, emit, say
from pnsight.cli.progress_bar import bar
from pnsight.cli.reading_options import ReadingOptions, reading_options
from pnsight.cli.structure_options import StructureOptions, structure_options
from pnsight.cli.table_options import (
    ExperimentalArgument,
    ObservationalArgument,
    OutcomeOption,
    TreatmentOption,
    read_tables,
)


class Kind(StrEnum):
    """Models that know the law, which held-out rows are compared with."""

    RESPONSE_TYPES = "response-types"
    PLUG_IN = "plug-in"


class Show(StrEnum):
    """Which table is shown."""

    SUMMARY = "summary"
    CALIBRATION = "calibration"


@structure_options
@reading_options("numeric", "labels", "weight_is_people")
def validate(
    experimental: ExperimentalArgument,
    observational: ObservationalArgument = None,
    *,
    treatment: TreatmentOption,
    outcome: OutcomeOption = None,
    reading: ReadingOptions,
    structure: StructureOptions,
    kind: Annotated[Kind, typer.Option("--model", help="What to validate.")] = Kind.RESPONSE_TYPES,
    quantity: Annotated[
        str,
        typer.Option(
            "--quantity",
            metavar=QUANTITY_NAMES,
            callback=quantity_name,
            autocompletion=complete_quantity,
            help="Whose bounds to compare.",
        ),
    ] = "pns",
    splits: Annotated[int, typer.Option("--splits", help="How often rows are held out.", callback=within(1))] = 5,
    held_out: Annotated[
        float, typer.Option("--held-out", help="Share of the rows held out each time, at most one half.")
    ] = 0.25,
    subgroup: Annotated[
        list[str] | None,
        typer.Option("--subgroup", metavar="QUERY", help="A group whose calibration is told too; may be repeated."),
    ] = None,
    show: Annotated[
        Show, typer.Option("--show", help="The measures, or predicted beside observed shares of each cell.")
    ] = Show.SUMMARY,
    level: Annotated[float, typer.Option("--level", help="Confidence of the intervals.", callback=confidence)] = 0.9,
    seed: SeedOption = 0,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Hold rows out, fit to the others and compare, several times: proof on one's own rows, beside the plug-in.

    error of bounds: in groups with many held-out rows, the noise of these taken off; coverage of intervals: how often
    held-out bounds are within what both errors allow; value of rule and qini: on held-out rows of the trial.
    """
    check_output(format, out)
    study = read_tables(experimental, observational, treatment, outcome, reading, structure)
    model = pnsight.PlugIn() if kind is Kind.PLUG_IN else pnsight.ResponseTypeModel(random_state=seed)
    with bar("validating") as progress:
        found = pnsight.validate(study, model, splits, held_out, subgroup or [], quantity, level, seed, progress)
    say(found.caption)
    for note in found.notes:
        say(str(note))
    emit(found.calibration if show is Show.CALIBRATION else found.columns(), format, out)
