"""What knowing one more covariate would change, as the templates show it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pnsight.bound_table import OK
from pnsight.decide import Questions
from pnsight.text import percent
from pnsight.web.explorer import Explorer
from pnsight.web.state import State
from pnsight.web.views.shown import NOTHING, number
from pnsight.web.words import Sign, signs


@dataclass(frozen=True)
class Level:
    """An answer to a question: how likely it is, and the decision after it."""

    name: str
    probability: str
    sign: Sign
    bounds: str
    address: str


@dataclass(frozen=True)
class Asked:
    """A question: which covariate, how likely it changes the decision, and its answers."""

    place: int
    name: str
    changes: str
    width: float
    levels: Sequence[Level]


@dataclass(frozen=True)
class Advice:
    """All questions, best first."""

    advice: str
    questions: Sequence[Asked]
    signs: Sequence[Sign]


def advice(explorer: Explorer, state: State) -> Advice:
    """What knowing one more covariate would change."""
    found = explorer.questions(state)
    columns = found.columns()
    order = zip(columns["covariate"], columns["changes"], strict=True)
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(found.covariate):
        rows.setdefault(name, []).append(row)
    said = found.advice
    return Advice(
        said[0].upper() + said[1:] + ".",
        [_asked(explorer, state, found, name, changes, rows[name]) for name, changes in order],
        tuple(signs(state.options.quantity).values()),
    )


def _asked(
    explorer: Explorer, state: State, found: Questions, name: str, changes: float | None, rows: Sequence[int]
) -> Asked:
    place = explorer.schema.names.index(name)
    levels = [_level(explorer, state.knowing(place, code), found, row) for code, row in enumerate(rows)]
    likely = NOTHING if changes is None else percent(changes)
    return Asked(place, name, likely, round(100 * (changes or 0.0), 2), levels)


def _level(explorer: Explorer, state: State, found: Questions, row: int) -> Level:
    probability, answers = float(found.probability[row]), found.after.answers
    ends = f"{number(float(answers.lower[row]))} to {number(float(answers.upper[row]))}"
    return Level(
        found.level[row],
        NOTHING if math.isnan(probability) else percent(probability),
        signs(answers.quantity)[str(found.after.decision[row])],
        ends if answers.status[row] == OK else str(answers.status[row]),
        explorer.reader.write(state),
    )
