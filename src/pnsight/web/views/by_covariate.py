"""Decisions by covariate, as the template shows them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pnsight._text import share_text
from pnsight.notes import sentences
from pnsight.web.explorer import Explorer
from pnsight.web.state import State
from pnsight.web.views.describe_question import told_beside
from pnsight.web.views.format import FULL, NOTHING


@dataclass(frozen=True)
class LevelLine:
    """One level: its shares in words, and the strip of treat, uncertain and not, in per cent of its width."""

    name: str
    people: str
    treat: str
    uncertain: str
    not_: str
    unanswered: str
    not_helped: str
    harmed: str
    missed: str
    strip: tuple[float, float, float]


@dataclass(frozen=True)
class ByCovariate:
    """All levels, everyone last, and what is to be said."""

    covariate: str
    lines: Sequence[LevelLine]
    threshold: str
    cautious: bool
    notes: Sequence[str]

    @property
    def unanswered(self) -> bool:
        """Whether nothing is decided about some people."""
        return any(sum(line.strip) < FULL for line in self.lines)


def by_covariate(explorer: Explorer, state: State, covariate: str) -> ByCovariate:
    """Who of the people of a state is treated how often, by the levels of a covariate."""
    found, labels = explorer.decisions_by(state, covariate), explorer.model.study.labels
    columns = found.columns()
    names = [labels.value(covariate, level) if level else "Everyone" for level in columns["level"]]
    lines = [_line(name, {key: columns[key][row] for key in found.shares}) for row, name in enumerate(names)]
    notes = sentences(told_beside(explorer, found.notes), "page")
    return ByCovariate(labels.column(covariate), lines, f"{found.threshold:g}", found.cautious, notes)


def _line(name: str, shares: dict[str, float | None]) -> LevelLine:
    treat, uncertain, not_ = (100 * (shares[each] or 0.0) for each in ("treat", "uncertain", "not"))
    words = {key: NOTHING if value is None or math.isnan(value) else share_text(value) for key, value in shares.items()}
    return LevelLine(
        name,
        words["people"],
        words["treat"],
        words["uncertain"],
        words["not"],
        words["unanswered"],
        words["not_helped"],
        words["harmed"],
        words["missed"],
        (round(treat, 2), round(uncertain, 2), round(not_, 2)),
    )
