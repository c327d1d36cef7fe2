"""The answer to one state, as the templates show it: plain values with everything already in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pnsight._text import count_text
from pnsight.data.schema import OPEN
from pnsight.decisions import NONE, Decisions
from pnsight.errors import PnsightError
from pnsight.estimands.resolve import OK
from pnsight.notes import sentences
from pnsight.queries.bound_table import BoundTable
from pnsight.web.bounds_chart import Bar, drawn
from pnsight.web.explorer import Explorer
from pnsight.web.state import State
from pnsight.web.views.describe_question import asked, confidence
from pnsight.web.views.format import NOTHING, number
from pnsight.web.views.small_counts import caveat, share_words
from pnsight.web.words import NO_ANSWER, Sign, signs
from pnsight.wording import capitalised, sentence


@dataclass(frozen=True)
class End:
    """One end of the bounds, and its interval if there is one."""

    value: str
    interval: str


@dataclass(frozen=True)
class Line:
    """The answer for some people, as a line of a table."""

    people: str
    lower: End
    upper: End
    experimental: str
    observational: str


@dataclass(frozen=True)
class Known:
    """A covariate that is fixed, and the address without it."""

    name: str
    level: str
    without: str


@dataclass(frozen=True)
class Answer:
    """The answer to one state."""

    sign: Sign
    reason: str
    said: str
    known: Sequence[Known]
    share: str
    lines: Sequence[Line]
    bar: Bar
    level: str
    threshold: str
    quantity: str
    caveat: str
    notes: Sequence[str]
    asked: Sequence[str]
    address: str


def answer(explorer: Explorer, state: State) -> Answer:
    """The answer to a state, beside that for everyone."""
    found, everyone = explorer.decision(state), _everyone(explorer, state)
    quantity = state.options.estimand.quantity
    sign, reason = signs(found.answers.quantity)[str(found.decision[0])], _reason(found, quantity.label)
    known = _known(explorer, state)
    lines = [_line("These people" if known else "Everyone", found.answers, explorer)]
    if known and everyone is not None:
        lines.append(_line("Everyone", everyone, explorer))
    return Answer(
        sign,
        reason,
        f"{sign.words}. {reason}",
        known,
        share_words(explorer.model, explorer.share(state)) if known else "",
        lines,
        drawn(found.answers, everyone if known else None, state.options, found.threshold),
        "" if found.answers.level is None else confidence(found.answers.level),
        f"{found.threshold:g}",
        quantity.label,
        caveat(explorer.model, found.answers),
        sentences(found.answers.notes, "page"),
        asked(explorer, state.options),
        explorer.reader.write(state),
    )


def _everyone(explorer: Explorer, state: State) -> BoundTable | None:
    """The answer for everyone, if there is one: an exact model has none, and an assumption may fail for some."""
    try:
        return explorer.decision(state.everyone).answers
    except PnsightError:
        return None


def _reason(found: Decisions, quantity: str) -> str:
    """Why this is the decision, in a sentence of its own."""
    status = str(found.answers.status[0])
    if found.decision[0] == NONE and status != OK:
        return NO_ANSWER[status]
    reason = found.reason()
    return capitalised(sentence(reason.kind, {**reason.values, "quantity": quantity}, "page"))


def _known(explorer: Explorer, state: State) -> list[Known]:
    places = [place for place, code in enumerate(state.query) if code != OPEN]
    covariates = explorer.schema.covariates
    return [
        Known(
            covariates[place].name,
            covariates[place].levels[state.query[place]],
            explorer.reader.write(state.knowing(place, OPEN)),
        )
        for place in places
    ]


def _line(people: str, found: BoundTable, explorer: Explorer) -> Line:
    alone = explorer.model.study.observational is None
    return Line(
        people,
        _end(found, "lower"),
        _end(found, "upper"),
        count_text(float(found.support_experimental[0])),
        NOTHING if alone else count_text(float(found.support_observational[0])),
    )


def _end(found: BoundTable, end: Literal["lower", "upper"]) -> End:
    low, high = (float(values[0]) for values in found.interval(end))
    without = math.isnan(low) or found.status[0] != OK
    return End(number(float(getattr(found, end)[0])), "" if without else f"{number(low)} to {number(high)}")
