"""`pnsight select`: whom to treat with a budget."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

import pnsight
from pnsight.cli.options import (
    AskedQuantityOption,
    AssumeOption,
    CautiousOption,
    FormatOption,
    LeastSupportOption,
    LevelOption,
    OutOption,
    PayoffsOption,
    PopulationOption,
    Refine,
    RefineOption,
)
from pnsight.cli.output import emit, say
from pnsight.cli.query import ModelArgument, how_to_answer


class Gain(StrEnum):
    """What a budget is spent for."""

    GUARANTEED = "guaranteed"
    NET = "net"
    BEST_CASE = "best_case"


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
    least_support: LeastSupportOption = 0,
    curve: Annotated[bool, typer.Option("--curve", help="The gain against the budget instead.")] = False,
    quantity: AskedQuantityOption = None,
    level: LevelOption = 0.9,
    population: PopulationOption = None,
    payoffs: PayoffsOption = None,
    assume: AssumeOption = None,
    refine: RefineOption = Refine.NONE,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Choose whom to treat with a budget, profile by profile, and say what is gained.

    guaranteed: at least so many respond if treated and would not otherwise; best_case: at most so many; net: how many
    more respond than if none of them were treated, those helped less those harmed.
    """
    fitted = pnsight.load(model)
    options = how_to_answer(fitted, quantity, level, population, payoffs, assume, refine)
    found = pnsight.select(fitted, budget, people, cost, by.value, cautious, least_support, **options)
    for line in (found.caption, *found.notes):
        say(line)
    emit(found.curve() if curve else found.columns(), format, out)
