"""`pnsight policies`: how many respond under usual care, and under rules."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import pnsight
from pnsight.cli.loading import load_model
from pnsight.cli.messages import say_about
from pnsight.cli.options import FormatOption, OutOption, People, QueriesArgument, confidence
from pnsight.cli.output import emit
from pnsight.cli.query import ModelArgument


def policies(
    model: ModelArgument,
    queries: QueriesArgument = None,
    level: Annotated[float, typer.Option("--level", help="Confidence of the intervals.", callback=confidence)] = 0.9,
    population: Annotated[
        People | None, typer.Option("--population", help="Whose people are meant; by default as the model was fitted.")
    ] = None,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Compare usual care with treating all, none, and those whom the covariates, or also their choice, speak for.

    value: share of the people who respond; gain: how many more than under usual care; overruled_to_treat and
    overruled_to_not: people who are treated, or not, although they or their doctor would choose otherwise.
    """
    fitted = load_model(model)
    whose: Any = None if population is None else population.value
    found = pnsight.policies(fitted, queries or None, level, whose)
    say_about(fitted, fitted.estimand(level=level, population=whose), found.notes, found.caption)
    emit(found.columns(), format, out, fitted.schema, fitted.study.labels)
