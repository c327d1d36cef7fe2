"""No output is forgotten: every command that reads a model, and every address of the explorer, is registered."""

from __future__ import annotations

import typer.main
from published_outputs import OUTPUTS, STATIC
from starlette.routing import Route

import web_models
from pnsight.cli.main import app as program
from pnsight.web import create_app

SERVED = "serve"
"""The command that gives out the explorer, whose addresses are looked at one by one."""


def test_every_command_that_reads_or_writes_a_model_is_an_output():
    commands = typer.main.get_command(program).commands
    reading = {name for name, command in commands.items() if any(one.name == "model" for one in command.params)}
    covered = {command for output in OUTPUTS.values() for command in output.commands}
    assert reading - {SERVED} <= covered
    assert covered <= reading


def test_every_address_of_the_explorer_is_an_output():
    app = create_app(web_models.plug_in())
    addresses = {route.path for route in app.routes if isinstance(route, Route)} | app.openapi()["paths"].keys()
    covered = {address for output in OUTPUTS.values() for address in output.addresses}
    assert addresses == covered | set(STATIC)
