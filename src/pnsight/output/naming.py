"""What quantities are called in the words of a study: arms and outcomes by name, wherever there are not just two.

With two arms and two outcomes people are treated or not and respond or do not, as the rows of `QUANTITIES` say.
Otherwise everything that is said of an arm or an outcome names it, and all of that is said here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pnsight.data.labels import Labels
from pnsight.data.schema import OPEN, Schema
from pnsight.data.structure import Structure
from pnsight.data.study import Study
from pnsight.estimands.contrast import resolve_contrast
from pnsight.estimands.estimand import Estimand
from pnsight.estimands.quantities import BENEFIT, EFFECT, HARM, PD, PE, PN, PNS, PS, STATEMENT, TIME, Quantity
from pnsight.output.wording import amounts, between, quantity_sentence
from pnsight.queries.query import decode, encode
from pnsight.wording import capitalised

_PLAIN = frozenset(("0", "1", "yes", "no", "true", "false"))
"""Values that say nothing without the name of their column."""


@dataclass(frozen=True)
class Outcomes:
    """How outcomes are spoken of: what a person has who is not at the bottom, or not at the top, and has more or less.

    Attributes
    ----------
    some, less : more than the lowest outcome; a lower one than that
    short, more : less than the highest outcome; a higher one than that
    better : that one arm, ``{0}``, has the better outcome than another, ``{1}``, as a clause
    """

    some: str
    less: str
    short: str
    more: str
    better: str


def value_name(column: str, value: str) -> str:
    """A value as it is said: by itself, or with its column where it would say nothing.

    Parameters
    ----------
    column, value
        As the study has them.

    Returns
    -------
    ``high``, or ``dose = 1``.
    """
    return f"{column} = {value}" if value.lower() in _PLAIN else value


def arm_names(study: Study, estimand: Estimand) -> tuple[str, str]:
    """The arm that is asked about and the one that it is compared with, as they are said."""
    treated, reference = (
        study.labels.value(study.treatment, arm) for arm in resolve_contrast(study.structure, estimand.contrast)
    )
    column = study.labels.column(study.treatment)
    return value_name(column, treated), value_name(column, reference)


def outcome_names(study: Study, estimand: Estimand) -> Outcomes:
    """How outcomes are spoken of.

    Parameters
    ----------
    study
        Its outcomes, and what they are called.
    estimand
        When to look, if outcomes are times to an event.

    Returns
    -------
    The words.
    """
    described = study.structure.description
    if described.horizons:
        return _times(study.structure, estimand.horizon)
    name = study.labels.column(study.outcome)
    lowest, highest = (study.labels.value(study.outcome, described.outcomes[end]) for end in (0, -1))
    top, bottom = value_name(name, highest), value_name(name, lowest)
    if not described.ordered:
        better = f"{name} is {highest} under {{0}} and something else under {{1}}"
        return Outcomes(f"something else than {bottom}", "another outcome", f"something else than {top}", top, better)
    if len(described.outcomes) == 2:
        return Outcomes(top, bottom, bottom, top, f"{name} is {highest} under {{0}} and {lowest} under {{1}}")
    better = f"{name} is higher under {{0}} than it would be under {{1}}"
    return Outcomes(f"{name} above {lowest}", f"a lower {name}", f"{name} below {highest}", f"a higher {name}", better)


def _times(structure: Structure, horizon: float | None) -> Outcomes:
    described = structure.description
    if horizon is not None:
        at = f"{horizon:g}"
        without, with_it = f"no event by {at}", f"the event by {at}"
        if described.event_is_bad:
            spared = f"the event has not come by {at} under {{0}}, and would have under {{1}}"
            return Outcomes(without, with_it, with_it, without, spared)
        reached = f"the event has come by {at} under {{0}}, and would not have under {{1}}"
        return Outcomes(with_it, without, without, with_it, reached)
    first, last = (f"{each:g}" for each in (described.horizons[0], described.horizons[-1]))
    ends = f"no event by {first}", f"the event by {last}"
    word, other = ("later", "earlier") if described.event_is_bad else ("earlier", "later")
    some, short = ends if described.event_is_bad else ends[::-1]
    better = f"the event comes {word} under {{0}} than it would under {{1}}"
    return Outcomes(some, f"the event {other}", short, f"the event {word}", better)


@dataclass(frozen=True)
class Named:
    """A quantity in the words of a study.

    Attributes
    ----------
    label, title : the short name and the name in full
    phrase : the event in a few words
    meaning : a sentence: of whom, and what share
    holds_for : whom it counts
    among : of whom, if not of everyone, to begin a sentence with
    quantity : the quantity
    by_name : whether arms and outcomes are named
    """

    label: str
    title: str
    phrase: str
    meaning: str
    holds_for: str
    among: str
    quantity: Quantity
    by_name: bool = True

    def sentence(self, lower: float, upper: float) -> str:
        """What bounds for everyone mean.

        Parameters
        ----------
        lower, upper
            The bounds.

        Returns
        -------
        A sentence.
        """
        if not self.by_name:
            return quantity_sentence(self.quantity, lower, upper)
        if not self.quantity.is_share:
            whom = f"{capitalised(self.among)}: " if self.among else ""
            return f"{whom}{capitalised(self.holds_for)} is {amounts(lower, upper)}."
        if self.quantity.given is not None:
            return f"{capitalised(self.among)}, {between(lower, upper)} {self.holds_for}."
        whom = f"{capitalised(self.among)}, for" if self.among else "For"
        return f"{whom} {between(lower, upper)} of people {self.holds_for}."


def named(quantity: Quantity, study: Study, estimand: Estimand) -> Named:
    """A quantity in the words of a study.

    Parameters
    ----------
    quantity
        One of the quantities.
    study
        Arms and outcomes by name.
    estimand
        Contrast, horizon and among whom.

    Returns
    -------
    Its words; with two arms and two outcomes, and no other contrast, those of the quantity's own row.
    """
    if study.structure.is_two_by_two and estimand.contrast is None:
        words = quantity.label, quantity.title, quantity.phrase, quantity.meaning, quantity.holds_for
        return Named(*words, "", quantity, by_name=False)
    phrase, holds, among = _clauses(quantity, study, estimand)
    if estimand.among == "compliers":
        arm, other = arm_names(study, estimand)
        among = f"among those who take {arm} if assigned to it and {other} if assigned to that"
    whom = capitalised(among) if among else "Of all these people"
    if quantity.is_share:
        what = f"the share who {holds}" if quantity.given is not None else f"the share for whom {holds}"
        meaning = f"{whom}, {what}."
    else:
        meaning = f"{whom + ': ' if among else ''}{capitalised(holds.removesuffix(','))}."
    return Named(quantity.label, quantity.title, phrase, meaning, holds, among, quantity)


def _clauses(quantity: Quantity, study: Study, estimand: Estimand) -> tuple[str, str, str]:
    """The event in a few words, whom it counts, and among whom."""
    if quantity.name == STATEMENT.name:
        return quantity.phrase, quantity.holds_for, ""
    arm, other = arm_names(study, estimand)
    outcome = outcome_names(study, estimand)
    better, worse = outcome.better.format(arm, other), outcome.better.format(other, arm)
    until = f" until {estimand.horizon:g}" if estimand.horizon is not None else ""
    without = "without the event" if study.structure.description.event_is_bad else "with the event"
    found = {
        PNS.name: (f"{arm} makes the difference", better, ""),
        HARM.name: (f"{arm} does harm", worse, ""),
        PN.name: (
            f"{arm} was needed",
            f"would have had {outcome.less} under {other}",
            f"of those who chose {arm} and had {outcome.some}",
        ),
        PS.name: (
            f"{arm} would be enough",
            f"would have had {outcome.more} under {arm}",
            f"of those who chose {other} and had {outcome.short}",
        ),
        PD.name: (
            f"less under {other}",
            f"would have had {outcome.less} under {other}",
            f"of all who had {outcome.some}",
        ),
        PE.name: (
            f"more under {arm}",
            f"would have had {outcome.more} under {arm}",
            f"of all who had {outcome.short}",
        ),
        EFFECT.name: (
            f"better under {arm} than under {other}",
            f"the share for whom {better}, less the share for whom {worse},",
            "",
        ),
        TIME.name: (f"time {without}{until}", f"the mean time {without}{until} that {arm} gains over {other}", ""),
        BENEFIT.name: (
            f"what {arm} is worth",
            f"the mean worth of {arm} in place of {other} for one person, by the payoffs given,",
            "",
        ),
    }
    return found.get(quantity.name, (quantity.phrase, quantity.holds_for, ""))


def payoff_names(study: Study, estimand: Estimand) -> dict[str, str]:
    """The kinds of people that payoffs are for, in the order of `Payoffs`, to follow "a person who".

    Parameters
    ----------
    study
        Arms and outcomes by name.
    estimand
        Which arms are compared, and when.

    Returns
    -------
    By the names of `Payoffs`.
    """
    arm, other = arm_names(study, estimand)
    outcome = outcome_names(study, estimand)
    return {
        "complier": f"is helped by {arm}",
        "always": f"has the same under {arm} and {other}, {outcome.some}",
        "never": f"has the lowest outcome under {arm} and {other}",
        "defier": f"is harmed by {arm}",
    }


MAX_NAMED = 4
"""Covariates up to which a group has words where its query has a short form, as ``1101X01110``."""


def group_names(schema: Schema, labels: Labels, queries: Sequence[str]) -> list[str] | None:
    """What the groups are called that queries describe.

    Parameters
    ----------
    schema, labels
        The covariates, and words for them.
    queries
        As answers have them.

    Returns
    -------
    A name for each; None where the short form of the queries says it better: many covariates without labels.
    """
    codes = encode(schema, list(queries))
    if schema.single_character and not labels and (codes != OPEN).sum(axis=1).max(initial=0) > MAX_NAMED:
        return None
    return [labels.words(decode(schema, code).fixed) for code in codes]


def in_words(schema: Schema, labels: Labels, columns: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """A table of results with groups, covariates and their values called by name.

    Parameters
    ----------
    schema, labels
        The covariates, and words for them.
    columns
        Values by column name; `query`, `covariate` and `level` are of this schema.

    Returns
    -------
    The columns; `query` is called `group` where its cells are names.
    """
    covariates = columns.get("covariate")
    found: dict[str, Sequence[Any]] = {}
    for name, values in columns.items():
        names = group_names(schema, labels, values) if name == "query" else None
        if names is not None:
            found["group"] = names
        elif name == "covariate":
            found[name] = [labels.column(value) for value in values]
        elif name == "level" and covariates is not None:
            found[name] = [labels.value(*pair) for pair in zip(covariates, values, strict=True)]
        else:
            found[name] = values
    return found


def labelled_names(study: Study, queries: Sequence[str]) -> list[str] | None:
    """What queries are called, by the labels of a study.

    Parameters
    ----------
    study
        Its covariates, and their labels.
    queries
        As answers have them.

    Returns
    -------
    A name for each; None where nothing has a label.
    """
    return group_names(study.schema, study.labels, queries) if study.labels else None


def group_terms(study: Study, queries: Sequence[str]) -> list[list[str]]:
    """What is known of the groups of queries, by the labels of a study.

    Parameters
    ----------
    study
        Its covariates, and their labels.
    queries
        As answers have them.

    Returns
    -------
    For each group, ``Sex = female`` and the like; nothing for everyone.
    """
    fixed = [decode(study.schema, code).fixed for code in encode(study.schema, list(queries))]
    return [[study.labels.term(name, value) for name, value in each.items()] for each in fixed]
