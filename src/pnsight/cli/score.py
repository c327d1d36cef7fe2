"""`pnsight score`: a decision and its answer for every person of a table."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pnsight.cli.estimand_options import EstimandOptions, estimand_options
from pnsight.cli.loading import load_model
from pnsight.cli.messages import say_about
from pnsight.cli.options import CautiousOption, CostOption, ExtrapolateOption, ThresholdOption, threshold_or_cost
from pnsight.cli.output import check_file, check_not_read, ending_of
from pnsight.cli.progress_bar import counter
from pnsight.cli.query import ModelArgument


class ScoreFormat(StrEnum):
    """How scored people are written."""

    CSV = "csv"
    PARQUET = "parquet"


@estimand_options("simultaneous")
def score(
    model: ModelArgument,
    people: Annotated[
        str,
        typer.Argument(
            metavar="PEOPLE",
            help="CSV or Parquet file with one person a row, blank for open; a pattern; or URL::TABLE of a database.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="File to write to; it appears once it is complete.")],
    threshold: ThresholdOption = None,
    cost: CostOption = None,
    cautious: CautiousOption = False,
    extrapolate: ExtrapolateOption = False,
    *,
    asking: EstimandOptions,
    format: Annotated[
        ScoreFormat | None, typer.Option("--format", help="How to write it; by default what --out's ending says.")
    ] = None,
) -> None:
    """Decide about every person of a large table, and write the table with the decisions beside it.

    The file has the columns of the table, in the order of its rows, then the decision, plain and with caution, and the
    columns of query. It is read and written in blocks, so memory does not grow with the rows, and people with equal
    covariates are computed once. A row that cannot be read has the status invalid, and the column problem says why.
    """
    from pnsight.decisions.score_files import score_file  # loads Arrow, which other commands can do without
    from pnsight.decisions.scorer import Scorer

    check_file(out)
    check_not_read(out, people)
    kind = format or ending_of(out, {f".{each}": each for each in ScoreFormat})
    least = threshold_or_cost(threshold, cost, asking.payoffs)
    arguments = asking.arguments()
    scorer = Scorer(load_model(model), least, cautious, arguments.pop("quantity"), extrapolate, arguments)
    with counter("scoring") as progress:
        notes = score_file(scorer, people, out, kind.value, progress)
    say_about(scorer.model, scorer.estimand, notes, scorer.caption)
