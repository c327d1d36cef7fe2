"""`pnsight plan`: which people to sample more of."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

import pnsight
from pnsight.cli.estimand_options import OF_STRUCTURES, EstimandOptions, estimand_options
from pnsight.cli.loading import load_model
from pnsight.cli.messages import say_about
from pnsight.cli.options import (
    CostOption,
    FormatOption,
    OutOption,
    SeedOption,
    ThresholdOption,
    threshold_or_cost,
    within,
)
from pnsight.cli.output import emit
from pnsight.cli.query import ModelArgument


class Table(StrEnum):
    """Where further rows go."""

    EXPERIMENTAL = "experimental"
    OBSERVATIONAL = "observational"
    BOTH = "both"


@estimand_options("refine", "trial_alone", "simultaneous", "median_unbiased", *OF_STRUCTURES)
def plan(
    model: ModelArgument,
    groups: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="GROUP",
            help="Groups to compare, each a query; by default those that fix one or two covariates.",
        ),
    ] = None,
    rows: Annotated[float, typer.Option("--rows", help="How many rows are added.")] = 1000,
    table: Annotated[
        Table, typer.Option("--table", help="The table that they are added to, or half to each.")
    ] = Table.EXPERIMENTAL,
    threshold: ThresholdOption = None,
    cost: CostOption = None,
    top: Annotated[int, typer.Option("--top", help="How many to list.", callback=within(1))] = 10,
    least_share: Annotated[
        float,
        typer.Option("--least-share", help="Share of the people one must have unless given.", callback=within(0, 1)),
    ] = 0.02,
    *,
    asking: EstimandOptions,
    seed: SeedOption = 0,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Experimental: list the groups in which further rows would settle most decisions.

    change: what is expected to happen to the share of people whose cautious decision is uncertain, if the rows come
    from the group; stays: who of the group would stay uncertain with unlimited rows.
    """
    from pnsight.decisions.planning import check_plannable  # loads what other commands can do without

    least = threshold_or_cost(threshold, cost, asking.payoffs)
    fitted = load_model(model)
    check_plannable(fitted)
    estimand = asking.of(fitted)
    found = pnsight.plan(
        fitted,
        least,
        rows,
        table.value,
        groups or None,
        top,
        least_share=least_share,
        random_state=seed,
        quantity=estimand,
    )
    say_about(fitted, estimand, found.notes, found.caption)
    emit(found.columns(), format, out, fitted.schema, fitted.study.labels)
