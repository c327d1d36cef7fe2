"""`pnsight fit`: from two tables to a model on disk."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import pnsight
from pnsight.cli.bar import bar
from pnsight.cli.options import People, Quantity, QuantityOption, SeedOption
from pnsight.cli.output import say
from pnsight.errors import listed


class ModelName(StrEnum):
    """Models that can be fitted."""

    RESPONSE_TYPES = "response-types"
    MASK_MLP = "mask-mlp"
    EXACT_MLP = "exact-mlp"
    PLUG_IN = "plug-in"


def fit(
    experimental: Annotated[Path, typer.Argument(help="Table with randomised treatment: CSV or Parquet.")],
    observational: Annotated[Path | None, typer.Argument(help="Table with chosen treatment; may be left out.")] = None,
    *,
    treatment: Annotated[str, typer.Option("--treatment", help="Column that says who was treated.")],
    outcome: Annotated[str, typer.Option("--outcome", help="Column that says who responded.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the model.")],
    covariates: Annotated[
        str | None,
        typer.Option(
            "--covariates",
            help="Columns that describe people, comma-separated; by default all shared ones, '' for none.",
        ),
    ] = None,
    treated: Annotated[str | None, typer.Option("--treated", help="Level of the treatment that means treated.")] = None,
    success: Annotated[str | None, typer.Option("--success", help="Level of the outcome that means success.")] = None,
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
    study = pnsight.read_study(
        experimental,
        observational,
        treatment=treatment,
        outcome=outcome,
        covariates=None if covariates is None else pnsight.schema.split_names(covariates),
        treated=treated,
        success=success,
    )
    say(repr(study))
    for reason, rows in study.dropped.items():
        say(f"left out: {rows:,} {reason}")
    if study.ignored:
        say(f"not used, since only one table has them: {listed(study.ignored)}")
    pnsight.store.check_place(out)
    with bar("training") as progress:
        fitted = pnsight.store.MODELS[model](**parameters).fit(study, progress)
    pnsight.save(fitted, out)
    say(f"model written to {out}; ask it with: pnsight query {out}")


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise typer.BadParameter(
            f"{text!r} was given; expected a whole number of rows, or auto.", param_hint="--threshold"
        )
    return int(text)
