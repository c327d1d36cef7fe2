"""`pnsight size`: how many rows a study needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pnsight
from pnsight.cli.estimand_options import QUANTITY_NAMES, complete_quantity, quantity_name
from pnsight.cli.loading import load_model
from pnsight.cli.options import FormatOption, OutOption, SeedOption, confidence, within
from pnsight.cli.output import emit, say


def size(
    margin: Annotated[float, typer.Option("--margin", help="Half-width that intervals may have, as 0.05.")],
    level: Annotated[float, typer.Option("--level", help="Confidence of the intervals.", callback=confidence)] = 0.95,
    quantity: Annotated[
        str,
        typer.Option(
            "--quantity",
            metavar=QUANTITY_NAMES,
            callback=quantity_name,
            autocompletion=complete_quantity,
            help="What is to be bounded.",
        ),
    ] = "pns",
    prevalence: Annotated[
        float | None, typer.Option("--prevalence", help="A guess: the share who respond untreated.")
    ] = None,
    treated: Annotated[
        float | None,
        typer.Option("--treated", help="A guess: the share who respond if treated; by default as many."),
    ] = None,
    chosen: Annotated[
        float | None,
        typer.Option("--chosen", help="A guess: the share who choose the treatment; by default half."),
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--pilot", help="In place of guesses: the folder of a model of a pilot study.")
    ] = None,
    query: Annotated[str, typer.Option("--query", help="With --pilot: the people who are meant.")] = "",
    subgroups: Annotated[
        int,
        typer.Option(
            "--subgroups", help="Groups, equally large, that are each to be known so well.", callback=within(1)
        ),
    ] = 1,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="Let the intervals of all subgroups hold together.")
    ] = False,
    assignment: Annotated[float, typer.Option("--assignment", help="Share of the experiment that is treated.")] = 0.5,
    ratio: Annotated[float, typer.Option("--ratio", help="Observational rows for each experimental row.")] = 1.0,
    check: Annotated[
        int,
        typer.Option("--check", help="Studies of that size to simulate, as a check.", callback=within(0, 1_000_000)),
    ] = 0,
    seed: SeedOption = 0,
    format: FormatOption = None,
    out: OutOption = None,
) -> None:
    """Say how many rows a study needs for intervals that are short enough.

    worst: whatever the truth is; expected: from guesses or a pilot. effect is known from the experiment alone; lower
    and upper are the ends of the bounds from both tables.
    """
    pilot = None if model is None else load_model(model)
    found = pnsight.size(
        margin,
        level,
        quantity,
        prevalence,
        treated,
        chosen,
        pilot,
        query,
        subgroups,
        simultaneous,
        assignment,
        ratio,
        check,
        seed,
    )
    say(found.caption)
    for note in found.notes:
        say(str(note))
    emit(found.columns(), format, out)
