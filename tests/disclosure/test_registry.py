"""No output is forgotten: every command and every address of the explorer is registered, or said to be none."""

from __future__ import annotations

import typer.main
from published_outputs import NOT_PUBLISHED, OUTPUTS, STATIC
from starlette.routing import Route

import web_models
from pnsight.cli.main import app as program
from pnsight.web import create_app

SERVED = "serve"
"""The command that gives out the explorer, whose addresses are looked at one by one."""


def test_every_command_is_an_output_or_said_to_be_none():
    commands = typer.main.get_command(program).commands
    reading = {name for name, command in commands.items() if any(one.name == "model" for one in command.params)}
    covered = {command for output in OUTPUTS.values() for command in output.commands}
    assert commands.keys() == {SERVED, *covered, *NOT_PUBLISHED}
    assert not reading & NOT_PUBLISHED.keys()


def test_every_address_of_the_explorer_is_an_output():
    app = create_app(web_models.plug_in())
    addresses = {route.path for route in app.routes if isinstance(route, Route)} | app.openapi()["paths"].keys()
    covered = {address for output in OUTPUTS.values() for address in output.addresses}
    assert addresses == covered | set(STATIC)
