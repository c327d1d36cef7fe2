"""`pnsight tip`: how far people may respond otherwise than the trial's before a decision changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pnsight
from pnsight._tabular import prepend_columns
from pnsight.cli.estimand_options import EstimandOptions, estimand_options
from pnsight.cli.loading import load_model
from pnsight.cli.messages import say_about
from pnsight.cli.options import (
    CautiousOption,
    CostOption,
    ExtrapolateOption,
    FormatOption,
    OutOption,
    QueriesArgument,
    ThresholdOption,
    threshold_or_cost,
)
from pnsight.cli.output import emit, put
from pnsight.cli.query import ModelArgument, QueryFileOption, SpaceOption, parse_queries


@estimand_options("slack")
def tip(
    model: ModelArgument,
    queries: QueriesArgument = None,
    threshold: ThresholdOption = None,
    cost: CostOption = None,
    along: Annotated[
        str,
        typer.Option(
            "--along",
            metavar="SLACK",
            help="What slack of 1 means: the same in both arms and either way, or as treated=1 in one arm, +1 only "
            "more, treated=1,control=0.5.",
        ),
    ] = "1",
    cautious: CautiousOption = False,
    extrapolate: ExtrapolateOption = False,
    words: Annotated[bool, typer.Option("--words", help="A sentence for each query instead of a table.")] = False,
    curve: Annotated[bool, typer.Option("--curve", help="The bounds against slack instead.")] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw the bounds against slack too, as .svg, .png or .pdf.")
    ] = None,
    space: SpaceOption = None,
    query_file: QueryFileOption = None,
    *,
    asking: EstimandOptions,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Find the least slack at which each decision changes; no query means everyone.

    Slack is by how much P(y_x) and P(y_x') of the people asked about may differ from the trial's. Beyond `tip` the
    decision is uncertain; where it is empty, no slack changes the decision, or it is uncertain already. At
    `reconciled_at` some population fits the shares of both tables.
    """
    if words and (format or curve):
        raise typer.BadParameter("--words is given with --format or --curve; words are plain text, so use one of them.")
    least = threshold_or_cost(threshold, cost, asking.payoffs)
    if plot is not None:
        pnsight.output.plots.check_place(plot)
    fitted = load_model(model)
    codes, kept = parse_queries(fitted, queries, space, query_file)
    estimand = asking.of(fitted)
    found = pnsight.tip(fitted, codes, least, cautious, estimand, extrapolate, along)
    say_about(fitted, estimand, found.notes, found.caption)
    if plot is not None:
        pnsight.output.plots.save(pnsight.output.plots.bounds_against_slack(found), plot)
    if words:
        put("".join(f"{sentence}\n" for sentence in found.words()), out)
    elif curve:
        emit(found.curve_columns(), format, out, fitted.schema, fitted.study.labels)
    else:
        emit(prepend_columns(found.columns(), kept), format, out, fitted.schema, fitted.study.labels, kept)
