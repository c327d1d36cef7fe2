"""`pnsight bench`: the paper's experiment, which is a distribution of its own, loaded where it is installed."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

import typer

from pnsight.errors import PnsightError

EXPERIMENTS = "pnsight_experiments"
"""Package of the folder experiments/ of the repository."""

PASS_ON = {"ignore_unknown_options": True, "allow_extra_args": True}
"""What follows the name is for the command that is loaded."""


def bench(context: typer.Context) -> None:
    """Run the paper's experiment and show it beside the paper."""
    if find_spec(EXPERIMENTS) is None:
        raise PnsightError(
            "pnsight bench runs the paper's experiment, which is not part of the installed package; install it from a "
            "clone of the repository with `pip install ./experiments`, or with `pip install 'pnsight[experiments]'`."
        )
    command = typer.main.get_command(import_module(f"{EXPERIMENTS}.cli").app)
    command.main(context.args, prog_name="pnsight bench")
