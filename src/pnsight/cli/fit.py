"""`pnsight fit`: from two tables to a model on disk."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import pnsight
from pnsight.cli.bar import bar
from pnsight.cli.options import Quantity, QuantityOption, SeedOption
from pnsight.cli.output import say
from pnsight.cli.reading import (
    AssignmentOption,
    BandsOption,
    CovariatesOption,
    ExperimentalArgument,
    MergeRareOption,
    Missing,
    MissingOption,
    ObservationalArgument,
    OutcomeOption,
    SuccessOption,
    TreatedOption,
    TreatmentOption,
    WeightOption,
    read_tables,
)


class ModelName(StrEnum):
    """Models that can be fitted."""

    MASK_MLP = "mask-mlp"
    EXACT_MLP = "exact-mlp"
    PLUG_IN = "plug-in"


class Mix(StrEnum):
    """How the plug-in mixes profiles."""

    ROWS = "rows"
    PROFILES = "profiles"


class Population(StrEnum):
    """Whose mix of profiles."""

    OBSERVATIONAL = "observational"
    EXPERIMENTAL = "experimental"
    POOLED = "pooled"


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
    bands: BandsOption = None,
    merge_rare: MergeRareOption = None,
    missing: MissingOption = Missing.ERROR,
    weight: WeightOption = None,
    assignment: AssignmentOption = None,
    model: Annotated[ModelName, typer.Option("--model", help="How to learn.")] = ModelName.PLUG_IN,
    mix: Annotated[
        Mix,
        typer.Option("--mix", help="How plug-in answers open queries: by adding up rows, or profile by profile."),
    ] = Mix.ROWS,
    population: Annotated[
        Population, typer.Option("--population", help="Whose mix of profiles an open query is about.")
    ] = Population.OBSERVATIONAL,
    quantity: QuantityOption = Quantity.PNS,
    threshold: Annotated[
        str, typer.Option("--threshold", help="Rows a query needs to train a bound regressor, or auto.")
    ] = "auto",
    seed: SeedOption = 0,
) -> None:
    """Learn from an experimental and an observational table."""
    parameters: dict[str, Any] = {"quantity": str(quantity)}
    if model is ModelName.PLUG_IN:
        parameters |= {"mix": str(mix), "population": str(population)}
    elif mix is not Mix.ROWS or population is not Population.OBSERVATIONAL:
        raise typer.BadParameter(f"they are for plug-in; {model} was given.", param_hint="--mix and --population")
    else:
        parameters |= {"random_state": seed, "threshold": threshold if threshold == "auto" else _whole(threshold)}
    pnsight.store.check_place(out)
    study = read_tables(
        experimental,
        observational,
        treatment=treatment,
        outcome=outcome,
        covariates=covariates,
        treated=treated,
        success=success,
        bands=bands,
        merge_rare=merge_rare,
        missing=missing,
        weight=weight,
        assignment=assignment,
    )
    chosen = pnsight.store.MODELS[model](**parameters)
    with bar("training") as progress:
        fitted = chosen.fit(study, progress)
    pnsight.save(fitted, out)
    if fitted.pools_rows:
        _warn(pnsight.tables.concerns(study, reweighted=assignment is not None))
    say(f"model written to {out}; ask it with: pnsight query {out}")


def _warn(concerns: list[str]) -> None:
    """Say why answers to open queries may mislead."""
    if concerns:
        say(
            f"warning: {' and '.join(concerns)}; this model adds up rows, so its answers mislead where a query leaves "
            "covariates open. Use --model plug-in --mix profiles, and --population to say whose mix; against the first "
            "--assignment helps too, where the probability of treatment is known."
        )


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise typer.BadParameter(
            f"{text!r} was given; expected a whole number of rows, or auto.", param_hint="--threshold"
        )
    return int(text)
