"""`pnsight opinion`: refined bounds that hold whatever the model, beside the model's own."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

import pnsight
from pnsight.cli.estimand_options import EstimandOptions, estimand_options
from pnsight.cli.loading import load_model
from pnsight.cli.messages import say_about
from pnsight.cli.options import FormatOption, OutOption, QueriesArgument, SeedOption, within
from pnsight.cli.output import check_output, emit
from pnsight.cli.progress_bar import bar
from pnsight.cli.query import ModelArgument


@estimand_options("assume", "refine", "simultaneous", "median_unbiased")
def opinion(
    model: ModelArgument,
    queries: QueriesArgument = None,
    folds: Annotated[
        int, typer.Option("--folds", help="Parts of the rows that are left out in turn.", callback=within(2))
    ] = 4,
    *,
    asking: EstimandOptions,
    seed: SeedOption = 0,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Ask for a second opinion on refined bounds, valid even where the model is wrong; no query means large groups.

    The model is fitted again without each fold of the rows, and only says which valid bound to use for whom; the bound
    itself is a mean over the fold. low to high: holds both ends of the true refined bounds with the given confidence.
    agreement: agree, model tighter (it claims more than the rows bear out), or model wider.
    """
    check_output(format, out)
    fitted = load_model(model)
    estimand = replace(asking.of(fitted), refine="covariates")
    with bar("second opinion") as progress:
        found = pnsight.second_opinion(fitted, queries or None, estimand, folds, seed, progress)
    say_about(fitted, estimand, found.notes, found.caption)
    emit(found.columns(), format, out, fitted.schema, fitted.study.labels)
