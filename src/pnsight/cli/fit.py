"""`pnsight fit`: from two tables to a model on disk."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import pnsight
from pnsight.cli.bar import bar
from pnsight.cli.options import (
    CovariatesOption,
    ExperimentalArgument,
    ObservationalArgument,
    OutcomeOption,
    People,
    Quantity,
    QuantityOption,
    SeedOption,
    SuccessOption,
    TreatedOption,
    TreatmentOption,
)
from pnsight.cli.output import say
from pnsight.cli.study import counted


class ModelName(StrEnum):
    """Models that can be fitted."""

    RESPONSE_TYPES = "response-types"
    MASK_MLP = "mask-mlp"
    EXACT_MLP = "exact-mlp"
    PLUG_IN = "plug-in"


def fit(
    experimental: ExperimentalArgument,
    observational: ObservationalArgument = None,
    *,
    treatment: TreatmentOption,
    outcome: OutcomeOption,
    out: Annotated[Path, typer.Option("--out", help="Folder for the model.")],
    covariates: CovariatesOption = None,
    treated: TreatedOption = None,
    success: SuccessOption = None,
    model: Annotated[ModelName, typer.Option("--model", help="How to learn.")] = ModelName.RESPONSE_TYPES,
    quantity: QuantityOption = Quantity.PNS,
    threshold: Annotated[
        str, typer.Option("--threshold", help="Rows a query needs to train a bound regressor, or auto.")
    ] = "auto",
    population: Annotated[
        People,
        typer.Option("--population", help="Whose people an open covariate is averaged over (response-types)."),
    ] = People.OBSERVATIONAL,
    intervals: Annotated[
        bool,
        typer.Option("--intervals/--no-intervals", help="Whether to find an interval for each bound (response-types)."),
    ] = True,
    seed: SeedOption = 0,
) -> None:
    """Learn from an experimental and an observational table."""
    parameters: dict[str, Any] = {"quantity": str(quantity)}
    if model is not ModelName.PLUG_IN:
        parameters["random_state"] = seed
    if model is ModelName.RESPONSE_TYPES:
        parameters |= {"population": str(population), "intervals": intervals}
    if model in (ModelName.MASK_MLP, ModelName.EXACT_MLP):
        parameters["threshold"] = threshold if threshold == "auto" else _whole(threshold)
    study = counted(
        experimental,
        observational,
        treatment=treatment,
        outcome=outcome,
        covariates=covariates,
        treated=treated,
        success=success,
    )
    _warn_of_contradiction(study)
    pnsight.store.check_place(out)
    with bar("training") as progress:
        fitted = pnsight.store.MODELS[model](**parameters).fit(study, progress)
    pnsight.save(fitted, out)
    say(f"model written to {out}; ask it with: pnsight query {out}")


def _warn_of_contradiction(study: pnsight.Study) -> None:
    found = pnsight.checks.coherence_of(study)
    if found is not None and found.named:
        say(f"warning: the tables contradict each other. {found.worst} See: pnsight check")


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise typer.BadParameter(
            f"{text!r} was given; expected a whole number of rows, or auto.", param_hint="--threshold"
        )
    return int(text)
