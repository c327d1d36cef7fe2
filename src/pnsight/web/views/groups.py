"""A ranking, as the templates show it: numbers to sort by, and the same in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pnsight._text import count_text, percent
from pnsight.decisions import TREAT, Ranking
from pnsight.output.about_answers import RESTS_ON
from pnsight.queries.query import encode
from pnsight.web.bounds_chart import Scale, Strip
from pnsight.web.explorer import Explorer
from pnsight.web.state import Options, State
from pnsight.web.views.format import described, harm_words, number
from pnsight.web.views.small_counts import few
from pnsight.web.words import Sign, sign_of

_ENDS = ("lower", "upper")
_ROWS = ("support_experimental", "support_observational")


@dataclass(frozen=True)
class Group:
    """A subpopulation of a ranking, by the terms that describe it; numbers to sort by, and the same in words."""

    terms: tuple[str, ...]
    address: str
    sign: Sign
    harm: str
    few: bool
    basis: str
    strip: Strip | None
    numbers: dict[str, float]
    shown: dict[str, str]

    @property
    def people(self) -> str:
        """The terms in a line."""
        return ", ".join(self.terms)

    def mentions(self, text: str) -> bool:
        """Whether every word of the text is in the description, in any order and with spaces around ``=`` or not."""
        people = _closed_up(self.people)
        return all(word in people for word in _closed_up(text).replace(",", " ").split())


def harm_in_groups(explorer: Explorer, queries: Sequence[str], options: Options) -> list[str]:
    """How many are harmed at most in each group, in words; nothing where that is not known."""
    return [harm_words(share) for share in explorer.most_harmed(encode(explorer.schema, list(queries)), options)]


def groups(explorer: Explorer, found: Ranking, options: Options, harm: Sequence[str]) -> list[Group]:
    """The subpopulations of a ranking, in its order; `harm` as `harm_in_groups` has it."""
    codes = encode(explorer.schema, list(found.answers.queries))
    decision = explorer.decided(found.answers, options).decision
    scale, columns, name = Scale.of(options), found.columns(), options.estimand.quantity.name
    rare = few(explorer.answering(options.estimand), found.answers)
    return [
        _group(
            explorer,
            State(tuple(map(int, query)), options),
            found,
            columns,
            row,
            sign_of(name, str(decision[row]), str(found.answers.status[row])),
            harm[row] if harm and decision[row] == TREAT else "",
            bool(rare[row]),
            scale,
        )
        for row, query in enumerate(codes)
    ]


def _group(
    explorer: Explorer,
    state: State,
    found: Ranking,
    columns: dict[str, list[Any]],
    row: int,
    sign: Sign,
    harm: str,
    rare: bool,
    scale: Scale,
) -> Group:
    numbers = {name: _or_nan(columns[name][row]) for name in ("share", "lower", "upper", *_ROWS)}
    numbers["place"] = float(row + 1)
    shown = {
        "place": str(row + 1),
        "share": percent(numbers["share"]),
        **{end: number(numbers[end]) for end in _ENDS},
        **{f"{end}_interval": interval(columns, end, row) for end in _ENDS},
        **{name: count_text(numbers[name]) for name in _ROWS},
    }
    return Group(
        described(explorer.schema, explorer.model.study.labels, state),
        explorer.reader.write(state),
        sign,
        harm,
        rare,
        RESTS_ON[columns["basis"][row]],
        scale.strip(found.answers, row),
        numbers,
        shown,
    )


def interval(columns: Mapping[str, Sequence[Any]], end: str, row: int) -> str:
    """The interval of one end, empty without one."""
    low, high = (_or_nan(columns[f"{end}_{side}"][row]) for side in ("low", "high"))
    return "" if math.isnan(low) else f"{number(low)} to {number(high)}"


def _closed_up(text: str) -> str:
    return "=".join(part.strip() for part in text.casefold().split("="))


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else float(value)
