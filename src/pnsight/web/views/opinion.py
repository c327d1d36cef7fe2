"""The model's refined bounds beside a second opinion, as the template shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnsight.decisions.second_opinion import TIGHTER, SecondOpinion, second_opinion
from pnsight.notes import sentences
from pnsight.output.opinion_words import EVERYONE, WORDS, group_names, other_notes, verdict
from pnsight.web.explorer import Explorer
from pnsight.web.state import State
from pnsight.web.views.describe_question import confidence, population_words, told_beside
from pnsight.web.views.format import NOTHING, number
from pnsight.wording import capitalised

_ROOM = 0.02
"""By how much the drawn scale goes beyond the numbers."""


@dataclass(frozen=True)
class Side:
    """Bounds by one of the two, in words, and where they are on the drawing, in per cent of its width."""

    lower: str
    upper: str
    interval: str
    bar: tuple[float, float] | None
    reach: tuple[float, float] | None


@dataclass(frozen=True)
class OpinionLine:
    """A group by both; `doubtful` where the model claims more than the rows."""

    name: str
    model: Side
    opinion: Side
    words: str
    doubtful: bool


@dataclass(frozen=True)
class OpinionView:
    """All groups, the drawn scale, and what is to be said."""

    lines: Sequence[OpinionLine]
    scale: tuple[str, str]
    quantity: str
    level: str
    verdict: str
    doubtful: bool
    population: str
    notes: Sequence[str]


def opinion_view(explorer: Explorer, state: State) -> OpinionView:
    """Both opinions on everyone and large groups; where people are chosen, on everyone and on them."""
    estimand, chosen = state.options.estimand, state != state.everyone
    queries = np.concatenate([state.everyone.codes, state.codes]) if chosen else None
    found = second_opinion(explorer.model, queries, estimand)
    names, low, high = group_names(explorer.model.study, found), *_scale(found)
    columns = found.columns()
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return OpinionView(
        [_line(name, row, low, high) for name, row in zip(names, rows, strict=True)],
        (f"{low:.2f}", f"{high:.2f}"),
        estimand.quantity.label,
        confidence(found.level),
        verdict(found, names),
        TIGHTER in found.agreement,
        population_words(explorer, state.options),
        sentences(told_beside(explorer, other_notes(found)), "page"),
    )


def _scale(found: SecondOpinion) -> tuple[float, float]:
    """From where to where bounds and their intervals reach, with some room."""
    known = np.concatenate([getattr(found, name) for name in SecondOpinion.NUMBERS])
    if np.isnan(known).all():
        return 0.0, 1.0
    return float(np.nanmin(known)) - _ROOM, float(np.nanmax(known)) + _ROOM


def _line(name: str, row: Mapping[str, Any], low: float, high: float) -> OpinionLine:
    def side(prefix: str) -> Side:
        lower, upper, first, last = (row[f"{prefix}{end}"] for end in ("lower", "upper", "low", "high"))
        interval = "" if first is None or last is None else f"{number(first)} to {number(last)}"
        return Side(_shown(lower), _shown(upper), interval, _places(lower, upper), _places(first, last))

    def _places(first: float | None, last: float | None) -> tuple[float, float] | None:
        if first is None or last is None:
            return None
        begin, end = (round(100 * (value - low) / (high - low), 2) for value in (first, last))
        return begin, end

    word = row["agreement"]
    called = capitalised(name) if name == EVERYONE else name
    return OpinionLine(called, side("model_"), side(""), WORDS[word], word == TIGHTER)


def _shown(value: float | None) -> str:
    return NOTHING if value is None else number(value)
