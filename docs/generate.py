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
from dataclasses import dataclass
from functools import partial
from importlib import import_module
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


@dataclass(frozen=True)
class Topic:
    """A page of the Python reference: what it is about, the names of `pnsight` on it, and modules with more."""

    page: str
    title: str
    about: str
    names: tuple[str, ...]
    modules: tuple[str, ...] = ()


TOPICS = (
    Topic(
        "reading",
        "Read tables",
        "From files, data frames and databases to a study.",
        ("read_study", "read_counts", "write_counts", "suppress", "Study", "Schema", "Covariate"),
        ("data.reading", "data.study", "data.schema", "data.labels", "data.structure", "data.two_by_two"),
    ),
    Topic(
        "checking",
        "Check tables and models",
        "Whether tables are usable, and how a model fares on rows that it has not seen.",
        ("check", "Check", "validate", "Validation", "second_opinion", "SecondOpinion"),
        ("diagnostics",),
    ),
    Topic(
        "models",
        "Models",
        "What learns from a study and answers, and how it is stored.",
        ("ResponseTypeModel", "PlugIn", "MaskMLP", "ExactMLP", "Model", "save", "load"),
        ("models",),
    ),
    Topic(
        "asking",
        "Ask: quantities, queries and bounds",
        "What is asked, of whom, and the table of answers.",
        ("Estimand", "Payoffs", "Query", "BoundTable", "Law", "Program"),
        ("estimands", "queries.query", "queries.bound_table", "queries.lattice", "data.law"),
    ),
    Topic(
        "deciding",
        "Decide",
        "Whom to treat, what to ask first, which groups stand out, how firm it is.",
        ("decide", "ask", "rank", "select", "tip", "policies", "score"),
        ("decisions",),
    ),
    Topic(
        "planning",
        "Plan a study",
        "How many rows, and of whom.",
        ("size", "plan"),
        ("decisions.planning",),
    ),
    Topic(
        "showing",
        "Show: plots, reports, the explorer",
        "Figures, a report in one file, and pages in the browser.",
        ("plot", "serve"),
        ("output.plots", "output.report"),
    ),
    Topic(
        "simulating",
        "Simulate",
        "Populations whose truth is known, and tables drawn from them.",
        (),
        ("simulation",),
    ),
    Topic(
        "errors",
        "Errors and notes",
        "What goes wrong, and what a reader should know, as data.",
        ("PnsightError", "Note"),
    ),
)
"""The Python reference by topic, in the order of work. Every public name is on one page."""

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
    """The topics of the Python reference, each with what `pnsight` offers and a line about it."""
    public = {name for name in pnsight.__all__ if not name.startswith("__") and not inspect.ismodule(_public(name))}
    if homeless := public - set(_names()):
        raise SystemExit(f"name these in TOPICS of docs/generate.py: {', '.join(sorted(homeless))}")
    parts = [
        "# Python reference\n",
        "`import pnsight` gives the names below; their modules hold more, and each page has both. "
        "In shapes, `rows`, `queries` and `profiles` count what their names say.\n",
        *(_overview(topic) for topic in TOPICS),
        "```{toctree}\n:hidden:\n",
        *(f"reference/{topic.page}" for topic in TOPICS),
        "```\n",
    ]
    return NOTE + "\n".join(parts)


def _overview(topic: Topic) -> str:
    rows = [f"| {{py:obj}}`{name} <pnsight.{name}>` | {_summary(name)} |" for name in topic.names]
    table = "\n".join(["| | |", "|---|---|", *rows, ""]) if rows else ""
    more = ", ".join(f"`pnsight.{name}`" for name in topic.modules)
    modules = f"Modules: {more}.\n" if more else ""
    return "\n".join([f"## [{topic.title}](reference/{topic.page}.md)\n", f"{topic.about}\n", table, modules])


def _summary(name: str) -> str:
    """The first sentence about a name."""
    return (inspect.getdoc(_public(name)) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def _public(name: str) -> Any:
    return getattr(pnsight, name)


def _names() -> list[str]:
    return [name for topic in TOPICS for name in topic.names]


def topic_page(topic: Topic) -> str:
    """A page of the Python reference: names of `pnsight` first, then what its modules add."""
    parts = [f"# {topic.title}\n", f"{topic.about}\n", *map(_documented, topic.names), *map(_module, topic.modules)]
    return NOTE + "\n".join(parts)


def _documented(name: str) -> str:
    if inspect.isclass(_public(name)):
        return _directive("autoclass", f"pnsight.{name}", ":members:")
    return _directive("autofunction", f"pnsight.{name}")


def _module(name: str) -> str:
    """A module without the names that `pnsight` itself offers."""
    offered = [each for each in _names() if each in dir(import_module(f"pnsight.{name}"))]
    without = [f":exclude-members: {', '.join(offered)}"] if offered else []
    directive = _directive("automodule", f"pnsight.{name}", ":members:", *without)
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
    *((DOCS / "reference" / f"{topic.page}.md", partial(topic_page, topic)) for topic in TOPICS),
    (DOCS / "experiment.md", lambda: NOTE + experiment.page()),
    (DOCS / "accuracy.md", lambda: NOTE + accuracy.page()),
    (DOCS.parent / "README.md", readme),
    (DOCS / "case-study.md", lambda: NOTE + case_study.page()),
    *(
        (page, partial(refreshed, page))
        for page in (
            DOCS / "index.md",
            DOCS / "install.md",
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
            DOCS / "second-opinion.md",
            DOCS / "scoring.md",
            DOCS / "sites.md",
            DOCS / "report.md",
            DOCS / "reporting.md",
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
