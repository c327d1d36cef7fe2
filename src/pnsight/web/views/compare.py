"""Two people or groups side by side, as the template shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from pnsight.output.icon_array import icon_array
from pnsight.output.per_hundred import PerHundred, Range
from pnsight.web.explorer import Explorer
from pnsight.web.state import State
from pnsight.web.views.answer import Answer, answer
from pnsight.web.views.format import NOTHING, described
from pnsight.wording import range_of_hundred


@dataclass(frozen=True)
class Side:
    """One of the two: who they are, the answer about them, and a hundred of them drawn."""

    people: Sequence[str]
    answer: Answer
    picture: Markup


@dataclass(frozen=True)
class Line:
    """What is compared, and how many of a hundred on either side."""

    name: str
    values: Sequence[str]


@dataclass(frozen=True)
class Comparison:
    """Both sides, and what differs line by line."""

    sides: Sequence[Side]
    lines: Sequence[Line]


def compare(explorer: Explorer, one: State, other: State) -> Comparison:
    """Two states, which ask in the same way."""
    sides = [_side(explorer, state, f"side-{k}") for k, state in enumerate((one, other))]
    return Comparison(sides, _lines([side.answer for side in sides]))


def _side(explorer: Explorer, state: State, name: str) -> Side:
    found = answer(explorer, state)
    picture = Markup() if found.hundred is None else Markup(icon_array(found.hundred, name))  # its text is escaped
    return Side(described(explorer.schema, explorer.model.study.labels, state), found, picture)


def _lines(answers: Sequence[Answer]) -> list[Line]:
    hundreds = [each.hundred for each in answers]
    known = next((each for each in hundreds if each is not None), None)
    of_hundred = [] if known is None else [_line(name, field, hundreds) for name, field in _names(known).items()]
    rows = [
        Line("Rows in experiment", [each.lines[0].experimental for each in answers]),
        Line("Rows observed", [each.lines[0].observational for each in answers]),
        Line("How many they are", [each.share or "all people" for each in answers]),
    ]
    return [*of_hundred, *rows]


def _names(known: PerHundred) -> dict[str, str]:
    """What is told of a hundred people, with its field in `PerHundred`."""
    other = f"with {known.reference}" if known.reference else f"without {known.arm}"
    both = {f"Helped by {known.arm}": "helped", f"Harmed by {known.arm}": "harmed"}
    if not known.outcome:
        return both
    outcomes = {f"{known.outcome}, with {known.arm}": "with_arm", f"{known.outcome}, {other}": "with_reference"}
    return {**both, **outcomes}


def _line(name: str, field: str, hundreds: Sequence[PerHundred | None]) -> Line:
    shares: list[Range | None] = [None if each is None else getattr(each, field) for each in hundreds]
    told = [NOTHING if share is None else f"{range_of_hundred(*share.ends)} of 100" for share in shares]
    return Line(name, told)
