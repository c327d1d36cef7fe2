"""`pnsight select`: whom to treat with a budget."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

import pnsight
from pnsight.cli.estimand_options import EstimandOptions, estimand_options
from pnsight.cli.loading import load_model
from pnsight.cli.messages import say_about
from pnsight.cli.options import CautiousOption, ExtrapolateOption, FormatOption, LeastSupportOption, OutOption
from pnsight.cli.output import emit
from pnsight.cli.query import ModelArgument


class Gain(StrEnum):
    """What a budget is spent for."""

    GUARANTEED = "guaranteed"
    NET = "net"
    BEST_CASE = "best_case"


@estimand_options()
def select(
    model: ModelArgument,
    budget: Annotated[
        float,
        typer.Option(
            "--budget",
            help="People that can be treated: a share of the population, a number with --people, money with --cost.",
        ),
    ],
    people: Annotated[float | None, typer.Option("--people", help="How many people the population has.")] = None,
    cost: Annotated[float | None, typer.Option("--cost", help="What treating one person costs.")] = None,
    by: Annotated[
        Gain, typer.Option("--by", help="Spend for the lower bound, the net effect, or the upper bound.")
    ] = Gain.GUARANTEED,
    cautious: CautiousOption = False,
    extrapolate: ExtrapolateOption = False,
    least_support: LeastSupportOption = 0,
    max_harm: Annotated[
        float | None,
        typer.Option(
            "--max-harm", help="Share of all who are treated that may be harmed: the upper bound on harm among them."
        ),
    ] = None,
    max_harm_each: Annotated[
        float | None,
        typer.Option("--max-harm-each", help="The same for those of each profile by itself."),
    ] = None,
    curve: Annotated[bool, typer.Option("--curve", help="The gain against the budget instead.")] = False,
    *,
    asking: EstimandOptions,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Choose whom to treat with a budget, profile by profile, and say what is gained.

    guaranteed: at least so many respond if treated and would not otherwise; best_case: at most so many; net: how many
    more respond than if none of them were treated, those helped less those harmed.
    """
    fitted = load_model(model)
    estimand = asking.of(fitted)
    found = pnsight.select(
        fitted,
        budget,
        people,
        cost,
        by.value,
        cautious,
        least_support,
        estimand,
        extrapolate,
        max_harm=max_harm,
        max_harm_each=max_harm_each,
    )
    say_about(fitted, estimand, found.notes, found.caption)
    emit(found.curve() if curve else found.columns(), format, out)
