"""`pnsight decide`: treat, do not treat, or uncertain."""

from __future__ import annotations

from typing import Annotated

import typer

import pnsight
from pnsight._tabular import prepend_columns
from pnsight.cli.options import (
    AskedQuantityOption,
    AssumeOption,
    CautiousOption,
    CostOption,
    FormatOption,
    LevelOption,
    OutOption,
    PayoffsOption,
    PopulationOption,
    QueriesArgument,
    Refine,
    RefineOption,
    ThresholdOption,
    threshold_or_cost,
)
from pnsight.cli.output import emit, put, say
from pnsight.cli.query import ModelArgument, QueryFileOption, SpaceOption, asked, how_to_answer


def decide(
    model: ModelArgument,
    queries: QueriesArgument = None,
    threshold: ThresholdOption = None,
    cost: CostOption = None,
    cautious: CautiousOption = False,
    words: Annotated[bool, typer.Option("--words", help="A sentence for each query instead of a table.")] = False,
    space: SpaceOption = None,
    query_file: QueryFileOption = None,
    quantity: AskedQuantityOption = None,
    level: LevelOption = 0.9,
    population: PopulationOption = None,
    payoffs: PayoffsOption = None,
    assume: AssumeOption = None,
    refine: RefineOption = Refine.NONE,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Say for subpopulations: treat, do not treat, or uncertain; no query means everyone.

    Treat where the lower bound is at least the threshold, do not where the upper bound is below it. With --payoffs and
    --cost the bounds are those of the benefit.
    """
    if words and format:
        raise typer.BadParameter(f"--words and --format {format} are given; words are plain text, so use one of them.")
    least = threshold_or_cost(threshold, cost, payoffs)
    fitted = pnsight.load(model)
    codes, kept = asked(fitted, queries, space, query_file)
    options = how_to_answer(fitted, quantity, level, population, payoffs, assume, refine)
    found = pnsight.decisions.decide(fitted, codes, least, cautious, **options)
    say(found.caption)
    for note in found.notes:
        say(note)
    if words:
        put("".join(f"{sentence}\n" for sentence in found.words()), out)
    else:
        emit(prepend_columns(found.columns(), kept), format, out)
