"""Decisions about a table of people, as the page shows them; the file to download has the columns of the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pnsight._text import count_text, csv_text, number_of
from pnsight.decisions import TREAT, Decisions
from pnsight.estimands.quantities import find_quantity
from pnsight.estimands.resolve import OK
from pnsight.models import Model
from pnsight.notes import WARNING, Note, sentences
from pnsight.output.about_answers import RESTS_ON
from pnsight.queries.bound_table import EXTRAPOLATED, INVALID, BoundTable
from pnsight.web.explorer import Explorer
from pnsight.web.people import People, decide_about
from pnsight.web.state import Options
from pnsight.web.views.describe_question import confidence, population_words, told_beside
from pnsight.web.views.format import NOTHING, harm_words, number
from pnsight.web.views.groups import interval
from pnsight.web.views.small_counts import caveat_of_many, few
from pnsight.web.words import NO_ANSWER, NO_DECISION, UNREADABLE, Sign, decides, sign_of, signs
from pnsight.wording import capitalised

SHOWN = 100
"""Rows that the page shows."""


@dataclass(frozen=True)
class Row:
    """A person: what the table says, the decision, and the answer that it rests on."""

    given: Sequence[str]
    sign: Sign
    harm: str
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


def show_decisions(explorer: Explorer, content: bytes, options: Options) -> Result:
    """Decide about a table, and show the first rows."""
    return result(explorer, decide_about(explorer, content, options), options)


def write_decisions(explorer: Explorer, content: bytes, options: Options) -> bytes:
    """Decide about a table, and write all rows as CSV."""
    return csv_text(decide_about(explorer, content, options).columns).encode()


def result(explorer: Explorer, found: People, options: Options) -> Result:
    """What the page shows of the decisions."""
    answers, model = found.found.answers, explorer.answering(options.estimand)
    rows = zip(found.found.decision, answers.status, strict=True)
    shown = [
        UNREADABLE if status == INVALID else sign_of(answers.quantity, str(word), str(status)) for word, status in rows
    ]
    every = (*signs(answers.quantity).values(), NO_DECISION, UNREADABLE)
    harm = _harm(explorer, found, options)
    more = len(shown) - SHOWN
    heads = _heads(model, answers)
    rare = few(model, answers)
    return Result(
        f"{number_of(len(shown), 'decision')}: {_rule(found.found)}",
        [(sign, f"{shown.count(sign):,}") for sign in every if sign in shown],
        _notes(explorer, model, found, options),
        list(found.given),
        ["At least", "At most", *heads.values()],
        [_row(found, row, sign, heads, bool(rare[row]), harm.get(row, "")) for row, sign in enumerate(shown[:SHOWN])],
        f"and {number_of(more, 'more row')}: download them all as CSV." if more > 0 else "",
    )


def _harm(explorer: Explorer, found: People, options: Options) -> dict[int, str]:
    """By row that is shown and treated, how many are harmed at most."""
    treated = [row for row, word in enumerate(found.found.decision[:SHOWN]) if word == TREAT]
    harmed = explorer.most_harmed(found.codes[treated], options)
    return {row: harm_words(share) for row, share in zip(treated, harmed, strict=False)}


def _heads(model: Model, answers: BoundTable) -> dict[str, str]:
    """Columns that are shown after the bounds, with their titles: those that there is something in."""
    observed = {} if model.study.observational is None else {"support_observational": "Rows observed"}
    based = {"basis": "Rests on"} if answers.basis is not None and (answers.basis != "").any() else {}
    return {"support_experimental": "Rows in experiment", **observed, **based}


def _notes(explorer: Explorer, model: Model, found: People, options: Options) -> list[str]:
    """What to know before one reads the decisions."""
    kept = [Note("columns_kept", {"columns": found.unused})] if found.unused else []
    if found.encoding:
        kept.append(Note("encoding_guessed", {"encoding": found.encoding}))
    if found.problems:
        row, problem = next(iter(found.problems.items()))
        bad = {"people": len(found.problems), "of": len(found.codes), "row": row + 1, "problem": problem}
        kept.insert(0, Note("people_invalid", bad, WARNING))
    undecided = explorer.undecided(options.estimand)
    before = (undecided, population_words(explorer, options), caveat_of_many(model, found.found.answers))
    notes = [*told_beside(explorer, found.found.answers.notes), *kept]
    return [*filter(None, before), *sentences(notes, "page")]


def _rule(found: Decisions) -> str:
    """What is decided, and when."""
    quantity, level = found.answers.quantity, found.answers.level
    sure = f", with {confidence(level)} confidence" if found.cautious and level is not None else ""
    then = "treat if" if decides(quantity) else "the threshold is reached if"
    return f"{then} {find_quantity(quantity).label} is at least {found.threshold:g}{sure}"


def _row(found: People, row: int, sign: Sign, heads: Mapping[str, str], rare: bool, harm: str) -> Row:
    answers, columns = found.found.answers, found.columns
    status, basis = str(answers.status[row]), str(columns["basis"][row])
    ends = [(float(getattr(answers, end)[row]), end) for end in ("lower", "upper")]
    return Row(
        [values[row] for values in found.given.values()],
        sign,
        harm,
        found.problems.get(row) or _why(status, basis, _by_trial(answers, row), rare),
        [(number(value), interval(columns, end, row)) if status == OK else (NOTHING, "") for value, end in ends],
        [NOTHING] * len(heads)
        if status == INVALID
        else [RESTS_ON[basis] if name == "basis" else count_text(float(columns[name][row])) for name in heads],
    )


def _why(status: str, basis: str, by_trial: str, rare: bool) -> str:
    """Why there is no decision, or what to be careful about in one."""
    if status != OK:
        return f"{NO_ANSWER[status]}{by_trial}"
    return f"{capitalised(RESTS_ON[basis])}." if basis == EXTRAPOLATED else "Few rows." if rare else ""


def _by_trial(answers: BoundTable, row: int) -> str:
    """What the trial alone says, where there is no answer from both tables."""
    lower, upper = answers.trial_lower, answers.trial_upper
    if lower is None or upper is None or np.isnan(lower[row]):
        return ""
    return f" By the trial alone {number(float(lower[row]))} to {number(float(upper[row]))}."
