"""Write the generated pages, or with --check say which of them is out of step with the code.

A page is a path and a function that returns its text; add a line to `PAGES` for another one, or to `TESTED_PAGES` if a
test holds it to the code.
"""

from __future__ import annotations

import argparse
import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import accuracy
import case_study
import experiment
import gallery
import typer.main
from transcripts import refreshed
from typer.testing import CliRunner

import pnsight
import pnsight_experiments.cli
from pnsight.cli.main import app

DOCS = Path(__file__).parent
WIDTH = 100

MODULES = (
    "data.labels",
    "data.law",
    "data.reading",
    "data.schema",
    "data.structure",
    "data.study",
    "data.two_by_two",
    "estimands",
    "queries.bound_table",
    "queries.lattice",
    "queries.query",
    "diagnostics",
    "models",
    "simulation",
    "decisions",
    "decisions.planning",
    "output.plots",
    "output.report",
)
"""Modules with public names, in the order of the layers."""

CONSTANTS = {
    "estimands": ["pnsight.estimands.assumptions.ASSUMPTIONS", "pnsight.estimands.quantities.QUANTITIES"],
    "simulation": [
        "pnsight.simulation.catalog.NAMES",
        "pnsight.simulation.random_populations.KINDS",
        "pnsight.simulation.random_trials.TRIAL_KINDS",
        "pnsight.simulation.trials.TRIAL_NAMES",
    ],
}
"""Public constants of a package, by where they are defined: autodoc finds their text only there."""

TABLE_BEGINS, TABLE_ENDS = "<!-- Written by docs/generate.py. -->\n", "<!-- End. -->\n"
"""What encloses the table of errors in the README."""

NOTE = "<!-- Written by docs/generate.py: change the code, then run make docs. -->\n\n"


def command_line() -> str:
    """The help of the program and of each of its commands."""
    sections = [
        f"## {' '.join(words)}\n\n```text\n{_help(words[1:])}```\n" for words in _commands(("pnsight",), _program())
    ]
    intro = (
        "# Command line\n\n"
        "What `--help` says, of the program and of each command. How to write a query, the formats and the exit codes "
        "are on [their own page](queries.md).\n\n"
    )
    return NOTE + intro + "\n".join(sections)


def _program() -> Any:
    """The program with the experiment's commands, which have a distribution of their own."""
    program: Any = typer.main.get_command(app)
    program.commands["bench"] = typer.main.get_command(pnsight_experiments.cli.app)
    return program


def _commands(words: tuple[str, ...], command: Any) -> Iterator[tuple[str, ...]]:
    """The command, then all commands below it."""
    yield words
    for name, below in getattr(command, "commands", {}).items():
        yield from _commands((*words, name), below)


def _help(words: tuple[str, ...]) -> str:
    home, name = (pnsight_experiments.cli.app, "pnsight bench") if words[:1] == ("bench",) else (app, "pnsight")
    asked = [*words[1:], "--help"] if home is not app else [*words, "--help"]
    shown = CliRunner().invoke(home, asked, prog_name=name, terminal_width=WIDTH, color=False)
    if shown.exit_code:
        raise SystemExit(f"pnsight {' '.join(words)} --help fails: {shown.output}")
    return "".join(f"{line.rstrip()}\n" for line in shown.output.splitlines())


def python_reference() -> str:
    """Every public name: what `pnsight` offers itself, then what its modules add."""
    names = [name for name in pnsight.__all__ if not name.startswith("__")]
    functions = [name for name in names if inspect.isfunction(getattr(pnsight, name))]
    classes = [name for name in names if inspect.isclass(getattr(pnsight, name))]
    parts = [
        "# Python reference\n",
        "`import pnsight` gives the functions and classes below; the modules hold the rest. "
        "In shapes, `rows`, `queries` and `profiles` count what their names say.\n",
        "## Functions\n",
        *(_directive("autofunction", f"pnsight.{name}") for name in functions),
        "## Classes\n",
        *(_directive("autoclass", f"pnsight.{name}", ":members:") for name in classes),
        *(_module(name, classes + functions) for name in MODULES),
    ]
    return NOTE + "\n".join(parts)


def _module(name: str, shown: list[str]) -> str:
    """A module without the names that `pnsight` itself offers."""
    directive = _directive("automodule", f"pnsight.{name}", ":members:", f":exclude-members: {', '.join(shown)}")
    constants = [_directive("autodata", constant, ":no-value:") for constant in CONSTANTS.get(name, [])]
    return "\n".join([f"## pnsight.{name}\n", directive, *constants])


def _directive(kind: str, target: str, *options: str) -> str:
    indented = "".join(f"   {option}\n" for option in options)
    return f"```{{eval-rst}}\n.. {kind}:: {target}\n{indented}```\n"


def readme() -> str:
    """The README with its examples run again and the table of errors as the results have it today."""
    before, rest = refreshed(DOCS.parent / "README.md").split(TABLE_BEGINS)
    return before + TABLE_BEGINS + accuracy.headline() + rest[rest.index(TABLE_ENDS) :]


PAGES: list[tuple[Path, Callable[[], str]]] = [
    (DOCS / "cli.md", command_line),
    (DOCS / "python.md", python_reference),
    (DOCS / "experiment.md", lambda: NOTE + experiment.page()),
    (DOCS / "accuracy.md", lambda: NOTE + accuracy.page()),
    (DOCS.parent / "README.md", readme),
    (DOCS / "case-study.md", lambda: NOTE + case_study.page()),
    *(
        (page, partial(refreshed, page))
        for page in (
            DOCS / "index.md",
            DOCS / "quickstart.md",
            DOCS / "questions.md",
            DOCS / "bounds.md",
            DOCS / "assumptions.md",
            DOCS / "sensitivity.md",
            DOCS / "populations.md",
            DOCS / "queries.md",
            DOCS / "tables.md",
            DOCS / "check.md",
            DOCS / "deciding.md",
            DOCS / "policies.md",
            DOCS / "size.md",
            DOCS / "validation.md",
            DOCS / "scoring.md",
            DOCS / "sites.md",
            DOCS / "report.md",
            DOCS / "disclosure.md",
            DOCS / "explorer.md",
            DOCS / "howto-doses.md",
            DOCS / "howto-grades.md",
            DOCS / "howto-survival.md",
            DOCS / "howto-noncompliance.md",
        )
    ),
]


def structure_options() -> str:
    """Which option works with which kind of trial: a program of its own, since it takes what commands print."""
    program = [sys.executable, "-m", "pnsight_experiments.structure_options"]
    return subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True).stdout


TESTED_PAGES: list[tuple[Path, Callable[[], str]]] = [(DOCS / "structure-options.md", structure_options)]
"""Pages that a test holds to the code, which --check therefore leaves to it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page would change")
    check = parser.parse_args().check
    pages = PAGES if check else [*PAGES, *TESTED_PAGES]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        texts = list(pool.map(lambda page: page[1](), pages))
    stale = [path for (path, _), text in zip(pages, texts, strict=True) if _out_of_step(path, text, write=not check)]
    names = ", ".join(str(path.relative_to(DOCS.parent)) for path in stale)
    if check and stale:
        print(f"out of step with the code: {names}; run make docs", file=sys.stderr)
        sys.exit(1)
    if not check:
        experiment.draw()
        accuracy.draw()
        gallery.draw()
    if stale:
        print(f"written: {names}")


def _out_of_step(path: Path, text: str, write: bool) -> bool:
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return False
    if write:
        path.write_text(text, encoding="utf-8")
    return True


if __name__ == "__main__":
    main()
