"""What a report holds, as plain data: `dataclasses.asdict` of a `Summary` is ready for JSON.

A part that the model cannot tell says why in `refused`, and is empty otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from pnsight.output.per_hundred import PerHundred

SHOWN = 0.0005
"""Numbers that differ by less are the same in the three digits that are shown."""


@dataclass(frozen=True)
class Described:
    """A covariate: its name and levels, the edges of its bands if it was cut, and rare levels that became ``other``."""

    name: str
    levels: tuple[str, ...]
    edges: tuple[float, ...] | None
    merged: tuple[str, ...]


@dataclass(frozen=True)
class Data:
    """What the tables are; rows are those that answers may show, without what is withheld.

    `sources` are the files that they were read from, by role, in words; none where counts are withheld.
    """

    experimental_rows: float
    observational_rows: float | None
    profiles: int
    treatment: str
    treated: str
    outcome: str
    success: str
    covariates: tuple[Described, ...]
    dropped: Mapping[str, float]
    ignored: tuple[str, ...]
    notes: tuple[str, ...]
    withheld: str
    sources: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Fitted:
    """The model: its kind, what that does, what it was given, what it chose on what evidence, and how it was read."""

    kind: str
    method: str
    parameters: Mapping[str, object]
    explained: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """One part of the check."""

    name: str
    status: str
    text: str


@dataclass(frozen=True)
class Checked:
    """Whether the tables are usable.

    `verdict` is ``usable``, ``usable with warnings``, ``not usable``, or ``not checked``; `summary` says why.
    """

    ok: bool
    verdict: str
    summary: str
    parts: tuple[Part, ...]
    refused: str


@dataclass(frozen=True)
class Answer:
    """Bounds for a group: as `BoundTable` has them, None for what is missing, with its name in words.

    `decision` goes by the bounds, and `decision_cautious` by their intervals: see `Summary.cautious`. `fixed` is what
    is known of the group, as people call it. `events` and `arm_rows` are of the trial's arms, in the order of `Events`.
    """

    query: str
    name: str
    share: float | None
    decision: str
    decision_cautious: str
    lower: float | None
    upper: float | None
    lower_low: float | None
    lower_high: float | None
    upper_low: float | None
    upper_high: float | None
    support_experimental: float
    support_observational: float
    status: str
    basis: str
    value_low: float | None
    value_high: float | None
    trial_lower: float | None
    trial_upper: float | None
    fixed: Mapping[str, str] = field(default_factory=dict)
    events: tuple[float, ...] = ()
    arm_rows: tuple[float, ...] = ()

    @property
    def fewest_rows(self) -> float:
        """Rows in the table that has fewer of them."""
        return min(self.support_experimental, self.support_observational)


@dataclass(frozen=True)
class Tipping:
    """At which slack a decision changes, in a sentence and in numbers: the bounds as slack grows.

    `low` and `high` are where the interval of the lower bound begins and that of the upper one stops; `tip` is None
    where no slack changes the decision.
    """

    sentence: str
    tip: float | None = None
    slacks: tuple[float, ...] = ()
    lower: tuple[float | None, ...] = ()
    upper: tuple[float | None, ...] = ()
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class Headline:
    """One quantity for everyone, and what it means in a sentence.

    `trial` is what the experiment alone says, where the tables contradict each other and it says something; `tip` at
    which slack the decision changes.
    """

    quantity: str
    name: str
    meaning: str
    answer: Answer | None
    sentence: str
    refused: str
    trial: str = ""
    tip: Tipping | None = None


@dataclass(frozen=True)
class Net:
    """P(y_x), P(y_x') and what they mean; None for a model that does not know the law.

    `low` and `high` are the interval of their difference, which is a number and not confined by bounds; None for a
    model that gives no intervals. Where the tables contradict each other it is the experiment's own.
    """

    treated: float | None = None
    untreated: float | None = None
    low: float | None = None
    high: float | None = None
    sentence: str = ""


@dataclass(frozen=True)
class Groups:
    """Answers for groups, in order."""

    quantity: str
    answers: tuple[Answer, ...] = ()
    notes: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True)
class Question:
    """What asking for a covariate would do: the probability that the decision changes, and to what."""

    covariate: str
    changes: float | None
    treat: float | None
    not_: float | None
    uncertain: float | None


@dataclass(frozen=True)
class Doubt:
    """A group for which the decision is uncertain, and what to ask."""

    group: Answer
    advice: str
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Doubts:
    """Groups in doubt, the largest first."""

    groups: tuple[Doubt, ...] = ()
    notes: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True)
class Gains:
    """What treating a share of the people brings, those who gain most first; all numbers are shares of the people.

    `reading` says what may look odd in them, and why it is so.
    """

    quantity: str
    treated: tuple[float, ...] = ()
    guaranteed: tuple[float, ...] = ()
    net: tuple[float | None, ...] = ()
    best_case: tuple[float, ...] = ()
    reading: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refused: str = ""

    @property
    def net_is_least(self) -> bool:
        """Whether the net gain is the gain at least, all along and to the digits that are shown."""
        pairs = zip(self.guaranteed, self.net, strict=True)
        return all(net is not None and abs(least - net) < SHOWN for least, net in pairs)


@dataclass(frozen=True)
class Benefit:
    """The benefit of treating, where payoffs are given."""

    payoffs: str
    cost: float
    everyone: Groups
    best: Groups


@dataclass(frozen=True)
class PolicyRow:
    """One policy: its name in words, and what `Policies` says of it; None for what is missing."""

    policy: str
    name: str
    value: float | None
    low: float | None
    high: float | None
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    treated: float | None
    overruled_to_treat: float | None
    overruled_to_not: float | None


@dataclass(frozen=True)
class UsualCare:
    """Usual care against rules, for everyone; `better` says so where it is better than what is decided for everyone.

    `choice` says whether to treat all, none, or to leave it to them.
    """

    policies: tuple[PolicyRow, ...] = ()
    verdict: str = ""
    choice: str = ""
    better: str = ""
    notes: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True)
class Thresholds:
    """Shares of the people by what is decided about them, at each threshold, by bounds and with caution.

    `harmed` is of those treated the share harmed at most, with caution where there is any; None where nobody is
    treated, or where that is not known.
    """

    quantity: str
    thresholds: tuple[float, ...] = ()
    plain: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    cautious: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    refused: str = ""
    harmed: tuple[float | None, ...] = ()

    @property
    def shown(self) -> tuple[tuple[float, Mapping[str, float | None]], ...]:
        """Every other threshold, with the shares that count: the cautious ones where there are any; harm at the end."""
        shares = {**(self.cautious or self.plain), "harmed": self.harmed}
        rows = ((at, {name: values[k] for name, values in shares.items()}) for k, at in enumerate(self.thresholds))
        return tuple(rows)[::2]


@dataclass(frozen=True)
class SizeRow:
    """Rows that an interval would need: in which case and of what, in words; None for what is not used."""

    case: str
    of: str
    per_arm: float | None
    experimental: float | None
    observational: float | None


@dataclass(frozen=True)
class Size:
    """How many rows another study would need for intervals of a half-width, with this one as the pilot."""

    margin: float = 0.0
    level: float = 0.0
    rows: tuple[SizeRow, ...] = ()
    refused: str = ""


@dataclass(frozen=True)
class Proof:
    """What held-out rows say about the model, beside the plug-in: one row a measure.

    Each row has the measure, and for each model its value and where its interval begins and stops.
    """

    caption: str
    models: tuple[str, ...] = ()
    rows: tuple[tuple[str, tuple[tuple[float | None, float | None, float | None], ...]], ...] = ()
    calibration: tuple[tuple[str, str, float, float, float, float], ...] = ()
    notes: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True)
class OpinionRow:
    """A group by both opinions: as `SecondOpinion` has them, None for what is missing; names and agreement in words."""

    query: str
    name: str
    model_lower: float | None
    model_upper: float | None
    model_low: float | None
    model_high: float | None
    lower: float | None
    upper: float | None
    low: float | None
    high: float | None
    agreement: str
    words: str


@dataclass(frozen=True)
class Opinion:
    """Refined bounds by the model beside those of a second opinion, whose intervals have a confidence of `level`.

    `verdict` says whether they agree.
    """

    level: float = 0.0
    rows: tuple[OpinionRow, ...] = ()
    verdict: str = ""
    notes: tuple[str, ...] = ()
    refused: str = ""


@dataclass(frozen=True)
class GuidelineItem:
    """An item of a reporting guideline: its number or section, its topic in our words, and what the analysis says.

    `said` is None where the tables do not show it, so that authors have to fill it in.
    """

    guideline: str
    item: str
    topic: str
    said: str | None


@dataclass(frozen=True)
class Guidelines:
    """Items of the guidelines for the report's tables, a paragraph on methods, and what both cite."""

    items: tuple[GuidelineItem, ...] = ()
    methods: str = ""
    citations: tuple[str, ...] = ()

    def by_guideline(self) -> tuple[tuple[str, tuple[GuidelineItem, ...]], ...]:
        """Each guideline with its items, in order."""
        names = dict.fromkeys(item.guideline for item in self.items)
        return tuple((name, tuple(item for item in self.items if item.guideline == name)) for name in names)


@dataclass(frozen=True)
class Counts:
    """Rows of a table by arm and outcome: heads of the names and of the numbers, and the rows."""

    caption: str
    names: tuple[str, ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ArmColumn:
    """A column of Table 1: an arm of a table, and its rows."""

    table: str
    arm: str
    rows: float


@dataclass(frozen=True)
class LevelRows:
    """A level, and its rows in each column."""

    level: str
    rows: tuple[float, ...]


@dataclass(frozen=True)
class Quartiles:
    """What a quarter, a half and three quarters of the rows do not exceed; None where there are no numbers."""

    low: float | None
    median: float | None
    high: float | None


@dataclass(frozen=True)
class CovariateRows:
    """A covariate of Table 1: its levels or bands, and of numbers the quartiles in each column."""

    covariate: str
    levels: tuple[LevelRows, ...]
    quartiles: tuple[Quartiles, ...] = ()


@dataclass(frozen=True)
class TableOne:
    """Who was in each arm of each table: Table 1 of a trial's paper."""

    columns: tuple[ArmColumn, ...] = ()
    covariates: tuple[CovariateRows, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Events:
    """What is counted in each group: which event, in which arms of the trial; the one that is asked about first."""

    event: str
    arms: tuple[str, ...]


@dataclass(frozen=True)
class Curve:
    """Bounds of a quantity at each horizon, with the intervals of both ends; None for what is missing."""

    ENDS: ClassVar = ("lower", "upper", "lower_low", "lower_high", "upper_low", "upper_high")

    quantity: str
    name: str
    horizons: tuple[float, ...]
    lower: tuple[float | None, ...]
    upper: tuple[float | None, ...]
    lower_low: tuple[float | None, ...]
    lower_high: tuple[float | None, ...]
    upper_low: tuple[float | None, ...]
    upper_high: tuple[float | None, ...]


@dataclass(frozen=True)
class ArmChoice:
    """The best arm for a group, ``uncertain`` or nothing; the arms it is between, and each arm's bounds."""

    name: str
    decision: str
    between: tuple[str, ...]
    bounds: tuple[tuple[str, float | None, float | None], ...]


@dataclass(frozen=True)
class ArmChoices:
    """The best arm for everyone and each level, each compared with the reference."""

    reference: str = ""
    groups: tuple[ArmChoice, ...] = ()
    refused: str = ""


@dataclass(frozen=True)
class OfStructure:
    """What is said in the names of arms and outcomes, where there are not just two of each.

    Attributes
    ----------
    title : of the report
    lead : which arms are compared, and what the outcomes are
    treat : the question whether everyone should have the arm
    facts : rows of the table about the data
    harm, gain : what happens to those who are harmed, and to those who are helped
    curves : of times to an event, bounds at each horizon
    arms : of more than two arms, the best one
    """

    title: str
    lead: str
    treat: str
    facts: tuple[tuple[str, str], ...]
    harm: str
    gain: str
    curves: tuple[Curve, ...]
    arms: ArmChoices | None


@dataclass(frozen=True)
class Summary:
    """Everything that a report says.

    Attributes
    ----------
    made : the day, as in 2026-01-31
    quantity : what is ranked and decided on
    threshold : from which lower bound on to treat
    about_threshold : whose business it is to set it
    level : confidence of the intervals; None for a model that gives none
    rule : when a group is treated, in words
    cautious : whether the decisions that are shown are the cautious ones; else those that go by the bounds alone
    undecided : why nothing is decided, of anybody; empty if decisions are made
    few_rows : a decision that rests on fewer rows than this in a table is shown with a warning
    population : whose people answers are about, in words
    warnings : what the model warns of
    trial_alone : whether the report goes by the experiment alone although there is another table
    caveats : what a reader of any answer should know
    everyone : quantities for everyone; the first is the headline
    levels : everyone, then each level of each covariate by itself
    most_known : that a verdict can turn round where more is known
    turned : an example of that from this report, if there is one
    hundred : what is known of a hundred people; None where the model cannot tell
    first : that in sentences, with which the report begins
    structure : names, curves and the best arm; None with two arms and two outcomes
    counts : rows of each table by arm and outcome
    table_one : rows of each arm by covariate
    events : what events are beside answers; None without a trial
    usual_care : whether a rule is better than what people choose for themselves
    thresholds : who would be treated at other thresholds
    size : how many rows another study would need
    assuming : what was assumed beyond that, and how far people may differ from those of the trial
    proof : how the model fares on rows held out, if that was asked for
    opinion : the model's refined bounds beside a second opinion, if that was asked for
    guidelines : what the analysis says to the items of reporting guidelines
    """

    title: str
    version: str
    made: str
    quantity: str
    threshold: float
    about_threshold: str
    level: float | None
    rule: str
    cautious: bool
    undecided: str
    few_rows: int
    population: str
    warnings: tuple[str, ...]
    trial_alone: bool
    caveats: tuple[str, ...]
    data: Data
    model: Fitted
    check: Checked
    everyone: tuple[Headline, ...]
    net: Net
    levels: Groups
    most_known: str
    turned: str
    best: Groups
    harmed: Groups
    doubts: Doubts
    gains: Gains
    benefit: Benefit | None
    bounds: tuple[str, ...]
    assumed: tuple[str, ...]
    citations: tuple[str, ...]
    hundred: PerHundred | None = None
    first: tuple[str, ...] = ()
    structure: OfStructure | None = None
    counts: tuple[Counts, ...] = ()
    table_one: TableOne = field(default_factory=TableOne)
    events: Events | None = None
    usual_care: UsualCare = field(default_factory=UsualCare)
    thresholds: Thresholds = field(default_factory=lambda: Thresholds(""))
    size: Size = field(default_factory=Size)
    assuming: tuple[str, ...] = ()
    proof: Proof | None = None
    opinion: Opinion | None = None
    guidelines: Guidelines = field(default_factory=Guidelines)

    def decision(self, answer: Answer) -> str:
        """The decision on a group that is shown."""
        return answer.decision_cautious if self.cautious else answer.decision

    def rests_on_few(self, answer: Answer) -> bool:
        """Whether a table has few rows of the group, or none; an experiment alone has no other table."""
        rows = answer.support_experimental if self.data.observational_rows is None else answer.fewest_rows
        return rows < self.few_rows
