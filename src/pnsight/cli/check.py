"""`pnsight check`: whether two tables are usable."""

from __future__ import annotations

import typer

import pnsight
from pnsight.cli.options import Format, FormatOption, OutOption
from pnsight.cli.output import check_output, emit, put, put_json
from pnsight.cli.screen import screen_width
from pnsight.cli.table_options import (
    AssignmentOption,
    BandsOption,
    ClusterOption,
    CovariatesOption,
    ExcludeOption,
    ExperimentalArgument,
    LabelsOption,
    MergeRareOption,
    Missing,
    MissingOption,
    NumericOption,
    ObservationalArgument,
    OutcomeOption,
    StructureOptions,
    SuccessOption,
    SurveyWeightOption,
    TreatedOption,
    TreatmentUnlessCountedOption,
    WeightOption,
    read_tables_or_counts,
    structure_options,
)


@structure_options
def check(
    experimental: ExperimentalArgument,
    observational: ObservationalArgument = None,
    *,
    treatment: TreatmentUnlessCountedOption = None,
    outcome: OutcomeOption = None,
    covariates: CovariatesOption = None,
    exclude: ExcludeOption = None,
    treated: TreatedOption = None,
    success: SuccessOption = None,
    bands: BandsOption = None,
    numeric: NumericOption = "auto",
    merge_rare: MergeRareOption = None,
    missing: MissingOption = Missing.ERROR,
    labels: LabelsOption = None,
    weight: WeightOption = None,
    survey_weight: SurveyWeightOption = None,
    cluster: ClusterOption = None,
    assignment: AssignmentOption = None,
    structure: StructureOptions,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Say whether two tables are usable: treatment randomised, the same people, no contradiction, outcomes known.

    Exit code 0 if they are, with or without warnings, and 1 if not. As a table a report in words, as CSV or Parquet one
    row for each test, as JSON everything.
    """
    kind = check_output(format, out)
    study = read_tables_or_counts(
        experimental,
        observational,
        treatment=treatment,
        outcome=outcome,
        covariates=covariates,
        exclude=exclude,
        treated=treated,
        success=success,
        bands=bands,
        numeric=numeric,
        merge_rare=merge_rare,
        missing=missing,
        labels=labels,
        weight=weight,
        survey_weight=survey_weight,
        cluster=cluster,
        assignment=assignment,
        structure=structure,
    )
    found = pnsight.check(study)
    if kind is Format.TABLE:
        put(f"{found.text(screen_width())}\n", out)
    elif kind is Format.JSON:
        put_json(found.details(), out)
    else:
        emit(found.looks(), kind, out)
    if not found.ok:
        raise typer.Exit(1)
