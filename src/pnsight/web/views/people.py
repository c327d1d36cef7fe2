"""Decisions about a table of people, as the page shows them; the file to download has the columns of the library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pnsight._text import count_text, number_of
from pnsight.decisions import Decisions
from pnsight.estimands.quantities import find_quantity
from pnsight.estimands.resolve import OK
from pnsight.models import Model
from pnsight.notes import Note, sentences
from pnsight.web.people import People
from pnsight.web.views.describe_question import confidence
from pnsight.web.views.format import NOTHING, number
from pnsight.web.views.groups import interval
from pnsight.web.views.small_counts import caveat_of_many
from pnsight.web.words import NO_ANSWER, Sign, decides, signs

SHOWN = 100
"""Rows that the page shows."""


@dataclass(frozen=True)
class Row:
    """A person: what the table says, the decision, and the answer that it rests on."""

    given: Sequence[str]
    sign: Sign
    why: str
    ends: Sequence[tuple[str, str]]
    rows: Sequence[str]


@dataclass(frozen=True)
class Result:
    """The first rows, and how many decisions there are of each kind."""

    summary: str
    tally: Sequence[tuple[Sign, str]]
    notes: Sequence[str]
    given: Sequence[str]
    answered: Sequence[str]
    rows: Sequence[Row]
    more: str


def shown(model: Model, found: People) -> Result:
    """What the page shows of the decisions."""
    known, answers = signs(found.found.answers.quantity), found.found.answers
    decisions = [str(word) for word in found.found.decision]
    more = len(decisions) - SHOWN
    kept = (Note("columns_kept", {"columns": found.unused}),) if found.unused else ()
    few = caveat_of_many(model, answers)
    alone = model.study.observational is None
    return Result(
        f"{number_of(len(decisions), 'decision')}: {_rule(found.found)}",
        [(sign, f"{decisions.count(word):,}") for word, sign in known.items() if word in decisions],
        [*sentences(answers.notes, "page"), *([few] if few else []), *sentences(kept, "page")],
        list(found.given),
        ["At least", "At most", "Rows in experiment", *([] if alone else ["Rows observed"])],
        [_row(found, row, known[word], alone) for row, word in enumerate(decisions[:SHOWN])],
        f"and {number_of(more, 'more row')}: download them all as CSV." if more > 0 else "",
    )


def _rule(found: Decisions) -> str:
    """What is decided, and when."""
    quantity, level = found.answers.quantity, found.answers.level
    sure = f", with {confidence(level)} confidence" if found.cautious and level is not None else ""
    then = "treat if" if decides(quantity) else "the threshold is reached if"
    return f"{then} {find_quantity(quantity).label} is at least {found.threshold:g}{sure}"


def _row(found: People, row: int, sign: Sign, alone: bool) -> Row:
    answers, columns = found.found.answers, found.columns
    support = [answers.support_experimental, *([] if alone else [answers.support_observational])]
    status = str(answers.status[row])
    ends = [(float(getattr(answers, end)[row]), end) for end in ("lower", "upper")]
    return Row(
        [values[row] for values in found.given.values()],
        sign,
        "" if status == OK else NO_ANSWER[status],
        [(number(value), interval(columns, end, row)) if status == OK else (NOTHING, "") for value, end in ends],
        [count_text(float(rows[row])) for rows in support],
    )
