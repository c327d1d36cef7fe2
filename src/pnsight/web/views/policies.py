"""Policies compared for the people of a state, as the template shows them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pnsight._text import share_text
from pnsight.decisions.policies import POLICIES, Policies, policies
from pnsight.decisions.thresholds import threshold_curve
from pnsight.decisions.usual_care import decide_or_leave
from pnsight.errors import PnsightError
from pnsight.notes import sentences
from pnsight.output.policy_words import NAMES, verdict
from pnsight.queries.query import decode
from pnsight.web.explorer import Explorer
from pnsight.web.state import State
from pnsight.web.views.describe_question import confidence, population_words, told_beside
from pnsight.web.views.format import FULL, NOTHING, number
from pnsight.wording import capitalised

_ROOM = 0.05
"""By how much the drawn scale goes beyond the values."""


@dataclass(frozen=True)
class PolicyLine:
    """One policy: its name, its numbers in words, and where they are on the drawing, in per cent of its width."""

    name: str
    value: str
    interval: str
    gain: str
    gain_interval: str
    treated: str
    to_treat: str
    to_not: str
    place: float | None
    reach: tuple[float, float] | None


@dataclass(frozen=True)
class PolicyView:
    """All policies, where usual care is on the drawing, and what is to be said.

    `choice` says whether to treat all of these people, none, or to leave it to them.
    """

    lines: Sequence[PolicyLine]
    usual: float | None
    scale: tuple[str, str]
    about_intervals: str
    verdict: str
    choice: str
    population: str
    notes: Sequence[str]


@dataclass(frozen=True)
class ThresholdRow:
    """Shares of the people at one threshold, and of those treated those harmed at most, in words."""

    threshold: str
    treat: str
    not_: str
    uncertain: str
    unanswered: str
    harmed: str
    places: tuple[float, float, float]


@dataclass(frozen=True)
class PolicyPage:
    """What the page shows: policies or why there are none, and decisions at other thresholds if there are any."""

    found: PolicyView | None = None
    problem: str = ""
    rows: Sequence[ThresholdRow] = ()

    @property
    def unanswered(self) -> bool:
        """Whether nothing is decided about some people."""
        return any(sum(row.places) < FULL for row in self.rows)


def policy_page(explorer: Explorer, state: State) -> PolicyPage:
    """All that is shown about the people of a state."""
    try:
        rows = at_thresholds(explorer, state)
    except PnsightError:
        rows = []  # what is wrong is said in place of the policies
    try:
        return PolicyPage(compare(explorer, state), rows=rows)
    except PnsightError as error:
        return PolicyPage(problem=str(error), rows=rows)


def at_thresholds(explorer: Explorer, state: State) -> list[ThresholdRow]:
    """Whom the rule would treat at other thresholds; where decisions are cautious, with caution."""
    query = str(decode(explorer.schema, state.codes[0]))
    found = threshold_curve(explorer.model, query, quantity=state.options.estimand)
    careful = state.options.cautious and bool(found.cautious)
    shares, harmed = (found.cautious, found.harmed_cautious) if careful else (found.plain, found.harmed)
    return [
        ThresholdRow(
            f"{at:.3g}",
            share_text(float(shares["treat"][k])),
            share_text(float(shares["not"][k])),
            share_text(float(shares["uncertain"][k])),
            share_text(float(shares["unanswered"][k])),
            NOTHING if math.isnan(harmed[k]) else share_text(float(harmed[k])),
            (
                round(100 * float(shares["treat"][k]), 2),
                round(100 * float(shares["uncertain"][k]), 2),
                round(100 * float(shares["not"][k]), 2),
            ),
        )
        for k, at in list(enumerate(found.thresholds))[::2]
    ]


def compare(explorer: Explorer, state: State) -> PolicyView:
    """The policies for the people of a state."""
    estimand = state.options.estimand
    found = policies(explorer.model, state.codes, estimand.level, estimand.population)
    low, high = _scale(found)

    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    lines = [_line(found, policy, place) for policy in POLICIES]
    said = [note for note in found.notes if note.kind != "usual_care_beats_rule"]
    return PolicyView(
        lines,
        lines[0].place,
        (f"{low:.2f}", f"{high:.2f}"),
        _about_intervals(found.level, lines),
        verdict(found),
        _choice(explorer, state),
        population_words(explorer, state.options),
        sentences(told_beside(explorer, tuple(said)), "page"),
    )


def _choice(explorer: Explorer, state: State) -> str:
    """Treat, do not, or leave it to them, with caution where decisions are cautious."""
    estimand, careful = state.options.estimand, state.options.cautious and explorer.ability.intervals
    how: dict[str, Any] = {"level": estimand.level, "population": estimand.population}
    return capitalised(str(decide_or_leave(explorer.model, state.codes, cautious=careful, **how).reason()))


def _about_intervals(level: float | None, lines: Sequence[PolicyLine]) -> str:
    """Which values have an interval."""
    having = [bool(line.interval) for line in lines]
    if level is None or not any(having):
        return ""
    return f"{'Each with its' if all(having) else 'Where it is known, with its'} {confidence(level)} interval. "


def _scale(found: Policies) -> tuple[float, float]:
    """From where to where values and their intervals reach, with some room."""
    known = [
        number
        for policy in POLICIES
        for name in ("value", "low", "high")
        if (number := found.of(policy)[name]) is not None
    ]
    if not known:
        return 0.0, 1.0
    return max(0.0, min(known) - _ROOM), min(1.0, max(known) + _ROOM)


def _line(found: Policies, policy: str, place: Callable[[float], float]) -> PolicyLine:
    numbers = found.of(policy)
    value, low, high, gain = (numbers[name] for name in ("value", "low", "high", "gain"))
    return PolicyLine(
        NAMES[policy],
        _number(value),
        _interval(low, high),
        NOTHING if gain is None else f"{gain:+.3f}",
        _interval(numbers["gain_low"], numbers["gain_high"], "+.3f"),
        _share(numbers["treated"]),
        _share(numbers["overruled_to_treat"]),
        _share(numbers["overruled_to_not"]),
        None if value is None else place(value),
        None if low is None or high is None else (place(low), place(high)),
    )


def _number(value: float | None) -> str:
    return NOTHING if value is None else number(value)


def _share(value: float | None) -> str:
    return NOTHING if value is None else share_text(value)


def _interval(low: float | None, high: float | None, form: str = ".3f") -> str:
    return "" if low is None or high is None else f"{low:{form}} to {high:{form}}"
