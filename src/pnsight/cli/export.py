"""`pnsight export`: a model to hand on, without small counts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import pnsight
from pnsight.cli.loading import load_model
from pnsight.cli.options import within
from pnsight.cli.output import say
from pnsight.cli.progress_bar import bar
from pnsight.cli.query import ModelArgument
from pnsight.errors import OutputError


def export(
    model: ModelArgument,
    out: Annotated[Path, typer.Option("--out", help="Folder for the model without small counts.")],
    min_cell: Annotated[
        int, typer.Option("--min-cell", help="Withhold counts of people from 1 to below this.", callback=within(2))
    ] = 10,
) -> None:
    """Write a model that can be handed on, fitted again to counts of people none of which is small.

    Fitting again takes as long as fitting did.
    """
    if out.resolve() == model.resolve():
        raise OutputError(f"{str(out)!r} is the model itself, whose counts would be lost; name another folder.")
    pnsight.models.persistence.check_place(out)
    fitted = load_model(model)
    with bar("fitting again") as progress:
        found = pnsight.suppress(fitted, min_cell, progress)
    pnsight.save(found, out)
    for line in found.caveats:
        say(str(line))
    say(f"model written to {out}; ask it with: pnsight query {out}")
