"""`pnsight rank`: which groups stand out."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

import pnsight
from pnsight.cli.estimand_options import EstimandOptions, estimand_options
from pnsight.cli.loading import load_model
from pnsight.cli.messages import say_about
from pnsight.cli.options import FormatOption, LeastSupportOption, OutOption, within
from pnsight.cli.output import emit
from pnsight.cli.query import ModelArgument


class By(StrEnum):
    """What to rank by."""

    LOWER = "lower"
    UPPER = "upper"
    BENEFIT = "benefit"
    HARM = "harm"


@estimand_options()
def rank(
    model: ModelArgument,
    top: Annotated[int, typer.Option("--top", help="How many to list.", callback=within(1))] = 20,
    by: Annotated[
        By, typer.Option("--by", help="The lower bound, the upper bound, or the lower bound on benefit or harm.")
    ] = By.LOWER,
    margin: Annotated[
        float,
        typer.Option("--margin", help="How far one must exceed every more general one.", callback=within(0)),
    ] = 0.01,
    least_share: Annotated[
        float, typer.Option("--least-share", help="Share of the people one must have.", callback=within(0, 1))
    ] = 0.01,
    least_support: LeastSupportOption = 100,
    most_candidates: Annotated[
        int | None,
        typer.Option(
            "--most-candidates",
            help="Look at all groups if they are no more than this, by default 60,000, else search for the best.",
            callback=within(1),
        ),
    ] = None,
    *,
    asking: EstimandOptions,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """List the groups with the highest bounds, each better than every more general one."""
    fitted = load_model(model)
    limits = (margin, least_share, least_support, *(() if most_candidates is None else (most_candidates,)))
    found = pnsight.rank(fitted, top, by.value, *limits, **asking.arguments())
    say_about(fitted, asking.of(fitted), found.notes, found.caption)
    emit(found.columns(), format, out, fitted.schema, fitted.study.labels)
