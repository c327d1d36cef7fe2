"""What an answer means for a hundred people: how many respond with and without, are helped and harmed.

The words and numbers with which the explorer and the report begin. Counts go by the bounds on PNS and on harm, which
are told in whole people; parts of the hundred add up to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from pnsight.data.schema import Codes
from pnsight.data.study import Study
from pnsight.estimands.estimand import Estimand, EstimandLike, usual_estimand
from pnsight.estimands.quantities import EFFECT, HARM, PNS, Quantity
from pnsight.estimands.resolve import ROUNDING
from pnsight.estimands.usual_question import usual_question
from pnsight.models import Model
from pnsight.notes import WARNING, Note
from pnsight.output.naming import arm_names, outcome_names, value_name
from pnsight.queries.bound_table import EXTRAPOLATED, OK, BoundTable
from pnsight.queries.query import QueryLike, decode, encode
from pnsight.wording import EXTRAPOLATED as NOBODY_SEEN
from pnsight.wording import PARTS, capitalised, sentence

_AFFIRMED, _DENIED = frozenset(("1", "yes", "true")), frozenset(("0", "no", "false"))
"""Values that say only whether what their column names is so."""

WITH_ARM = replace(PNS, name="with-arm", event="Y1 == top", by_order=False, direction="measure")
WITH_REFERENCE = replace(WITH_ARM, name="with-reference", event="Y0 == top")
"""How many have the best outcome under either arm of a contrast."""

_BEST_HARM = replace(HARM, event="Y1 < top and Y0 == top", by_order=False)
"""Harm where outcomes have no order: the last outcome is had only without."""


@dataclass(frozen=True)
class Range:
    """Bounds on a share of people, and the confidence interval of the share itself if there is one.

    Attributes
    ----------
    lower, upper : the bounds
    low, high : the interval; None for a model without
    """

    lower: float
    upper: float
    low: float | None = None
    high: float | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """The bounds."""
        return self.lower, self.upper

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval, if there is one."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True)
class PerHundred:
    """What is known of a hundred people like those of a query.

    Attributes
    ----------
    note : all of it in one sentence, or why nothing can be said
    chance : the same allowing for chance; None without intervals
    arm, reference : what the treatment and its alternative are called; no name for going without
    outcome : what the best of two outcomes is called; empty where there are more
    with_arm, with_reference : shares who have that outcome under either; None where there are more than two
    helped, harmed : shares of those who have the better outcome only with the one, and only with the other; None
        where there is no answer, or harm is not known
    net : by how much larger the share who have that outcome is with the one than with the other, or the share helped
        than that harmed; None where that is not known
    parts : how many of a hundred are in each part, by the names of `pnsight.wording.PARTS`; they add up to a hundred.
        Empty where there is no answer, or harm is not known
    extrapolated : whether nobody like these people was seen
    """

    note: Note
    chance: Note | None
    arm: str
    reference: str
    outcome: str
    with_arm: Range | None = None
    with_reference: Range | None = None
    helped: Range | None = None
    harmed: Range | None = None
    net: Range | None = None
    parts: Mapping[str, int] = field(default_factory=dict)
    extrapolated: bool = False

    @property
    def sentence(self) -> str:
        """The sentence that names the people, to stand alone."""
        return f"{capitalised(str(self.note))}."

    @property
    def page_sentence(self) -> str:
        """The sentence beside which the people are named."""
        return f"{capitalised(sentence(self.note.kind, self.note.values, 'page'))}."

    @property
    def harm_and_net(self) -> str:
        """What to know beside a decision to treat: how many are harmed, and what is left of those helped."""
        names = {"arm": self.arm, "reference": self.reference, "outcome": self.outcome}
        ends = {"harmed": self.harmed and self.harmed.ends, "net": self.net and self.net.ends}
        return f"{capitalised(str(Note('harm_and_net', {**names, **ends})))}."

    @property
    def picture_words(self) -> str:
        """What the picture shows, for whoever does not see it."""
        counted = ", ".join(f"{count} {PARTS[part]}" for part, count in self.parts.items() if count)
        return f"Of 100 people: {counted}" + (f"; {NOBODY_SEEN}" if self.extrapolated else "")


def per_hundred(model: Model, queries: QueryLike = None, estimand: EstimandLike = None) -> list[PerHundred]:
    """What answers mean for a hundred people each.

    Parameters
    ----------
    model
        A fitted model.
    queries
        About whom, as `model.bounds` takes them; by default everyone.
    estimand
        What is asked: arms, horizon, assumptions, whose people. Its quantity does not matter. Where no contrast is
        given, the last arm against the reference, and the last horizon.

    Returns
    -------
    One for each query; none where the model answers another quantity than PNS only.
    """
    codes = encode(model.schema, queries)
    asked = usual_question(model.structure, Estimand.parse(estimand, default=PNS.name))
    if not model.capabilities.law and model.quantity != PNS.name:
        return []
    quantities = _quantities(model, asked)
    found = {name: model.bounds(codes, asked.of_quantity(quantity)) for name, quantity in quantities.items()}
    return [_told(model.study, asked, code, found, row) for row, code in enumerate(codes)]


def _quantities(model: Model, asked: Estimand) -> dict[str, Quantity]:
    """What is asked of a model, by the name that it has in `PerHundred`.

    A trial in which people do as assigned tells how many have which of two outcomes under each arm.
    """
    described = model.structure.description
    helped = usual_estimand(model.structure).quantity
    if not model.capabilities.law:
        return {"helped": helped}
    both = {"helped": helped, "harmed": HARM if helped == PNS else _BEST_HARM}
    if helped == PNS and (asked.is_relaxed or not model.structure.is_two_by_two):
        both["net"] = EFFECT
    if len(described.outcomes) > 2 and not described.horizons:
        return both
    return {**both, "with_arm": WITH_ARM, "with_reference": WITH_REFERENCE}


def _told(study: Study, asked: Estimand, code: Codes, found: Mapping[str, BoundTable], row: int) -> PerHundred:
    labels, fixed = study.labels, decode(study.schema, code).fixed
    whom = {"people": [labels.term(name, value) for name, value in fixed.items()], "among": _among(study, asked)}
    arm, reference, outcome = names = _names(study, asked)
    status, basis = str(found["helped"].status[row]), found["helped"].basis
    if status != OK:
        return PerHundred(Note("per_hundred_unanswered", {**whom, "status": status}, WARNING), None, *names)
    shares = {name: _range(table, row) for name, table in found.items()}
    ends = {name: share.ends if (share := shares.get(name)) else None for name in _SHARES}
    extrapolated = basis is not None and basis[row] == EXTRAPOLATED
    called = {"arm": arm, "reference": reference, "outcome": outcome, "better": _better(study, asked)}
    helped, harmed = shares["helped"], shares.get("harmed")
    return PerHundred(
        Note("per_hundred", {**whom, **called, **ends, "extrapolated": extrapolated}),
        _chance(found["helped"].level, helped, harmed),
        *names,
        shares.get("with_arm"),
        shares.get("with_reference"),
        helped,
        harmed,
        _net(shares),
        parts=_parts(helped, harmed) if helped and harmed else {},
        extrapolated=extrapolated,
    )


_SHARES = ("with_arm", "with_reference", "helped", "harmed")


def _range(table: BoundTable, row: int) -> Range | None:
    """Bounds and interval of an answer; None without one."""
    if table.status[row] != OK:
        return None
    ends = float(table.lower[row]), float(table.upper[row])
    low, high = table.value_low, table.value_high
    if low is None or high is None or np.isnan(low[row]):
        return Range(*ends)
    return Range(*ends, float(low[row]), float(high[row]))


def _net(shares: Mapping[str, Range | None]) -> Range | None:
    """The difference of the two arms, in the whole people that are told of each, or what is known of it."""
    with_arm, with_reference = shares.get("with_arm"), shares.get("with_reference")
    if shares.get("net") or not with_arm or not with_reference:
        return shares.get("net")
    difference = (_people(with_arm.lower) - _people(with_reference.lower)) / 100
    return Range(difference, difference)


def _chance(level: float | None, helped: Range | None, harmed: Range | None) -> Note | None:
    if level is None or helped is None or helped.interval is None:
        return None
    values = {"level": level, "helped": helped.interval, "harmed": harmed.interval if harmed else None}
    return Note("per_hundred_chance", values)


def _parts(helped: Range, harmed: Range) -> dict[str, int]:
    """How many of a hundred people are in each part.

    Where outcomes have grades, more may be helped at most and harmed at most than there are people: those may be
    either.
    """
    surely_helped, most_helped = (_people(share) for share in helped.ends)
    surely_harmed, most_harmed = (_people(share) for share in harmed.ends)
    if helped.upper + harmed.upper <= 1 + ROUNDING:
        most_harmed = min(most_harmed, 100 - most_helped)  # both halves of a person were rounded up
        surely_harmed = min(surely_harmed, most_harmed)
    either = max(0, most_helped + most_harmed - 100)
    return {
        "helped": surely_helped,
        "maybe_helped": most_helped - surely_helped - either,
        "maybe_either": either,
        "unaffected": max(0, 100 - most_helped - most_harmed),
        "maybe_harmed": most_harmed - surely_harmed - either,
        "harmed": surely_harmed,
    }


def _people(share: float) -> int:
    return int(100 * share + 0.5)


def _names(study: Study, asked: Estimand) -> tuple[str, str, str]:
    """What the arms and the best of two outcomes are called; nothing for going without, and for one of many grades."""
    described = study.structure.description
    treated, reference = arm_names(study, asked)
    column = study.labels.column(study.treatment)
    if treated in {value_name(column, plain) for plain in _AFFIRMED}:
        treated = column
    if reference in {value_name(column, plain) for plain in _DENIED}:
        reference = ""
    if len(described.outcomes) > 2 and not described.horizons:
        return treated, reference, ""
    name = study.labels.column(study.outcome)
    best = outcome_names(study, asked).more
    outcome = name if best in {value_name(name, plain) for plain in _AFFIRMED} else best
    return treated, reference, outcome


def _better(study: Study, asked: Estimand) -> str:
    """That the one arm has the better outcome, where outcomes have grades; empty with two."""
    described = study.structure.description
    if len(described.outcomes) == 2 or described.horizons:
        return ""
    return outcome_names(study, asked).better.format(*arm_names(study, asked))


def _among(study: Study, asked: Estimand) -> str:
    """Which of these people are meant, if not all."""
    if asked.among == "everyone":
        return ""
    arm, other = arm_names(study, asked)
    return f"who take {arm} if assigned to it and {other} if assigned to that"
