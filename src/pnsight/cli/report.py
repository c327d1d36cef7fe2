"""`pnsight report`: what a model says, in one file to read, print and hand on."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import pnsight
from pnsight.cli.estimand_options import EstimandOptions, estimand_options
from pnsight.cli.loading import load_model
from pnsight.cli.options import CostOption, MinCellOption, OutOption, four_numbers, threshold_or_cost, within
from pnsight.cli.output import check_file, ending_of, put_bytes, put_data, put_json, say
from pnsight.cli.progress_bar import bar
from pnsight.cli.query import ModelArgument

if TYPE_CHECKING:
    from pnsight.output.report import Summary


class ReportFormat(StrEnum):
    """How a report is written."""

    HTML = "html"
    JSON = "json"


_ENDINGS = {
    "": ReportFormat.HTML,
    ".html": ReportFormat.HTML,
    ".htm": ReportFormat.HTML,
    ".json": ReportFormat.JSON,
}


_TABLES = {".xlsx": "xlsx", ".md": "md"}


@estimand_options("quantity", "population", "refine", "simultaneous", "median_unbiased", "statement", "given")
def report(
    model: ModelArgument,
    out: OutOption = None,
    threshold: Annotated[
        float, typer.Option("--threshold", help="Treat where the lower bound on PNS is at least this.")
    ] = 0.5,
    *,
    asking: EstimandOptions,
    top: Annotated[int, typer.Option("--top", help="How many groups a ranking lists.", callback=within(1))] = 10,
    cost: CostOption = None,
    title: Annotated[str | None, typer.Option("--title", help="Title of the report.")] = None,
    validate: Annotated[
        int,
        typer.Option(
            "--validate",
            help="How often to hold out a quarter of the rows, fit to the others and compare, for a page on that.",
            callback=within(0),
        ),
    ] = 0,
    opinion: Annotated[
        bool,
        typer.Option(
            "--opinion",
            help="Ask for a second opinion on refined bounds, which holds whatever the model; takes four fits.",
        ),
    ] = False,
    plain: Annotated[
        bool,
        typer.Option("--plain", help="Decide by the bounds alone; by default their whole intervals have to agree."),
    ] = False,
    tables: Annotated[
        Path | None,
        typer.Option(
            "--tables", help="A file for the tables of the report too: .xlsx, a sheet each, or Markdown, .md."
        ),
    ] = None,
    min_cell: MinCellOption = None,
    format: Annotated[
        ReportFormat | None,
        typer.Option("--format", help="A page, or the same as data; by default what --out's ending says, else html."),
    ] = None,
) -> None:
    """Write a report on a model: the data, bounds for everyone, who benefits, who is harmed, what to ask, how to cite.

    One file without scripts that needs nothing else, and prints well.
    """
    cost = threshold_or_cost(None, cost, asking.payoffs)
    check_file(out)
    kind = format or ending_of(out, _ENDINGS)
    check_file(tables)
    tables_kind = None if tables is None else ending_of(tables, _TABLES, "leave --tables out")
    fitted = load_model(model)
    with bar("report") as progress:
        summary = pnsight.output.report.summarise(
            fitted,
            threshold,
            asking.level,
            top,
            four_numbers(asking.payoffs),
            cost,
            title,
            min_cell,
            progress,
            trial_alone=asking.trial_alone,
            cautious=not plain,
            validate=validate,
            opinion=opinion,
            contrast=asking.contrast,
            horizon=asking.horizon,
            among=asking.among.value,
            assume=",".join(asking.assume or []),
            slack=asking.slack,
            misread_outcome=asking.misread_outcome,
        )
    if kind is ReportFormat.JSON:
        put_json(pnsight.output.report.as_plain(summary), out)
    else:
        put_data(pnsight.output.report.render(summary), out)
    if out is not None:
        say(f"wrote {out}")
    if tables is not None:
        as_tables = pnsight.output.report.as_xlsx if tables_kind == "xlsx" else _markdown
        put_bytes(as_tables(summary), tables)
        say(f"wrote {tables}")


def _markdown(summary: Summary) -> bytes:
    return pnsight.output.report.as_markdown(summary).encode()
