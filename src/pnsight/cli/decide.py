"""`pnsight decide`: treat, do not treat, or uncertain."""

from __future__ import annotations

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


@estimand_options()
def decide(
    model: ModelArgument,
    queries: QueriesArgument = None,
    threshold: ThresholdOption = None,
    cost: CostOption = None,
    cautious: CautiousOption = False,
    extrapolate: ExtrapolateOption = False,
    leave: Annotated[
        bool,
        typer.Option(
            "--leave",
            help="Treat, do not, or leave it to them, by which has most respond; --threshold is then by how many more "
            "must respond than under usual care, by default any.",
        ),
    ] = False,
    curve: Annotated[
        bool,
        typer.Option(
            "--curve", help="The share of the people with each decision at thresholds from least to largest instead."
        ),
    ] = False,
    words: Annotated[bool, typer.Option("--words", help="A sentence for each query instead of a table.")] = False,
    space: SpaceOption = None,
    query_file: QueryFileOption = None,
    *,
    asking: EstimandOptions,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Say for groups of people: treat, do not treat, or uncertain; no query means everyone.

    Treat where the lower bound is at least the threshold, do not where the upper bound is below it. Beside that stands
    the cautious decision, for which the whole interval of the bound has to agree. With --payoffs and --cost the bounds
    are those of the benefit. With more arms than two, and no --contrast: the arm that is certainly best, as arm:NAME,
    or uncertain and between which.
    """
    if words and format:
        raise typer.BadParameter(f"--words and --format {format} are given; words are plain text, so use one of them.")
    least = threshold_or_cost(threshold, cost, asking.payoffs)
    fitted = load_model(model)
    if curve:
        _emit_curve(fitted, queries, asking, least, extrapolate, leave or words or cautious, format, out)
        return
    codes, kept = parse_queries(fitted, queries, space, query_file)
    arguments = asking.arguments()
    found = pnsight.decisions.decide(fitted, codes, least, cautious, extrapolate=extrapolate, leave=leave, **arguments)
    asked = {**arguments, "quantity": "effect"} if leave else arguments
    estimand = fitted.estimand(**{**asked, "contrast": found.contrast or asking.contrast})
    say_about(fitted, estimand, found.notes, found.caption)
    if words:
        put("".join(f"{sentence}\n" for sentence in found.words()), out)
    else:
        emit(prepend_columns(found.columns(), kept), format, out, fitted.schema, fitted.study.labels, kept)


def _emit_curve(
    fitted: pnsight.Model,
    queries: list[str] | None,
    asking: EstimandOptions,
    threshold: float | None,
    extrapolate: bool,
    otherwise: bool,
    format: FormatOption,
    out: OutOption,
) -> None:
    """The share of the people of one query with each decision, at many thresholds."""
    if otherwise or threshold is not None or len(queries or []) > 1:
        raise typer.BadParameter(
            "--curve is for all thresholds and the people of one query, and shows plain and cautious decisions; leave "
            "--threshold, --cost, --cautious, --leave, --words and further queries out."
        )
    estimand = asking.of(fitted)
    query = queries[0] if queries else ""
    found = pnsight.decisions.threshold_curve(fitted, query, quantity=estimand, extrapolate=extrapolate)
    say_about(fitted, estimand, found.notes, found.caption)
    emit(found.columns(), format, out)
