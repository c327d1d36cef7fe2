"""`pnsight serve`: the explorer in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

import pnsight
from pnsight.cli.options import MinCellOption, TrialAloneOption, within
from pnsight.cli.output import say
from pnsight.cli.query import ModelArgument


def serve(
    model: ModelArgument,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen at; by default only this machine can ask.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", help="Port to listen at; 0 takes a free one.", callback=within(0, 65535))
    ] = 8000,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Threshold to begin with, from 0 to 1; by default 0.5.")
    ] = None,
    trial_alone: TrialAloneOption = False,
    min_cell: MinCellOption = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the explorer in a browser.")] = False,
) -> None:
    """Explore a model in the browser: bounds, decisions and questions for any group, until Ctrl-C."""
    fitted = pnsight.load(model)
    from pnsight.web import serve as run  # loads the web libraries, which no other command needs

    run(fitted, host, port, min_cell, open_browser, say, threshold, trial_alone)
