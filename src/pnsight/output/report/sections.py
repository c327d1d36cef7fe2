"""The parts of a report that a model answers, each as plain data; one that it cannot answer says why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.schema import OPEN, Codes, Schema
from pnsight.decisions import NOT, TREAT, UNCERTAIN, Ranking, ask, decided, rank, select
from pnsight.decisions.ranking import MOST_CANDIDATES, NOBODY_KNOWN_HARMED
from pnsight.errors import PnsightError
from pnsight.estimands.estimand import BENEFIT
from pnsight.estimands.payoffs import Payoffs, PayoffsLike
from pnsight.estimands.resolve import ROUNDING
from pnsight.models import Model, PlugIn, ResponseTypeModel
from pnsight.models.base import LawModel
from pnsight.models.response_types.config import MAX_ENUMERATED_PROFILES as MOST_LISTED
from pnsight.output.report import words
from pnsight.output.report.data import SHOWN, Answer, Benefit, Doubt, Doubts, Gains, Groups, Headline, Net, Question
from pnsight.queries import lattice
from pnsight.queries.bound_table import BoundTable, plain_numbers
from pnsight.queries.query import decode, encode

MOST_LEVELS = 40
"""Levels that are shown one by one; of more, those that most people have."""

MOST_DOUBTS, MOST_QUESTIONS = 5, 3
"""Groups in doubt that are listed, and questions for each."""

MOST_WIDE_CANDIDATES = 2_000
"""Groups that are looked at for a ranking where profiles are too many to list, and an answer takes its time."""

CURVE_POINTS = 101
"""Points of the curve of gains."""

HEADLINES = ("pns", "pn", "ps", "harm")
"""Quantities that are told for everyone."""

HELPED_LESS_HARMED = Payoffs(complier=1, always=0, never=0, defier=-1)
"""The benefit by which is the net effect: those helped less those harmed."""


@dataclass(frozen=True)
class Asked:
    """What a report is about: the model, what it ranks and decides on, and how."""

    model: Model
    quantity: str
    threshold: float
    level: float
    top: int

    @property
    def has_intervals(self) -> bool:
        """Whether answers come with intervals."""
        return isinstance(self.model, ResponseTypeModel) and self.model.intervals

    def rank(self, by: Literal["lower", "benefit"] = "lower", **options: Any) -> Ranking:
        """The best groups by a lower bound.

        A model that learned from all rows is not asked how many are left where counts are withheld.
        """
        learned = self.model.study.withheld is not None and not isinstance(self.model, PlugIn)
        options |= {"least_support": 0} if learned else {}
        listed = self.model.schema.n_profiles <= MOST_LISTED
        most = MOST_CANDIDATES if listed else MOST_WIDE_CANDIDATES
        return rank(self.model, self.top, by, most_candidates=most, level=self.level, **options)

    def notes(self, found: tuple[str, ...]) -> tuple[str, ...]:
        """Notes of an answer, without those that the report has at its head."""
        return tuple(note for note in found if note not in self.model.caveats)


def everyone(asked: Asked) -> tuple[Headline, ...]:
    """The quantities that the model knows, for everyone; its own one first."""
    others = HEADLINES if isinstance(asked.model, LawModel) else ()
    return tuple(_headline(asked, quantity) for quantity in dict.fromkeys((asked.quantity, *others)))


def _headline(asked: Asked, quantity: str) -> Headline:
    name, meaning = words.NAMES[quantity], words.MEANINGS[quantity]
    try:
        table = asked.model.bounds("", quantity, asked.level)
    except PnsightError as error:
        return Headline(quantity, name, meaning, None, "", str(error))
    answer = _answers(asked, table, np.ones(1), asked.threshold if quantity == asked.quantity else None)[0]
    if answer.lower is None or answer.upper is None:
        return Headline(quantity, name, meaning, answer, "", f"no answer: it is {answer.status}")
    return Headline(quantity, name, meaning, answer, words.sentence(quantity, answer.lower, answer.upper), "")


def net(asked: Asked) -> Net:
    """How many respond if all are treated and if none is."""
    if not isinstance(asked.model, LawModel):
        return Net()
    law = asked.model.law("")
    treated, untreated = float(law.a[0]), float(law.b[0])
    if np.isnan(treated + untreated):
        return Net()
    table = asked.model.bounds("", payoffs=HELPED_LESS_HARMED, level=asked.level)  # both ends are the net effect
    low, high = (plain_numbers(end)[0] for end in table.interval("lower"))
    return Net(treated, untreated, low, high, words.net_sentence(treated, untreated))


def levels(asked: Asked) -> Groups:
    """Everyone, then each level of each covariate by itself, with its decision."""
    schema = asked.model.schema
    codes = _one_level(schema)
    try:
        share = asked.model.shares(codes)
        kept = np.sort(np.argsort(-share, kind="stable")[: MOST_LEVELS + 1])
        table = asked.model.bounds(codes[kept], asked.quantity, asked.level)
    except PnsightError as error:
        return Groups(asked.quantity, refused=str(error))
    left_out = len(codes) - len(kept)
    notes = (f"{left_out:,} rarer levels are not shown",) if left_out else ()
    return Groups(asked.quantity, _answers(asked, table, share[kept], asked.threshold), notes)


def _one_level(schema: Schema) -> Codes:
    """Everyone, then each level of each covariate, shape (1 + levels, covariates)."""
    places = [(j, level) for j, levels in enumerate(schema.shape) for level in range(levels)]
    codes = np.full((1 + len(places), len(schema.names)), OPEN, dtype=np.int32)
    for row, (j, level) in enumerate(places, start=1):
        codes[row, j] = level
    return codes


def benefiting(asked: Asked) -> Groups:
    """Groups with the highest lower bounds."""
    try:
        found = asked.rank(quantity=asked.quantity)
    except PnsightError as error:
        return Groups(asked.quantity, refused=str(error))
    return _ranked(asked, found, asked.threshold)


def turned(asked: Asked, levels: Groups, best: Groups) -> str:
    """An example of a verdict that turns round where more is known; empty if the groups have none.

    It is the level not to treat that most of the best groups lie in, of those that are to be treated.
    """
    codes = encode(asked.model.schema, [answer.query for answer in best.answers if answer.decision == TREAT])
    inside = {
        level.name: len(lattice.matching_profiles(codes, encode(asked.model.schema, level.query)[0]))
        for level in levels.answers[1:]
        if level.decision == NOT
    }
    name = max(inside, key=lambda level: inside[level], default="")
    return words.turned(name, inside[name], len(best.answers)) if name and inside[name] else ""


def harmed(asked: Asked) -> Groups:
    """Groups with the highest lower bounds on harm, if any are above zero."""
    try:
        found = asked.rank(quantity="harm")
    except PnsightError as error:
        return Groups("harm", refused=str(error))
    ranked = _ranked(asked, found, None)
    some = tuple(answer for answer in ranked.answers if answer.lower)
    return Groups("harm", some, ranked.notes if some else (NOBODY_KNOWN_HARMED,))


def _ranked(asked: Asked, found: Ranking, threshold: float | None) -> Groups:
    answers = _answers(asked, found.answers, found.share, threshold)
    return Groups(found.answers.quantity, answers, asked.notes(found.notes))


def doubts(asked: Asked, among: Groups) -> Doubts:
    """The largest of the groups for which the decision is uncertain, and what to ask their people."""
    if among.refused:
        return Doubts(refused=among.refused)
    open_ones = sorted((group for group in among.answers if group.decision == UNCERTAIN), key=_people)
    listed = tuple(_doubt(asked, group) for group in open_ones[:MOST_DOUBTS])
    more = len(open_ones) - len(listed)
    return Doubts(listed, (f"{more:,} smaller ones are not listed",) if more else ())


def _people(group: Answer) -> float:
    """To sort by: most people first."""
    return -(group.share or 0.0)


def _doubt(asked: Asked, group: Answer) -> Doubt:
    found = ask(asked.model, group.query, asked.threshold, quantity=asked.quantity, level=asked.level)
    columns = found.columns()
    heads = ("covariate", "changes", "treat", "not", "uncertain")
    rows = zip(*(columns[head] for head in heads), strict=True)
    worth_asking = tuple(question for row in rows if (question := Question(*row)).changes)
    return Doubt(group, found.advice, worth_asking[:MOST_QUESTIONS])


def gains(asked: Asked, headline: Headline) -> Gains:
    """What treating those who gain most first brings, and how that goes with the bounds for everyone."""
    try:
        found = select(asked.model, 0.0, quantity=asked.quantity, level=asked.level)
    except PnsightError as error:
        return Gains(asked.quantity, refused=str(error))
    curve = {name: np.array(values, dtype=np.float64) for name, values in found.curve().items()}
    some = _evenly(curve["treated"])
    kept = {name: tuple(plain_numbers(values[some])) for name, values in curve.items() if name != "spent"}
    chosen: dict[str, Any] = kept
    gain = Gains(asked.quantity, **chosen, notes=asked.notes(found.notes))
    return replace(gain, reading=tuple(_reading(asked, gain, headline)))


def _reading(asked: Asked, gain: Gains, headline: Headline) -> Iterator[str]:
    """What may look odd in a curve of gains, explained."""
    if len(gain.treated) > 1 and gain.net_is_least:
        yield words.SAME_NET
    answer = headline.answer
    if answer is None or answer.lower is None or answer.upper is None or gain.treated[-1] < 1 - ROUNDING:
        return
    whole, parts = (answer.lower, answer.upper), (gain.guaranteed[-1], gain.best_case[-1])
    narrower = parts[0] - whole[0], whole[1] - parts[1]
    if isinstance(asked.model, LawModel) and min(narrower) > -SHOWN and max(narrower) >= SHOWN:
        yield words.added_up(whole, parts)


def _evenly(treated: FloatArray) -> npt.NDArray[np.intp]:
    """Positions of points that divide the way evenly, first and last included."""
    wanted = np.linspace(0, treated[-1], CURVE_POINTS)
    return np.unique(np.append(np.searchsorted(treated, wanted, side="right") - 1, len(treated) - 1))


def benefit(asked: Asked, payoffs: PayoffsLike, cost: float) -> Benefit:
    """The benefit of treating everyone, and groups in which it is highest."""
    try:
        table = asked.model.bounds("", payoffs=payoffs, level=asked.level)
        whole = Groups(BENEFIT, _answers(asked, table, np.ones(1), cost), asked.notes(table.notes))
        found = asked.rank("benefit", payoffs=payoffs)
        notes = tuple(note for note in found.notes if note not in table.notes)
        best = Groups(BENEFIT, _answers(asked, found.answers, found.share, cost), notes)
    except PnsightError as error:
        whole = best = Groups(BENEFIT, refused=str(error))
    return Benefit(str(Payoffs.of(payoffs)), cost, whole, best)


def _answers(asked: Asked, table: BoundTable, share: FloatArray, threshold: float | None) -> tuple[Answer, ...]:
    """The rows of a table; with a threshold, they are decided on."""
    decision = np.full(len(table), "") if threshold is None else decided(table, threshold).decision
    columns = table.columns({"share": plain_numbers(share), "decision": [str(word) for word in decision]})
    rows = zip(*columns.values(), strict=True)
    codes = encode(asked.model.schema, list(table.queries))
    named = zip((dict(zip(columns, row, strict=True)) for row in rows), codes, strict=True)
    return tuple(Answer(name=decode(asked.model.schema, query).words, **row) for row, query in named)
