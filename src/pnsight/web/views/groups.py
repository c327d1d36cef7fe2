"""A ranking, as the templates show it: numbers to sort by, and the same in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pnsight.decide import Ranking, decided
from pnsight.text import count_text, percent
from pnsight.web.bar import Scale, Strip
from pnsight.web.explorer import Explorer
from pnsight.web.state import Options, State
from pnsight.web.views.shown import described, number
from pnsight.web.words import Sign, signs


@dataclass(frozen=True)
class Group:
    """A subpopulation of a ranking; numbers to sort by, and the same in words."""

    people: str
    address: str
    sign: Sign
    strip: Strip | None
    numbers: dict[str, float]
    shown: dict[str, str]


def groups(explorer: Explorer, found: Ranking, options: Options) -> list[Group]:
    """The subpopulations of a ranking, in its order."""
    codes = explorer.schema.encode(list(found.answers.queries))
    decision = decided(found.answers, options.threshold, options.cautious).decision
    scale, columns, shown = Scale.of(options), found.columns(), signs(options.quantity)
    return [
        _group(explorer, State(tuple(map(int, query)), options), found, columns, row, shown[str(decision[row])], scale)
        for row, query in enumerate(codes)
    ]


def _group(
    explorer: Explorer,
    state: State,
    found: Ranking,
    columns: dict[str, list[Any]],
    row: int,
    sign: Sign,
    scale: Scale,
) -> Group:
    names = ("share", "lower", "upper", "lower_low", "upper_high", "support_experimental", "support_observational")
    numbers = {name: _or_nan(columns[name][row]) for name in names}
    numbers["place"] = float(row + 1)
    shown = {name: number(value) for name, value in numbers.items()}
    shown["share"] = percent(numbers["share"])
    shown |= {name: count_text(numbers[name]) for name in names[-2:]}
    shown["interval"] = "" if math.isnan(numbers["lower_low"]) else f"{shown['lower_low']} to {shown['upper_high']}"
    shown["place"] = str(row + 1)
    return Group(
        described(explorer.schema, state),
        explorer.reader.write(state),
        sign,
        scale.strip(found.answers, row),
        numbers,
        shown,
    )


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else float(value)
