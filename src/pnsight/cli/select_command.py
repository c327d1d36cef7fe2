"""`pnsight select`: whom to treat with a budget."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

import pnsight
from pnsight.cli.estimand_options import EstimandOptions, estimand_options
from pnsight.cli.loading import load_model
from pnsight.cli.messages import say_about
from pnsight.cli.options import CautiousOption, ExtrapolateOption, Format, FormatOption, LeastSupportOption, OutOption
from pnsight.cli.output import check_output, emit, say
from pnsight.cli.query import ModelArgument

_MOST_LISTED = 10
"""Profiles that the screen lists; more are summed up."""

_MOST_POINTS = 21
"""Points of a curve that the screen shows."""


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

    On the screen more than ten profiles are summed up by what sets those treated apart; --out FILE has the list.

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
    profiles = int((found.treated > 0).sum())
    on_screen = out is None and check_output(format, out) is Format.TABLE
    if curve:
        emit(_some_points(found.curve()) if on_screen else found.curve(), format, out)
    elif on_screen and profiles > _MOST_LISTED:
        say(f"{profiles:,} profiles are treated; --out FILE has the list, and here is what sets these people apart")
        emit(pnsight.decisions.treated_groups(fitted, found, estimand), format, out, fitted.schema, fitted.study.labels)
    else:
        emit(found.columns(), format, out, fitted.schema, fitted.study.labels)


def _some_points(curve: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Some points of a curve, evenly spaced, the first and the last among them."""
    number = len(curve["spent"])
    if number <= _MOST_POINTS:
        return curve
    say(f"{_MOST_POINTS} of {number:,} points are shown; --out FILE has all")
    places = [round(k * (number - 1) / (_MOST_POINTS - 1)) for k in range(_MOST_POINTS)]
    return {name: [values[at] for at in places] for name, values in curve.items()}
