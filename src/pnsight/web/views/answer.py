"""The answer to one state, as the templates show it: plain values with everything already in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from markupsafe import Markup

from pnsight._text import count_text
from pnsight.data.schema import OPEN
from pnsight.decisions import NOT, TREAT, Decisions
from pnsight.decisions.rule import extrapolated
from pnsight.decisions.usual_care import usual_care_notes
from pnsight.errors import PnsightError
from pnsight.estimands.resolve import OK
from pnsight.notes import Note, sentences
from pnsight.output.about_answers import RESTS_ON
from pnsight.output.icon_array import icon_array
from pnsight.output.per_hundred import PerHundred
from pnsight.queries.bound_table import CONTRADICTED, BoundTable
from pnsight.web.bounds_chart import Bar, drawn
from pnsight.web.explorer import Explorer
from pnsight.web.state import State
from pnsight.web.views.beside import Beside, beside
from pnsight.web.views.describe_question import asked, confidence, population_words, told_beside
from pnsight.web.views.format import NOTHING, harm_words, number
from pnsight.web.views.small_counts import caveat, share_words
from pnsight.web.words import NO_ANSWER, Sign, sign_of
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
    basis: str


@dataclass(frozen=True)
class Known:
    """A covariate that is fixed, and the address without it."""

    name: str
    level: str
    without: str


@dataclass(frozen=True)
class Answer:
    """The answer to one state.

    `hundred` is what it means for a hundred people, None where the model does not say; `picture` draws them, `chance`
    says how far off that may be. `harm_and_net` are those harmed and the net effect, `harm` the former in short, and
    `meant` is what treating means here.
    `tip` says at which slack the decision changes; `go_on` is the address of the same question to the trial alone,
    where the tables contradict each other; `value` the interval of the quantity itself.
    """

    sign: Sign
    hundred: PerHundred | None
    picture: Markup
    chance: str
    meant: str
    harm_and_net: str
    harm: str
    extrapolated: bool
    reason: str
    said: str
    tip: str
    go_on: str
    known: Sequence[Known]
    share: str
    population: str
    lines: Sequence[Line]
    bar: Bar
    level: str
    value: str
    threshold: str
    quantity: str
    caveat: str
    notes: Sequence[str]
    asked: Sequence[str]
    address: str
    beside: Beside | None


def answer(explorer: Explorer, state: State) -> Answer:
    """The answer to a state, beside that for everyone."""
    found, everyone = explorer.decision(state), _everyone(explorer, state)
    quantity = state.options.estimand.quantity
    status = str(found.answers.status[0])
    sign = sign_of(found.answers.quantity, str(found.decision[0]), status)
    undecided = explorer.undecided(state.options.estimand) if status == OK else ""
    reason = undecided or _reason(found, quantity.label)
    known = _known(explorer, state)
    who = "These people" if known else "Everyone"
    model = explorer.answering(state.options.estimand)
    alone = model.study.observational is None
    lines = [_line(who, found.answers, alone, found.threshold), *_trial_line(found.answers)]
    if known and everyone is not None:
        lines.append(_line("Everyone", everyone, alone, found.threshold))
    hundred = _hundred(explorer, state)
    beside_it = hundred.harm_and_net if hundred is not None and hundred.helped is not None else ""
    return Answer(
        sign,
        hundred,
        Markup(icon_array(hundred)) if hundred is not None else Markup(),  # its text is escaped
        "" if hundred is None or hundred.chance is None else f"{capitalised(str(hundred.chance))}.",
        "" if hundred is None else _meant(hundred),
        beside_it,
        harm_words(hundred.harmed.upper) if hundred is not None and hundred.harmed is not None else "",
        bool(extrapolated(found.answers)[0]),
        reason,
        " ".join(filter(None, (f"{sign.words}.", reason, beside_it))),
        _tip(explorer, state, found) if sign.kind != "none" else "",
        _go_on(explorer, state) if status == CONTRADICTED else "",
        known,
        share_words(model, explorer.share(state)) if known else "",
        population_words(explorer, state.options),
        lines,
        drawn(found.answers, everyone if known else None, state.options, found.threshold),
        "" if found.answers.level is None else confidence(found.answers.level),
        _value(found.answers),
        f"{found.threshold:g}",
        quantity.label,
        caveat(model, found.answers),
        sentences(told_beside(explorer, (*found.answers.notes, *_usual_care(explorer, state, found))), "page"),
        asked(explorer, state.options),
        explorer.reader.write(state),
        beside(explorer, state) if status == OK else None,
    )


def _hundred(explorer: Explorer, state: State) -> PerHundred | None:
    """What the answer means for a hundred people, where the model can say it under what is asked."""
    try:
        return explorer.per_hundred(state)
    except PnsightError:
        return None


def _meant(hundred: PerHundred) -> str:
    """What treating and responding mean in this study."""
    response = f", and to respond means {hundred.outcome}" if hundred.outcome else ""
    return f"To treat means {hundred.arm} in place of {hundred.reference or 'going without'}{response}."


def _tip(explorer: Explorer, state: State, found: Decisions) -> str:
    """At which slack a decision changes; empty where there is none that could, or slack means nothing."""
    if found.decision[0] not in (TREAT, NOT) or state.options.estimand.slack is not None or not explorer.ability.law:
        return ""
    try:
        return f"{capitalised(str(explorer.tip(state, found.cautious)))}."
    except PnsightError:
        return ""


def _usual_care(explorer: Explorer, state: State, found: Decisions) -> tuple[Note, ...]:
    """That more respond under usual care, where that is so."""
    treated, untreated = found.decision == TREAT, found.decision == NOT
    return usual_care_notes(explorer.model, state.codes, treated, untreated, state.options.estimand)


def _everyone(explorer: Explorer, state: State) -> BoundTable | None:
    """The answer for everyone, if there is one: an exact model has none, and an assumption may fail for some."""
    try:
        return explorer.decision(state.everyone).answers
    except PnsightError:
        return None


def _reason(found: Decisions, quantity: str) -> str:
    """Why this is the decision, in a sentence of its own."""
    status = str(found.answers.status[0])
    if status not in (OK, CONTRADICTED):
        return NO_ANSWER[status]
    reason = found.reason()
    return capitalised(sentence(reason.kind, {**reason.values, "quantity": quantity}, "page"))


def _known(explorer: Explorer, state: State) -> list[Known]:
    places = [place for place, code in enumerate(state.query) if code != OPEN]
    covariates, labels = explorer.schema.covariates, explorer.model.study.labels
    return [
        Known(
            labels.column(covariates[place].name),
            labels.value(covariates[place].name, covariates[place].text(state.query[place])),
            explorer.reader.write(state.knowing(place, OPEN)),
        )
        for place in places
    ]


def _go_on(explorer: Explorer, state: State) -> str:
    """The address of the same question to the trial alone; empty for a model that cannot go by it."""
    if not explorer.ability.trial_alone:
        return ""
    alone = replace(state.options.estimand, trial_alone=True, population=None)
    return explorer.reader.write(replace(state, options=replace(state.options, estimand=alone)))


def _trial_line(found: BoundTable) -> list[Line]:
    """What the trial alone says, where there is no answer from both tables."""
    lower, upper = found.trial_lower, found.trial_upper
    if lower is None or upper is None or math.isnan(lower[0]):
        return []
    low, high = (End(number(float(end[0])), "") for end in (lower, upper))
    return [Line("Trial alone", low, high, count_text(float(found.support_experimental[0])), NOTHING, NOTHING)]


def _value(found: BoundTable) -> str:
    """The interval of the quantity itself, if there is one."""
    low, high = found.value_low, found.value_high
    if low is None or high is None or math.isnan(low[0]):
        return ""
    return f"{number(float(low[0]))} to {number(float(high[0]))}"


def _line(people: str, found: BoundTable, alone: bool, threshold: float) -> Line:
    return Line(
        people,
        _end(found, "lower", threshold),
        _end(found, "upper", threshold),
        count_text(float(found.support_experimental[0])),
        NOTHING if alone else count_text(float(found.support_observational[0])),
        "" if found.basis is None else RESTS_ON[str(found.basis[0])],
    )


def _end(found: BoundTable, end: Literal["lower", "upper"], threshold: float) -> End:
    low, high = (float(values[0]) for values in found.interval(end))
    without = math.isnan(low) or found.status[0] != OK
    shown = number(float(getattr(found, end)[0]), threshold)
    return End(shown, "" if without else f"{number(low, threshold)} to {number(high, threshold)}")
