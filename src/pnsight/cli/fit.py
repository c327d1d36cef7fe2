"""`pnsight fit`: from two tables to a model on disk."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import pnsight
from pnsight.cli.options import People, Quantity, QuantityOption, SeedOption
from pnsight.cli.output import say
from pnsight.cli.progress_bar import bar
from pnsight.cli.table_options import (
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
from pnsight.errors import join_names


class ModelName(StrEnum):
    """Models that can be fitted."""

    RESPONSE_TYPES = "response-types"
    MASK_MLP = "mask-mlp"
    EXACT_MLP = "exact-mlp"
    PLUG_IN = "plug-in"


HEED = {
    "--population": (ModelName.RESPONSE_TYPES, ModelName.PLUG_IN),
    "--no-intervals": (ModelName.RESPONSE_TYPES,),
    "--mix": (ModelName.PLUG_IN,),
    "--threshold": (ModelName.MASK_MLP, ModelName.EXACT_MLP),
}
"""Which models heed an option that is not for all."""


class Mix(StrEnum):
    """How the plug-in mixes profiles."""

    ROWS = "rows"
    PROFILES = "profiles"


def fit(
    experimental: ExperimentalArgument,
    observational: ObservationalArgument = None,
    *,
    treatment: TreatmentOption,
    outcome: OutcomeOption,
    observational_only: Annotated[
        bool,
        typer.Option(
            "--observational-only",
            help="The one table given has chosen treatment; its model answers with --assume exogenous only (plug-in).",
        ),
    ] = False,
    out: Annotated[Path, typer.Option("--out", help="Folder for the model.")],
    covariates: CovariatesOption = None,
    treated: TreatedOption = None,
    success: SuccessOption = None,
    bands: BandsOption = None,
    merge_rare: MergeRareOption = None,
    missing: MissingOption = Missing.ERROR,
    weight: WeightOption = None,
    assignment: AssignmentOption = None,
    model: Annotated[ModelName, typer.Option("--model", help="How to learn.")] = ModelName.RESPONSE_TYPES,
    population: Annotated[
        People,
        typer.Option("--population", help="Whose mix of people an open query is about (response-types, plug-in)."),
    ] = People.OBSERVATIONAL,
    intervals: Annotated[
        bool,
        typer.Option("--intervals/--no-intervals", help="Whether to find an interval for each bound (response-types)."),
    ] = True,
    mix: Annotated[
        Mix,
        typer.Option("--mix", help="How plug-in answers open queries: by adding up rows, or profile by profile."),
    ] = Mix.ROWS,
    quantity: QuantityOption = Quantity.PNS,
    threshold: Annotated[
        str, typer.Option("--threshold", help="Rows a query needs to train a bound regressor, or auto.")
    ] = "auto",
    seed: SeedOption = 0,
) -> None:
    """Learn from an experimental and an observational table."""
    pnsight.estimands.refuse_to_fit(quantity)
    tables = _only_observational(experimental, observational) if observational_only else (experimental, observational)
    parameters = {"quantity": str(quantity), **_own_parameters(model, population, intervals, mix, threshold, seed)}
    pnsight.models.persistence.check_place(out)
    study = read_tables(
        *tables,
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
    _warn_of_contradiction(study)
    chosen = pnsight.models.persistence.MODELS[model](**parameters)
    with bar("training") as progress:
        fitted = chosen.fit(study, progress)
    pnsight.save(fitted, out)
    if fitted.pools_rows:
        _warn(pnsight.diagnostics.pooling_concerns(study, reweighted=assignment is not None))
    say(f"model written to {out}; ask it with: pnsight query {out}")


def _only_observational(table: str, another: str | None) -> tuple[None, str]:
    """The two tables where the first is observational, and there is no experiment."""
    if another is not None:
        raise typer.BadParameter(
            f"two tables are given, {table!r} and {another!r}; give one, or leave --observational-only out."
        )
    return None, table


def _own_parameters(
    model: ModelName, population: People, intervals: bool, mix: Mix, threshold: str, seed: int
) -> dict[str, Any]:
    """What the constructor of the chosen model takes; an option that is not for it is refused."""
    given = {
        "--population": population is not People.OBSERVATIONAL,
        "--no-intervals": not intervals,
        "--mix": mix is not Mix.ROWS,
        "--threshold": threshold != "auto",
    }
    for option, is_given in given.items():
        if is_given and model not in HEED[option]:
            raise typer.BadParameter(f"it is for {join_names(HEED[option])}; {model} was given.", param_hint=option)
    if model is ModelName.RESPONSE_TYPES:
        return {"population": str(population), "intervals": intervals, "random_state": seed}
    if model is ModelName.PLUG_IN:
        return {"population": str(population), "mix": str(mix)}
    return {"random_state": seed, "threshold": threshold if threshold == "auto" else _whole(threshold)}


def _warn_of_contradiction(study: pnsight.Study) -> None:
    found = pnsight.diagnostics.coherence_of(study)
    if found is not None and found.named:
        say(f"warning: the tables contradict each other. {found.worst} See: pnsight check")


def _warn(concerns: list[str]) -> None:
    """Say why answers to open queries may mislead."""
    if concerns:
        say(
            f"warning: {' and '.join(concerns)}; this model adds up rows, so its answers mislead where a query leaves "
            "covariates open. Use --model response-types, or plug-in with --mix profiles, and --population to say "
            "whose mix; against the first --assignment helps too, where the probability of treatment is known."
        )


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise typer.BadParameter(
            f"{text!r} was given; expected a whole number of rows, or auto.", param_hint="--threshold"
        )
    return int(text)
