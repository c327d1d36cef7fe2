"""Study size, as the template shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pnsight.decisions.planning import size
from pnsight.notes import sentences
from pnsight.output.size_words import CASES, of_words
from pnsight.queries.query import decode
from pnsight.web.explorer import Explorer
from pnsight.web.state import State
from pnsight.web.views.describe_question import confidence
from pnsight.web.views.format import NOTHING, described


@dataclass(frozen=True)
class SizeLine:
    """Rows for one number: in which case, of what, in an arm, in the experiment and in the observational table."""

    case: str
    of: str
    per_arm: str
    experimental: str
    observational: str


@dataclass(frozen=True)
class SizeView:
    """Whom it is about, the rows, and what is to be said."""

    people: Sequence[str]
    level: str
    lines: Sequence[SizeLine]
    notes: Sequence[str]


def size_view(explorer: Explorer, state: State, margin: float) -> SizeView:
    """Rows for intervals of this half-width, whatever the truth is and as the model expects."""
    model, estimand = explorer.model, state.options.estimand
    query = str(decode(explorer.schema, state.codes[0]))
    found = size(margin, estimand.level, estimand.quantity.name, pilot=model, query=query)
    columns = found.columns()
    rows = zip(*(columns[name] for name in ("case", "of", "per_arm", "experimental", "observational")), strict=True)
    return SizeView(
        described(explorer.schema, model.study.labels, state),
        confidence(found.level),
        [SizeLine(CASES[case], of_words(of, estimand.quantity), *map(_rows, numbers)) for case, of, *numbers in rows],
        sentences(found.notes, "page"),
    )


def _rows(number: float | None) -> str:
    return NOTHING if number is None else f"{number:,.0f}"
