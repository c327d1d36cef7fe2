"""`pnsight fit`: from two tables to a model on disk."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

import pnsight
from pnsight.cli.estimand_options import QUANTITY_NAMES, complete_quantity, quantity_name
from pnsight.cli.options import People, SeedOption, within
from pnsight.cli.output import say
from pnsight.cli.progress_bar import bar
from pnsight.cli.reading_options import ReadingOptions, reading_options
from pnsight.cli.structure_options import StructureOptions, structure_options
from pnsight.cli.table_options import (
    ExperimentalArgument,
    ObservationalArgument,
    OutcomeOption,
    TreatmentUnlessCountedOption,
    read_tables_or_counts,
)
from pnsight.errors import join_names
from pnsight.models.registry import MODELS, constructor_parameters, find_model

PARAMETERS = {
    "--population": "population",
    "--no-intervals": "intervals",
    "--mix": "mix",
    "--min-rows": "min_rows",
}
"""Options that are not for all models, by the parameter of a model's constructor that each gives."""


def model_name(name: str) -> str:
    """The name of a model, whichever there are when the command is run."""
    if name not in MODELS:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, MODELS))}.")
    return name


class Mix(StrEnum):
    """How the plug-in mixes profiles."""

    ROWS = "rows"
    PROFILES = "profiles"


_USUAL = {"population": People.OBSERVATIONAL.value, "intervals": True, "mix": Mix.ROWS.value, "min_rows": "auto"}
"""Values of these options where none is given."""


@structure_options
@reading_options()
def fit(
    experimental: ExperimentalArgument,
    observational: ObservationalArgument = None,
    *,
    treatment: TreatmentUnlessCountedOption = None,
    outcome: OutcomeOption = None,
    observational_only: Annotated[
        bool,
        typer.Option(
            "--observational-only",
            help="The one table given has chosen treatment; its model answers with --assume exogenous only (plug-in).",
        ),
    ] = False,
    out: Annotated[Path, typer.Option("--out", help="Folder for the model.")],
    reading: ReadingOptions,
    structure: StructureOptions,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar=f"<{'|'.join(MODELS)}>",
            callback=model_name,
            autocompletion=lambda: list(MODELS),
            help="How to learn.",
        ),
    ] = "response-types",
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
    quantity: Annotated[
        str,
        typer.Option(
            "--quantity",
            metavar=QUANTITY_NAMES,
            callback=quantity_name,
            autocompletion=complete_quantity,
            help="What to bound.",
        ),
    ] = "pns",
    min_rows: Annotated[
        str,
        typer.Option("--min-rows", help="Rows a query needs to train a bound regressor, or auto."),
    ] = "auto",
    min_cell: Annotated[
        int | None,
        typer.Option(
            "--min-cell",
            help="Withhold counts of people from 1 to below this, such as 10, and learn from the rest: a model to hand "
            "on.",
            callback=within(2),
        ),
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Learn from an experimental and an observational table."""
    pnsight.estimands.validate_fitted_quantity(quantity)
    randomised, chosen_by_people = (
        _only_observational(experimental, observational) if observational_only else (experimental, observational)
    )
    parameters = {
        "quantity": quantity,
        "random_state": seed,
        "population": population.value,
        "intervals": intervals,
        "mix": mix.value,
        "min_rows": min_rows,
    }
    own = _own_parameters(model, parameters)
    pnsight.models.persistence.check_place(out)
    study = read_tables_or_counts(randomised, chosen_by_people, treatment, outcome, reading, structure)
    chosen = find_model(model)(**own)
    with bar("training") as progress:
        if min_cell is None:
            fitted = chosen.fit(study, progress)
        else:
            fitted = pnsight.models.suppression.fit_suppressed(chosen, study, min_cell, progress)
    pnsight.save(fitted, out)
    for caveat in fitted.study.withheld.notes if fitted.study.withheld else ():
        say(str(caveat))
    if min_cell is not None and (found := reading.cut_at_quantiles()):
        say(str(pnsight.Note("edges_published", {"covariates": found})))
    for warning in fitted.warnings:
        say(f"warning: {warning}")
    say(f"model written to {out}; ask it with: pnsight query {out}")


def _only_observational(table: str, another: str | None) -> tuple[None, str]:
    """The two tables where the first is observational, and there is no experiment."""
    if another is not None:
        raise typer.BadParameter(
            f"two tables are given, {table!r} and {another!r}; give one, or leave --observational-only out."
        )
    return None, table


def _own_parameters(model: str, given: dict[str, Any]) -> dict[str, Any]:
    """What the constructor of the chosen model takes of what is given; an option that is not for it is refused."""
    taken = constructor_parameters(model)
    for option, name in PARAMETERS.items():
        if name not in taken and given[name] != _USUAL[name]:
            able = [other for other in MODELS if name in constructor_parameters(other)]
            raise typer.BadParameter(f"it is for {join_names(able)}; {model} was given.", param_hint=option)
    own = {name: value for name, value in given.items() if name in taken}
    return own if own.get("min_rows", "auto") == "auto" else {**own, "min_rows": _whole(own["min_rows"])}


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise typer.BadParameter(
            f"{text!r} was given; expected a whole number of rows, or auto.", param_hint="--min-rows"
        )
    return int(text)
