"""`pnsight start`: from two tables of one's own to the commands that read them, and to a first answer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import pnsight
from pnsight._text import count_text
from pnsight._text_table import fit_table, text_column
from pnsight.cli.choices import Choices
from pnsight.cli.output import put, put_data, say
from pnsight.cli.reading_options import ReadingOptions, reading_options
from pnsight.cli.screen import screen_width
from pnsight.cli.shown_command import typed
from pnsight.cli.table_options import ExperimentalArgument, ObservationalArgument
from pnsight.errors import PnsightError, TableError, join_names
from pnsight.wording import capitalised

if TYPE_CHECKING:
    from pnsight.data.reading import ProposedReading


@dataclass(frozen=True)
class Asked:
    """What a person gave to `start`; every field but the tables may still be open."""

    experimental: str
    observational: str | None
    treatment: str | None
    outcome: str | None
    reading: ReadingOptions

    def propose(self) -> ProposedReading:
        """What is understood of the tables."""
        given = self.reading
        return pnsight.data.reading.propose_reading(
            self.experimental,
            self.observational,
            treatment=self.treatment,
            outcome=self.outcome,
            treated=given.treated,
            success=given.success,
            covariates=given.covariate_names(),
            exclude=given.excluded_names(),
            other_roles=[name for name in (given.survey_weight, given.cluster) if name is not None],
        )

    def answered(self, **answers: Any) -> Asked:
        """With answers in place of what was given: columns, or options of reading."""
        own = {name: value for name, value in answers.items() if name in ("treatment", "outcome")}
        read = {name: value for name, value in answers.items() if name not in own}
        return replace(self, reading=replace(self.reading, **read), **own)

    @property
    def tables(self) -> list[str]:
        """The tables that are given."""
        return [self.experimental, *([] if self.observational is None else [self.observational])]

    def commands(self, found: ProposedReading, model: Path) -> list[list[str]]:
        """The commands that check the tables, fit a model and ask it about everyone."""
        read = self.reading
        more = {"--survey-weight": read.survey_weight, "--cluster": read.cluster, "--labels": read.labels}
        given = [word for option, value in more.items() if value is not None for word in (option, str(value))]
        reading = [*self.tables, *found.options(), *given]
        return [["check", *reading], ["fit", *reading, "--out", str(model)], ["query", str(model)]]


@reading_options("bands", "numeric", "merge_rare", "missing", "weight", "weight_is_people", "assignment")
def start(
    context: typer.Context,
    experimental: ExperimentalArgument,
    observational: ObservationalArgument = None,
    *,
    treatment: Annotated[
        str | None, typer.Option("--treatment", help="Column that says who was treated; by default it is looked for.")
    ] = None,
    outcome: Annotated[
        str | None, typer.Option("--outcome", help="Column that says who responded; by default it is looked for.")
    ] = None,
    reading: ReadingOptions,
    out: Annotated[Path, typer.Option("--out", help="Folder for the model.")] = Path("model"),
    script: Annotated[
        Path | None, typer.Option("--script", help="File to write the commands to, as a shell script.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Accept what is proposed, and ask nothing.")] = False,
    run: Annotated[
        bool | None,
        typer.Option("--run/--no-run", help="Run the commands, or show them only; by default asked on a terminal."),
    ] = None,
) -> None:
    """Begin with two tables of your own: see what they hold, confirm it, and get the commands and a first answer."""
    asked = Asked(experimental, observational, treatment, outcome, reading)
    found = asked.propose()
    terminal = sys.stdin.isatty() and not yes
    if terminal:
        asked, found = _confirmed(asked, found)
    else:
        put(f"{_understood(asked, found)}\n", None)
        sys.stdout.flush()
        _check_complete(asked, found, yes)
    commands = asked.commands(found, out)
    _show(commands, script)
    if run if run is not None else terminal and typer.confirm("\nRun them now?", default=True, err=True):
        _run(context, commands, out)


# --- what was understood -----------------------------------------------------------------------------------


def _understood(asked: Asked, found: ProposedReading) -> str:
    """A table of all columns and what becomes of each, and what the trial says if that is right."""
    names = [*filter(None, (found.treatment, found.outcome)), *found.used, *found.exclude]
    columns = [found.columns[name] for name in dict.fromkeys(names)]
    gaps = [count_text(sum(column.missing.values())) if any(column.missing.values()) else "" for column in columns]
    table = {
        "column": [column.name for column in columns],
        "used as": [_use(column.name, found) for column in columns],
        "values (rows)": [column.described() for column in columns],
        **({"missing": gaps} if any(gaps) else {}),
    }
    shown = [text_column(name, values) for name, values in table.items()]
    lines = [str(fit_table(shown, screen_width())), *_others(asked), *_markers(found), *_effect(asked, found)]
    return "\n".join(["", *lines, ""])


def _use(name: str, found: ProposedReading) -> str:
    if name == found.treatment:
        return f"treatment: {found.treated or '?'} is treated"
    if name == found.outcome:
        return f"outcome: {found.success or '?'} is success"
    if name in found.exclude:
        return f"left out: {found.exclude[name]}"
    return "covariate, as numbers" if name in found.numbers else "covariate"


def _others(asked: Asked) -> list[str]:
    return [
        f"{name}: {what}"
        for name, what in ((asked.reading.survey_weight, "survey weight"), (asked.reading.cluster, "cluster"))
        if name is not None
    ]


def _markers(found: ProposedReading) -> list[str]:
    """What looks like a missing value, and is taken for a value of its own."""
    markers = found.missing_markers()
    if not markers:
        return []
    held = join_names(f"{marker!r} in {name}" for name, marker in markers.items())
    return [f"\nTaken for a value like any other: {held}. If it stands for a missing one, leave the field empty."]


def _effect(asked: Asked, found: ProposedReading) -> list[str]:
    """How often the trial's arms succeed, which tells whether the values mean what they are taken for."""
    if found.unknown:
        return []
    study = pnsight.read_study(
        asked.experimental,
        treatment=found.treatment or "",
        outcome=found.outcome,
        treated=found.treated,
        success=found.success,
        covariates=[],
    )
    y_x, n_x, y_x0, n_x0 = study.experimental[0]
    return [
        f"\nIn {asked.experimental} {y_x / (y_x + n_x):.0%} of those with {found.treatment} = {found.treated} have "
        f"{found.outcome} = {found.success}, and {y_x0 / (y_x0 + n_x0):.0%} of the others.",
        "Covariates must say how people were before the treatment; leave out what came after it.",
    ]


# --- asking -------------------------------------------------------------------------------------------------


def _confirmed(asked: Asked, found: ProposedReading) -> tuple[Asked, ProposedReading]:
    """Ask for what could not be found, show what is understood, and let it be changed until it is right."""
    while True:
        for option, values in found.unknown.items():
            name = option.removeprefix("--")
            asked, found = _answered(asked, name, values, None, found)
            break  # what is still unknown depends on the answer
        else:
            say(_understood(asked, found))
            if typer.confirm("Is that right?", default=True, err=True):
                return asked, found
            for name in _QUESTIONS:
                values, proposed = _possible(name, found), getattr(found, name)
                asked, found = _answered(asked, name, values, proposed if proposed in values else None, found)
            asked, found = _asked_columns(asked, found)


_QUESTIONS = {
    "treatment": "Which column says who was treated?",
    "outcome": "Which column says who responded?",
    "treated": "Which value of {treatment} means treated?",
    "success": "Which value of {outcome} means success?",
}


def _possible(name: str, found: ProposedReading) -> list[str]:
    """What a question can be answered with; the outcome is another column than the treatment."""
    if name in ("treatment", "outcome"):
        return found.two_valued(found.treatment if name == "outcome" else None)
    return list(found.columns[(found.treatment if name == "treated" else found.outcome) or ""].values)


def _answered(
    asked: Asked, name: str, values: Sequence[str], default: str | None, found: ProposedReading
) -> tuple[Asked, ProposedReading]:
    """Ask until the answer is one that the tables know."""
    forgotten = {"treatment": {"treated": None}, "outcome": {"success": None}}.get(name, {})
    choices = Choices(values)

    def ask(text: str) -> tuple[Asked, ProposedReading]:
        chosen = choices.named(text)
        new = asked.answered(**{name: chosen}, **(forgotten if chosen != default else {}))
        return new, new.propose()

    say(f"\n{_QUESTIONS[name].format(treatment=found.treatment, outcome=found.outcome)}")
    say(choices.listed())
    return _until_known(choices.prompt, None if default is None else choices.short(default), ask)


def _asked_columns(asked: Asked, found: ProposedReading) -> tuple[Asked, ProposedReading]:
    """Ask which columns to learn from; those that are proposed come first, and then those that are left out."""
    names = [*found.used, *(name for name in found.exclude if name in found.shared)]
    choices = Choices(names, {name: f"left out: {why}" for name, why in found.exclude.items()})

    def ask(text: str) -> tuple[Asked, ProposedReading]:
        chosen = [choices.named(each) for each in pnsight.queries.query.split_names(text)]
        new = asked.answered(covariates=pnsight.data.reading.propose.names_as_option(chosen))
        return new, new.propose()

    say("\nWhich columns describe people, as they were before the treatment?")
    say(choices.listed())
    proposed = pnsight.data.reading.propose.names_as_option(list(map(choices.short, found.used)))
    return _until_known(f"{choices.prompt}, with commas between", proposed, ask)


def _until_known(
    question: str, default: str | None, ask: Callable[[str], tuple[Asked, ProposedReading]]
) -> tuple[Asked, ProposedReading]:
    while True:
        try:
            return ask(typer.prompt(question, default=default, err=True))
        except PnsightError as error:
            say(str(error))


def _check_complete(asked: Asked, found: ProposedReading, yes: bool) -> None:
    """Without a terminal nothing can be asked: what is not given must be proposed, and the proposal accepted."""
    missing = [f"{option} ({join_names(values)})" for option, values in found.unknown.items()]
    if missing:
        raise TableError(
            f"nothing tells what {' and '.join(option.removeprefix('--') for option in found.unknown)} should be, and "
            f"there is no terminal to ask on; give {' and '.join(missing)}."
        )
    given = {"--treatment": asked.treatment, "--outcome": asked.outcome}
    for option, known, value in (
        ("--treated", found.treated, asked.reading.treated),
        ("--success", found.success, asked.reading.success),
    ):
        if option in found.options():
            given[option] = value if known == value else None
    proposed = dict(zip(found.options()[::2], found.options()[1::2], strict=True))
    left = [typed([option, proposed[option]]).partition(" ")[2] for option, value in given.items() if value is None]
    if left and not yes:
        raise TableError(
            "the table above is proposed, and there is no terminal to confirm it on; give --yes to accept it, or say "
            f"what is meant: {' '.join(left)}."
        )


# --- commands -----------------------------------------------------------------------------------------------


def _show(commands: Sequence[Sequence[str]], script: Path | None) -> None:
    lines = [typed(words) for words in commands]
    print("\n".join(lines), flush=True)
    if script is not None:
        put_data(
            "\n".join(["#!/bin/sh", "# The tables checked, fitted and asked about everyone.", "set -e", *lines, ""]),
            script,
        )
        say(f"written to {script}")


def _run(context: typer.Context, commands: Sequence[Sequence[str]], model: Path) -> None:
    """Run the commands as they are shown; tables that are not usable end it."""
    program: Any = context.find_root().command
    for words in commands:
        print(f"\n$ {typed(words)}", file=sys.stderr, flush=True)  # not wrapped, so that it can be copied
        code = program.main(list(words), standalone_mode=False)
        if code:
            say("The tables are not usable as they are, so nothing was fitted; see what is said above.")
            raise typer.Exit(code)
    for people in pnsight.output.per_hundred.per_hundred(pnsight.load(model)):
        put(f"\n{people.sentence}\n", None)
        if people.chance is not None:
            put(f"{capitalised(str(people.chance))}.\n", None)
    print("\nNext, in a browser, or as a report to send:")
    print(typed(["serve", str(model), "--open"]))
    print(typed(["report", str(model), "--out", "report.html"]))
