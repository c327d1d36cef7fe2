"""`pnsight serve`: the explorer in the browser."""

from __future__ import annotations

import os
from typing import Annotated

import typer

import pnsight
from pnsight.cli.loading import load_model
from pnsight.cli.options import MinCellOption, TrialAloneOption, within
from pnsight.cli.output import say
from pnsight.cli.progress_bar import bar
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
    token: Annotated[
        bool,
        typer.Option(
            "--token", help="Answer only with a token: that of the address printed, or yours in PNSIGHT_TOKEN."
        ),
    ] = False,
    name: Annotated[
        list[str] | None, typer.Option("--name", help="Another name it goes by, as behind a proxy; may be repeated.")
    ] = None,
    proxy: Annotated[
        str | None,
        typer.Option(
            "--proxy", help="Address of a proxy in front whose word is taken on whether requests are encrypted."
        ),
    ] = None,
) -> None:
    """Explore a model in the browser: bounds, decisions and questions for any group, until Ctrl-C."""
    fitted = load_model(model)
    if min_cell is not None:
        with bar("fitting again") as progress:
            fitted = pnsight.suppress(fitted, min_cell, progress)
    from pnsight.web import serve as run  # loads the web libraries, which no other command needs

    secret = token and (os.environ.get("PNSIGHT_TOKEN") or True)
    run(fitted, host, port, min_cell, open_browser, say, threshold, trial_alone, secret, name or (), proxy)
