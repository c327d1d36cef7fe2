"""`pnsight ask`: which question about a partly described person is worth asking."""

from __future__ import annotations

from typing import Annotated

import typer

import pnsight
from pnsight.cli.estimand_options import EstimandOptions, estimand_options
from pnsight.cli.loading import load_model
from pnsight.cli.messages import say_about
from pnsight.cli.options import (
    CautiousOption,
    CostOption,
    ExtrapolateOption,
    FormatOption,
    OutOption,
    ThresholdOption,
    threshold_or_cost,
)
from pnsight.cli.output import emit, say
from pnsight.cli.query import ModelArgument

_REDUNDANT = ("group", "query")
"""Columns that say what is known anyway, beside what is asked."""


@estimand_options()
def ask(
    model: ModelArgument,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="What is known, as in pnsight query; by default nothing.")
    ] = "",
    threshold: ThresholdOption = None,
    cost: CostOption = None,
    cautious: CautiousOption = False,
    extrapolate: ExtrapolateOption = False,
    levels: Annotated[bool, typer.Option("--levels", help="The decision after each possible answer.")] = False,
    without: Annotated[
        bool, typer.Option("--without", help="Instead, the decision without each covariate that is known.")
    ] = False,
    *,
    asking: EstimandOptions,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Say what knowing one more covariate would change, and how likely: which question to ask first."""
    if levels and without:
        raise typer.BadParameter("--levels and --without are given; use one of them.")
    least = threshold_or_cost(threshold, cost, asking.payoffs)
    fitted = load_model(model)
    estimand = asking.of(fitted)
    if without:
        rests_on = pnsight.decisions.left_open(fitted, query, least, cautious, estimand, extrapolate)
        say_about(fitted, estimand, rests_on.answers.notes, rests_on.caption)
        emit(rests_on.columns(), format, out, fitted.schema, fitted.study.labels, _REDUNDANT)
        return
    found = pnsight.ask(fitted, query, least, cautious, estimand, extrapolate)
    say(found.now.caption)
    say_about(fitted, estimand, found.notes, found.caption)
    emit(found.by_level() if levels else found.columns(), format, out, fitted.schema, fitted.study.labels, _REDUNDANT)
