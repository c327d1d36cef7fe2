"""The `pnsight` program: its commands, and what becomes of a user's mistake."""

from __future__ import annotations

import inspect
import io
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from pnsight._redact import redact_urls
from pnsight._version import __version__
from pnsight.cli import (
    ask,
    bench,
    check,
    count,
    decide,
    demo,
    explain,
    export,
    fit,
    formula,
    opinion,
    oracle,
    plan,
    policies,
    query,
    rank,
    report,
    score,
    select_command,
    serve,
    simulate,
    size,
    start,
    tip,
    validate,
)
from pnsight.cli.output import say, silence
from pnsight.errors import PnsightError

app = typer.Typer(
    name="pnsight",
    help="For which people is the treatment what makes the difference?",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo.demo,
    "start": start.start,
    "simulate": simulate.simulate,
    "oracle": oracle.oracle,
    "check": check.check,
    "count": count.count,
    "fit": fit.fit,
    "formula": formula.formula,
    "explain": explain.explain,
    "query": query.query,
    "decide": decide.decide,
    "tip": tip.tip,
    "score": score.score,
    "ask": ask.ask,
    "rank": rank.rank,
    "select": select_command.select,
    "policies": policies.policies,
    "serve": serve.serve,
    "report": report.report,
    "export": export.export,
    "plan": plan.plan,
    "validate": validate.validate,
    "opinion": opinion.opinion,
    "size": size.size,
}
"""Commands in the order in which help lists them."""


def _summary(command: Callable[..., None]) -> str:
    """The first paragraph of a command's help, which the list of commands shows whole: by default it is cut off."""
    return " ".join((inspect.getdoc(command) or "").partition("\n\n")[0].split())


for _name, _command in COMMANDS.items():
    app.command(_name, short_help=_summary(_command))(_command)
app.command(
    "bench",
    short_help=_summary(bench.bench),
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)(bench.bench)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"pnsight {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and stop.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    pass  # the program's help is given to `app`; this function only carries the option


def main(arguments: list[str] | None = None) -> None:
    """Run the program; a user's mistake ends with exit code 2 and one message."""
    _have_streams()
    try:
        _run(arguments)
    except PnsightError as error:
        say(f"pnsight: {redact_urls(str(error))}")
        sys.exit(2)
    except RuntimeError as error:
        if not isinstance(error.__cause__, KeyboardInterrupt):  # as DuckDB puts it
            raise
        sys.exit(130)
    except MemoryError:
        say("pnsight: there is not enough memory for this; ask for less at once.")
        sys.exit(2)
    except BrokenPipeError:  # the reader, such as `head`, has seen enough
        silence(sys.stdout)
    except OSError as error:
        if error.filename is not None:  # a file that was named: the result has no name
            named = redact_urls(repr(str(error.filename)))
            say(f"pnsight: cannot use {named}: {error.strerror}; name another.")
            sys.exit(2)
        say(f"pnsight: cannot write the result: {error.strerror}.")
        silence(sys.stdout)
        sys.exit(2)


def _run(arguments: list[str] | None) -> None:
    try:
        app(arguments, prog_name=app.info.name)
    finally:
        sys.stdout.flush()  # here, where it can still be told that this fails


def _have_streams() -> None:
    """Streams that tell when they fail, and have an escape for a letter that a terminal lacks.

    A stream that was closed is None in Python; have one that fails when written to, and messages that go nowhere.
    """
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = _complete(sys.stdout)
        sys.stdout.reconfigure(errors="backslashreplace")


_KEPT: list[io.TextIOWrapper] = []
"""Unbuffered streams and those in their place, kept because whoever lets go of one closes what both write to."""


def _complete(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """The stream itself, unless it is unbuffered (PYTHONUNBUFFERED, python -u).

    Python then asks the system once to write, and passes over what it did not write, as on a disk that is full.
    """
    raw: Any = stream.buffer
    if not isinstance(raw, io.RawIOBase):
        return stream
    complete = io.TextIOWrapper(io.BufferedWriter(raw), stream.encoding, line_buffering=True)
    _KEPT.extend([stream, complete])
    return complete
