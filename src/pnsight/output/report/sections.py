"""The parts of a report that a model answers, each as plain data; one that it cannot answer says why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.labels import Labels
from pnsight.data.schema import OPEN, Codes, Schema
from pnsight.data.two_by_two import Y_X, Y_X0
from pnsight.decisions import (
    NOT,
    POLICIES,
    TREAT,
    UNCERTAIN,
    Ranking,
    ask,
    decided,
    policies,
    rank,
    select,
    threshold_curve,
)
from pnsight.decisions import tip as find_tip
from pnsight.decisions.planning import size
from pnsight.decisions.ranking import NOBODY_KNOWN_HARMED
from pnsight.decisions.usual_care import decide_or_leave, usual_care_notes
from pnsight.errors import PnsightError
from pnsight.estimands.estimand import Estimand
from pnsight.estimands.payoffs import Payoffs
from pnsight.estimands.quantities import BENEFIT, EFFECT, HARM, PN, PNS, PS, TIME, Quantity
from pnsight.estimands.resolve import ROUNDING
from pnsight.models import Model
from pnsight.notes import Note, sentences
from pnsight.output import policy_words
from pnsight.output.naming import Named, named
from pnsight.output.per_hundred import PerHundred, per_hundred
from pnsight.output.report import words
from pnsight.output.report.counts import count_events, events_counted
from pnsight.output.report.data import (
    SHOWN,
    Answer,
    Benefit,
    Doubt,
    Doubts,
    Events,
    Gains,
    Groups,
    Headline,
    Net,
    PolicyRow,
    Question,
    Size,
    SizeRow,
    Thresholds,
    Tipping,
    UsualCare,
)
from pnsight.output.size_words import CASES, of_words
from pnsight.queries import lattice
from pnsight.queries.bound_table import CONTRADICTED, BoundTable, plain_numbers
from pnsight.queries.query import decode, encode
from pnsight.wording import capitalised

MOST_LEVELS = 40
"""Levels that are shown one by one; of more, those that most people have."""

MOST_DOUBTS, MOST_QUESTIONS = 5, 3
"""Groups in doubt that are listed, and questions for each."""

SIZE_MARGIN = 0.05
"""Half-width of the intervals for which the report says how many rows they need."""

CURVE_POINTS = 101
"""Points of the curve of gains."""

HEADLINES = (PNS, PN, PS, HARM)
"""Quantities that are told for everyone."""

HELPED_LESS_HARMED = Payoffs(complier=1, always=0, never=0, defier=-1)
"""The benefit by which is the net effect: those helped less those harmed."""


@dataclass(frozen=True)
class ReportRequest:
    """What a report is about.

    Attributes
    ----------
    model : whose answers it shows
    estimand : what it ranks and decides on
    threshold : from which lower bound on to treat
    top : how many groups a ranking lists
    cautious : whether a decision needs the whole interval of the bound to agree
    decides : whether anything is decided at all
    """

    model: Model
    estimand: Estimand
    threshold: float
    top: int
    cautious: bool
    decides: bool = True

    @property
    def quantity(self) -> str:
        """Name of what it ranks and decides on."""
        return self.estimand.quantity.name

    @property
    def has_intervals(self) -> bool:
        """Whether answers come with intervals."""
        return self.model.capabilities.intervals

    @property
    def events(self) -> Events | None:
        """What is counted in the arms of the trial beside each answer."""
        return events_counted(self.model.study, self.estimand)

    def rank(self, estimand: Estimand) -> Ranking:
        """The best groups by a lower bound."""
        return rank(self.model, self.top, quantity=estimand)

    def notes(self, found: tuple[Note, ...], said: tuple[Note, ...] = ()) -> tuple[str, ...]:
        """Sentences of an answer's notes, without those said before and those that the report has at its head.

        Groups about which the tables contradict each other are marked one by one.
        """
        before = (*self.model.caveats, *self.model.warnings, *said)
        left = [note for note in found if note not in before and note.kind != "answers_contradicted"]
        return tuple(sentences(left, "page"))

    def decision(self, answer: Answer) -> str:
        """The decision on a group that the report shows."""
        return answer.decision_cautious if self.cautious else answer.decision


def of_hundred(asked: ReportRequest) -> PerHundred | None:
    """What is known of a hundred people; None where the model cannot tell."""
    try:
        return next(iter(per_hundred(asked.model, "", asked.estimand)), None)
    except PnsightError:
        return None


def everyone(asked: ReportRequest) -> tuple[Headline, ...]:
    """The quantities that the model knows, for everyone; its own one first."""
    others = _headlines(asked.model) if asked.model.capabilities.law else ()
    return tuple(_headline(asked, quantity) for quantity in dict.fromkeys((asked.estimand.quantity, *others)))


def _headlines(model: Model) -> tuple[Quantity, ...]:
    """What is told for everyone; with two arms and two outcomes the net effect has a line of its own."""
    if model.structure.is_two_by_two:
        return HEADLINES
    return (*HEADLINES, EFFECT, TIME) if model.structure.description.horizons else (*HEADLINES, EFFECT)


def _headline(asked: ReportRequest, quantity: Quantity) -> Headline:
    words_for = named(quantity, asked.model.study, asked.estimand)
    heading = quantity.name, quantity.title, words_for.meaning if words_for.by_name else quantity.holds_for
    try:
        table = asked.model.bounds("", asked.estimand.of_quantity(quantity))
    except PnsightError as error:
        return Headline(*heading, None, "", str(error))
    threshold = asked.threshold if quantity == asked.estimand.quantity else None
    answer = _answers(asked, table, np.ones(1), threshold)[0]
    tip = None if threshold is None else _tipping(asked)
    if answer.status == CONTRADICTED:
        return Headline(*heading, answer, "", words.CONTRADICTED, _by_trial(words_for, answer), tip)
    if answer.lower is None or answer.upper is None:
        return Headline(*heading, answer, "", f"no answer: it is {answer.status}")
    return Headline(*heading, answer, words_for.sentence(answer.lower, answer.upper), "", tip=tip)


def _tipping(asked: ReportRequest) -> Tipping | None:
    """At which slack the decision on everyone changes; None of a model or a question for which slack means nothing."""
    if not asked.model.capabilities.law or asked.estimand.slack is not None:
        return None
    try:
        found = find_tip(asked.model, "", asked.threshold, asked.cautious, asked.estimand)
        slacks, tables = found.curve()
    except PnsightError:
        return None
    tip = float(found.shown_tip[0])
    sentence = capitalised(str(found.sentence()))
    if not np.isfinite([table.lower[0] for table in tables]).any():
        return Tipping(f"{sentence}.")
    ends = [(table.lower, table.upper, table.interval("lower")[0], table.interval("upper")[1]) for table in tables]
    lower, upper, low, high = (tuple(plain_numbers(np.concatenate(each))) for each in zip(*ends, strict=True))
    return Tipping(
        f"{sentence}.", tip if np.isfinite(tip) else None, tuple(map(float, slacks)), lower, upper, low, high
    )


def _by_trial(words_for: Named, answer: Answer) -> str:
    """What the experiment alone says of everyone, if it bounds the quantity."""
    if answer.trial_lower is None or answer.trial_upper is None:
        return ""
    return words.by_trial(words_for.sentence(answer.trial_lower, answer.trial_upper))


def net(asked: ReportRequest) -> Net:
    """How many respond if all are treated and if none is; by the experiment alone where the tables contradict it."""
    if not asked.model.capabilities.law or not asked.model.structure.is_two_by_two or asked.estimand.is_relaxed:
        return Net()
    if not asked.model.contradicted(encode(asked.model.schema, None), asked.estimand)[0]:
        return _net(asked.model, asked.estimand)
    found = _net(asked.model.from_trial_alone(), replace(asked.estimand, population=None))
    return replace(found, sentence=words.by_trial(found.sentence)) if found.sentence else found


def _net(model: Model, estimand: Estimand) -> Net:
    law = model.law("")
    treated, untreated = float(law.p(Y_X)[0]), float(law.p(Y_X0)[0])
    if np.isnan(treated + untreated):
        return Net()
    table = model.bounds("", replace(estimand, quantity=BENEFIT, payoffs=HELPED_LESS_HARMED))  # both ends are the same
    low, high = (plain_numbers(end)[0] for end in table.interval("lower"))
    return Net(treated, untreated, low, high, words.net_sentence(treated, untreated))


def usual_care(asked: ReportRequest, headline: Headline) -> UsualCare:
    """Usual care against treating all, none, and the best rules; and whether it is better than what is decided."""
    model, answer = asked.model, headline.answer
    try:
        found = policies(model, None, asked.estimand.level, asked.estimand.population)
    except PnsightError as error:
        return UsualCare(refused=str(error))
    rows = tuple(PolicyRow(policy, policy_words.NAMES[policy], **found.of(policy)) for policy in POLICIES)
    decision = "" if answer is None else asked.decision(answer)
    treated, untreated = np.array([decision == TREAT]), np.array([decision == NOT])
    better = usual_care_notes(model, encode(model.schema, None), treated, untreated, asked.estimand)
    said = tuple(note for note in found.notes if note.kind != "usual_care_beats_rule")
    how: dict[str, Any] = {"level": asked.estimand.level, "population": asked.estimand.population}
    choice = decide_or_leave(model, None, cautious=asked.cautious, **how).reason()
    said_of = policy_words.verdict(found), f"{capitalised(str(choice))}."
    return UsualCare(rows, *said_of, "".join(sentences(better, "page")), asked.notes(said))


def thresholds(asked: ReportRequest) -> Thresholds:
    """Whom the rule would treat, not treat or leave uncertain at other thresholds."""
    if not asked.decides:
        return Thresholds(asked.quantity)
    try:
        found = threshold_curve(asked.model, quantity=asked.estimand)
    except PnsightError as error:
        return Thresholds(asked.quantity, refused=str(error))
    plain, cautious = (
        {name: tuple(map(float, values)) for name, values in shares.items()} for shares in (found.plain, found.cautious)
    )
    harmed = plain_numbers(found.harmed_cautious if cautious else found.harmed)
    return Thresholds(asked.quantity, tuple(map(float, found.thresholds)), plain, cautious, harmed=tuple(harmed))


def study_size(asked: ReportRequest) -> Size:
    """How many rows another study would need for intervals of everyone's bounds, with this one as the pilot."""
    level, quantity = asked.estimand.level, asked.estimand.quantity
    try:
        found = size(SIZE_MARGIN, level, quantity.name, pilot=asked.model)
    except PnsightError as error:
        return Size(SIZE_MARGIN, level, refused=str(error))
    columns = found.columns()
    rows = zip(*(columns[name] for name in ("case", "of", "per_arm", "experimental", "observational")), strict=True)
    named = ((CASES[case], of_words(of, quantity), *numbers) for case, of, *numbers in rows)
    return Size(SIZE_MARGIN, level, tuple(SizeRow(*row) for row in named))


def levels(asked: ReportRequest) -> Groups:
    """Everyone, then each level of each covariate by itself, with its decision."""
    schema = asked.model.schema
    codes = one_level_each(schema)
    try:
        share = asked.model.shares(codes)
        kept = np.sort(np.argsort(-share, kind="stable")[: MOST_LEVELS + 1])
        table = asked.model.bounds(codes[kept], asked.estimand)
    except PnsightError as error:
        return Groups(asked.quantity, refused=str(error))
    left_out = len(codes) - len(kept)
    notes = asked.notes(table.notes)
    if left_out:
        notes += (str(Note("rarer_levels_not_shown", {"levels": left_out})),)
    answers = _answers(asked, table, share[kept], asked.threshold)
    return Groups(asked.quantity, tuple(_by_covariate(schema, asked.model.study.labels, answers)), notes)


def _by_covariate(schema: Schema, labels: Labels, answers: Sequence[Answer]) -> Iterator[Answer]:
    """Everyone, then covariate by covariate: first those whose levels differ most in the lower bound.

    Levels are from the highest lower bound to the lowest; bands stay in their order.
    """
    yield from (answer for answer in answers if not answer.fixed)
    bands = {labels.column(one.name) for one in schema.covariates if one.edges or one.number}
    found: dict[str, list[Answer]] = {}
    for answer in answers:
        for covariate in answer.fixed:
            found.setdefault(covariate, []).append(answer)
    for covariate in sorted(found, key=lambda name: -_spread(found[name])):
        yield from found[covariate] if covariate in bands else sorted(found[covariate], key=_lowest_last)


def _spread(answers: Sequence[Answer]) -> float:
    """By how much lower bounds differ; less than nothing where there are none."""
    known = [answer.lower for answer in answers if answer.lower is not None]
    return max(known) - min(known) if known else -1.0


def _lowest_last(answer: Answer) -> float:
    return float("inf") if answer.lower is None else -answer.lower


def one_level_each(schema: Schema) -> Codes:
    """Everyone, then each level of each covariate, shape (1 + levels, covariates)."""
    places = [(j, level) for j, levels in enumerate(schema.shape) for level in range(levels)]
    codes = np.full((1 + len(places), len(schema.names)), OPEN, dtype=np.int32)
    for row, (j, level) in enumerate(places, start=1):
        codes[row, j] = level
    return schema.coded(codes)


def benefiting(asked: ReportRequest) -> Groups:
    """Groups with the highest lower bounds."""
    try:
        found = asked.rank(asked.estimand)
    except PnsightError as error:
        return Groups(asked.quantity, refused=str(error))
    return _ranked(asked, found, asked.threshold)


def turned(asked: ReportRequest, levels: Groups, best: Groups) -> str:
    """An example of a verdict that turns round where more is known; empty if the groups have none.

    It is the level not to treat that most of the best groups lie in, of those that are to be treated.
    """
    treated = [answer.query for answer in best.answers if asked.decision(answer) == TREAT]
    codes = encode(asked.model.schema, treated)
    inside = {
        level.name: len(lattice.matching_profiles(codes, encode(asked.model.schema, level.query)[0]))
        for level in levels.answers[1:]
        if asked.decision(level) == NOT
    }
    name = max(inside, key=lambda level: inside[level], default="")
    return words.turned(name, inside[name], len(best.answers)) if name and inside[name] else ""


def harmed(asked: ReportRequest) -> Groups:
    """Groups with the highest lower bounds on harm, if any are above zero."""
    try:
        found = asked.rank(asked.estimand.of_quantity(HARM))
    except PnsightError as error:
        return Groups(HARM.name, refused=str(error))
    ranked = _ranked(asked, found, None)
    some = tuple(answer for answer in ranked.answers if answer.lower)
    if not some:
        return Groups(HARM.name, some, (str(NOBODY_KNOWN_HARMED),))
    return Groups(HARM.name, some, asked.notes(_counting_only(found.notes, len(some))))


def _counting_only(notes: Sequence[Note], listed: int) -> tuple[Note, ...]:
    """The notes on a ranking of which only so many groups are listed."""

    def values(note: Note) -> dict[str, Any]:
        if note.kind != "short_list":
            return dict(note.values)
        others = note.values["others"] + note.values["listed"] - listed
        return {**note.values, "listed": listed, "others": others}

    return tuple(replace(note, values=values(note)) for note in notes)


def _ranked(asked: ReportRequest, found: Ranking, threshold: float | None) -> Groups:
    answers = _answers(asked, found.answers, found.share, threshold)
    return Groups(found.answers.quantity, answers, asked.notes(found.notes))


def doubts(asked: ReportRequest, among: Groups) -> Doubts:
    """The largest of the groups for which the decision is uncertain, and what to ask their people."""
    if among.refused:
        return Doubts(refused=among.refused)
    open_ones = sorted((group for group in among.answers if asked.decision(group) == UNCERTAIN), key=_people)
    listed = tuple(_doubt(asked, group) for group in open_ones[:MOST_DOUBTS])
    more = len(open_ones) - len(listed)
    return Doubts(listed, (str(Note("smaller_groups_not_listed", {"groups": more})),) if more else ())


def _people(group: Answer) -> float:
    """To sort by: most people first."""
    return -(group.share or 0.0)


def _doubt(asked: ReportRequest, group: Answer) -> Doubt:
    found = ask(asked.model, group.query, asked.threshold, asked.cautious, asked.estimand)
    columns = found.columns()
    heads = ("covariate", "changes", "treat", "not", "uncertain")
    called = [asked.model.study.labels.column(name) for name in columns["covariate"]]
    rows = zip(called, *(columns[head] for head in heads[1:]), strict=True)
    worth_asking = tuple(question for row in rows if (question := Question(*row)).changes)
    return Doubt(group, str(asked.model.study.labels.note(found.advice)), worth_asking[:MOST_QUESTIONS])


def gains(asked: ReportRequest, headline: Headline) -> Gains:
    """What treating those who gain most first brings, and how that goes with the bounds for everyone."""
    try:
        found = select(asked.model, 0.0, quantity=asked.estimand)
    except PnsightError as error:
        return Gains(asked.quantity, refused=str(error))
    curve = {name: np.array(values, dtype=np.float64) for name, values in found.curve().items()}
    some = _evenly(curve["treated"])
    kept = {name: tuple(plain_numbers(values[some])) for name, values in curve.items() if name != "spent"}
    chosen: dict[str, Any] = kept
    gain = Gains(asked.quantity, **chosen, notes=asked.notes(found.notes))
    return replace(gain, reading=tuple(_reading(asked, gain, headline)))


def _reading(asked: ReportRequest, gain: Gains, headline: Headline) -> Iterator[str]:
    """What may look odd in a curve of gains, explained."""
    if len(gain.treated) > 1 and gain.net_is_least:
        yield words.SAME_NET
    answer = headline.answer
    if answer is None or answer.lower is None or answer.upper is None or gain.treated[-1] < 1 - ROUNDING:
        return
    whole, parts = (answer.lower, answer.upper), (gain.guaranteed[-1], gain.best_case[-1])
    narrower = parts[0] - whole[0], whole[1] - parts[1]
    if asked.model.capabilities.law and min(narrower) > -SHOWN and max(narrower) >= SHOWN:
        yield words.added_up(whole, parts)


def _evenly(treated: FloatArray) -> npt.NDArray[np.intp]:
    """Positions of points that divide the way evenly, first and last included."""
    wanted = np.linspace(0, treated[-1], CURVE_POINTS)
    return np.unique(np.append(np.searchsorted(treated, wanted, side="right") - 1, len(treated) - 1))


def benefit(asked: ReportRequest, payoffs: Payoffs, cost: float) -> Benefit:
    """The benefit of treating everyone, and groups in which it is highest."""
    estimand = replace(asked.estimand, quantity=BENEFIT, payoffs=payoffs)
    try:
        table = asked.model.bounds("", estimand)
        whole = Groups(BENEFIT.name, _answers(asked, table, np.ones(1), cost), asked.notes(table.notes))
        found = asked.rank(estimand)
        notes = asked.notes(found.notes, said=table.notes)
        best = Groups(BENEFIT.name, _answers(asked, found.answers, found.share, cost), notes)
    except PnsightError as error:
        whole = best = Groups(BENEFIT.name, refused=str(error))
    return Benefit(str(payoffs), cost, whole, best)


def _answers(asked: ReportRequest, table: BoundTable, share: FloatArray, threshold: float | None) -> tuple[Answer, ...]:
    """The rows of a table; with a threshold, they are decided on if anything is."""
    undecided = [""] * len(table)
    decisions: dict[str, Any] = {"decision": undecided, "decision_cautious": undecided}
    if threshold is not None and asked.decides:
        found = decided(table, threshold)
        decisions = {name: [str(word) for word in getattr(found, name)] for name in decisions}
    columns = table.columns({"share": plain_numbers(share), **decisions})
    rows = zip(*columns.values(), strict=True)
    codes, labels = encode(asked.model.schema, list(table.queries)), asked.model.study.labels
    counted = _counted(asked, codes)
    named = zip((dict(zip(columns, row, strict=True)) for row in rows), codes, counted, strict=True)
    return tuple(
        Answer(**_called(labels, decode(asked.model.schema, query).fixed), **row, **events)
        for row, query, events in named
    )


def _called(labels: Labels, fixed: Mapping[str, str]) -> dict[str, Any]:
    """What a group is called, as a whole and by what is known of it."""
    known = {labels.column(name): labels.value(name, value) for name, value in fixed.items()}
    return {"name": labels.words(fixed), "fixed": known}


def _counted(asked: ReportRequest, codes: Codes) -> list[dict[str, Any]]:
    """Events and rows in the arms of the trial, for each group; nothing without a trial."""
    if asked.events is None:
        return [{}] * len(codes)
    found = count_events(asked.model.study, asked.estimand, codes)
    return [{"events": tuple(events), "arm_rows": tuple(rows)} for events, rows in np.moveaxis(found, 2, 1).tolist()]
