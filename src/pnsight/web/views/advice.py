"""What knowing one more covariate would change, as the templates show it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from pnsight._text import percent
from pnsight.decisions import NOT, TREAT, UNCERTAIN, Questions
from pnsight.decisions.value_of_information import NEVER
from pnsight.estimands.resolve import OK
from pnsight.queries.bound_table import BoundTable
from pnsight.queries.query import encode
from pnsight.web.explorer import Explorer
from pnsight.web.state import OTHER, PREFIX, State
from pnsight.web.views.format import NOTHING, harm_words, most_of_hundred, number
from pnsight.web.words import Sign, sign_of, signs
from pnsight.wording import capitalised


@dataclass(frozen=True)
class Level:
    """An answer to a question: how likely it is, and the decision after it, with the harm of treating."""

    name: str
    probability: str
    sign: Sign
    harm: str
    bounds: str
    address: str


@dataclass(frozen=True)
class Change:
    """Another decision that a question may lead to: how likely, and its part of a bar in per cent."""

    sign: Sign
    likely: str
    begins: float
    width: float


@dataclass(frozen=True)
class Asked:
    """A question: which covariate, what it may change the decision to (None if it cannot be said), and its answers."""

    place: int
    name: str
    changes: Sequence[Change] | None
    levels: Sequence[Level]


@dataclass(frozen=True)
class Otherwise:
    """Something known that might be otherwise: how, what holds then, and addresses to open and compare.

    What holds then are the decision, the bounds, and how many treatment harms at most.
    """

    term: str
    sign: Sign
    bounds: str
    harm: str
    address: str
    compare: str


@dataclass(frozen=True)
class Advice:
    """All questions, best first; those that change nothing apart; and what if something known were otherwise.

    `harm_known` says whether the others come with the harm of treating them.
    """

    advice: str
    questions: Sequence[Asked]
    idle: Sequence[Asked]
    signs: Sequence[Sign]
    otherwise: Sequence[Otherwise]
    harm_known: bool


def advice(explorer: Explorer, state: State) -> Advice:
    """What knowing one more covariate would change."""
    found = explorer.questions(state)
    columns = found.columns()
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(found.covariate):
        rows.setdefault(name, []).append(row)
    harm = _harm(explorer, state, found.after.answers)
    every = [
        _asked(explorer, state, found, name, _changes(found, columns, place), rows[name], harm)
        for place, name in enumerate(columns["covariate"])
    ]
    others = _otherwise(explorer, state)
    return Advice(
        f"{capitalised(str(explorer.model.study.labels.note(found.advice)))}.",
        [question for question in every if question.changes != ()],
        [question for question in every if question.changes == ()],
        tuple(signs(state.options.estimand.quantity.name).values()),
        others,
        any(other.harm != NOTHING for other in others),
    )


def _harm(explorer: Explorer, state: State, answers: BoundTable) -> list[float]:
    """Which share of the people of each answer is harmed at most; NaN where that is not known."""
    codes = encode(explorer.schema, list(answers.queries))
    return explorer.most_harmed(codes, state.options) or [math.nan] * len(answers)


def _otherwise(explorer: Explorer, state: State) -> list[Otherwise]:
    """What would be decided about others, who differ in one thing that is known."""
    found = explorer.what_if(state)
    if found is None:
        return []
    answers, labels, here = found.decisions.answers, explorer.model.study.labels, explorer.reader.write(state)
    harm = _harm(explorer, state, answers)
    others = []
    for row, (name, level) in enumerate(zip(found.covariates, found.levels, strict=True)):
        other = replace(state, query=tuple(map(int, found.codes[row])))
        theirs = urlencode([(OTHER + key.removeprefix(PREFIX), value) for key, value in explorer.reader.people(other)])
        others.append(
            Otherwise(
                labels.term(name, level),
                sign_of(answers.quantity, str(found.decisions.decision[row]), str(answers.status[row])),
                _bounds(answers, row),
                most_of_hundred(harm[row]),
                explorer.reader.write(other),
                f"{here}&{theirs}",
            )
        )
    return others


def _bounds(answers: BoundTable, row: int) -> str:
    """Both ends, or why there are none."""
    ends = f"{number(float(answers.lower[row]))} to {number(float(answers.upper[row]))}"
    return ends if answers.status[row] == OK else str(answers.status[row])


def _changes(found: Questions, columns: Mapping[str, Sequence[Any]], place: int) -> tuple[Change, ...] | None:
    """Other decisions than now that a question may lead to."""
    if columns["changes"][place] is None:
        return None
    now, known, begins = str(found.now.decision[0]), signs(found.now.answers.quantity), 0.0
    changes: list[Change] = []
    for word in (TREAT, NOT, UNCERTAIN):
        likely = columns[word][place]
        if word != now and likely > NEVER:
            changes.append(Change(known[word], percent(likely), round(begins, 2), round(100 * likely, 2)))
            begins += 100 * likely
    return tuple(changes)


def _asked(
    explorer: Explorer,
    state: State,
    found: Questions,
    name: str,
    changes: tuple[Change, ...] | None,
    rows: Sequence[int],
    harm: Sequence[float],
) -> Asked:
    place = explorer.schema.names.index(name)
    codes = explorer.schema.covariates[place].level_codes.tolist()
    levels = [_level(explorer, state.knowing(place, codes[k]), found, row, harm[row]) for k, row in enumerate(rows)]
    return Asked(place, name, changes, levels)


def _level(explorer: Explorer, state: State, found: Questions, row: int, harm: float) -> Level:
    probability, answers = float(found.probability[row]), found.after.answers
    decision = str(found.after.decision[row])
    return Level(
        found.level[row],
        NOTHING if math.isnan(probability) else percent(probability),
        sign_of(answers.quantity, decision, str(answers.status[row])),
        harm_words(harm) if decision == TREAT else "",
        _bounds(answers, row),
        explorer.reader.write(state),
    )
