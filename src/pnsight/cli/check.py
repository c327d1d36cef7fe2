"""`pnsight check`: whether two tables are usable."""

from __future__ import annotations

import typer

import pnsight
from pnsight.cli.options import (
    CovariatesOption,
    ExperimentalArgument,
    Format,
    FormatOption,
    ObservationalArgument,
    OutcomeOption,
    OutOption,
    SuccessOption,
    TreatedOption,
    TreatmentOption,
)
from pnsight.cli.output import check_output, emit, kind_of, put, put_json
from pnsight.cli.study import counted


def check(
    experimental: ExperimentalArgument,
    observational: ObservationalArgument = None,
    *,
    treatment: TreatmentOption,
    outcome: OutcomeOption,
    covariates: CovariatesOption = None,
    treated: TreatedOption = None,
    success: SuccessOption = None,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Say whether two tables are usable: enough rows, treatment drawn by lot, the same people, no contradiction.

    Exit code 0 if they are, with or without warnings, and 1 if not. As a table a report in words, as CSV or Parquet one
    row for each test, as JSON everything.
    """
    kind = format or kind_of(out)
    check_output(kind, out)
    study = counted(
        experimental,
        observational,
        treatment=treatment,
        outcome=outcome,
        covariates=covariates,
        treated=treated,
        success=success,
    )
    found = pnsight.check(study)
    if kind is Format.TABLE:
        put(f"{found}\n", out)
    elif kind is Format.JSON:
        put_json(found.details(), out)
    else:
        emit(found.looks(), kind, out)
    if not found.ok:
        raise typer.Exit(1)
