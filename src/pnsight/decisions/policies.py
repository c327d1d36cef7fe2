"""Policies: how many respond under usual care, if all or none are treated, and under the best rules.

In a profile, write a = P(y_x), b = P(y_x') and p = P(y) = P(x,y) + P(x',y). The two tables identify how many respond
- if people are left to choose, as they do now (usual care): p;
- if all are treated: a; if none is: b;
- if each is given the opposite of what they would choose: a + b - p, as P(y_x', x) = b - P(x',y) of those who would
  choose the treatment, and P(y_x, x') = a - P(x,y) of those who would not.
Each is linear in the law. The best rule by covariates takes the larger of a and b in each profile. The best rule that
also goes by what people would choose takes, for either choice, the better treatment, which is the largest of all four:
max(P(x,y), b - P(x',y)) + max(a - P(x,y), P(x',y)). So it is never worse than usual care, while a rule by covariates
may be, where people know something about themselves that the covariates do not show.

Sources: M. J. Stensrud, J. Laurendeau and A. L. Sarvet (2024), "Optimal regimes for algorithm-assisted human
decision-making", and C. F. Manski (2004), "Statistical treatment rules for heterogeneous populations"; the identities
are those of the effect on the treated (J. Pearl, "Causality", 2009, section 8.2.5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pnsight._tabular import Tabular
from pnsight._typing import FloatArray, IndexArray
from pnsight.data.law import Law
from pnsight.data.schema import Codes
from pnsight.data.structure import OBSERVATIONAL, Structure
from pnsight.data.structures import require_two_by_two
from pnsight.data.study import Population
from pnsight.data.two_by_two import X0N, X0Y, XN, XY, Y_X, Y_X0
from pnsight.decisions.considered import not_considered, possible_profiles
from pnsight.decisions.contradictions import refuse_all_contradicted
from pnsight.errors import ModelError
from pnsight.estimands.confidence import linear_standard_error
from pnsight.estimands.critical_values import normal_density, two_sided
from pnsight.estimands.estimand import DEFAULT_LEVEL
from pnsight.estimands.quantities import EFFECT
from pnsight.estimands.resolve import OK, ROUNDING
from pnsight.models import Model
from pnsight.notes import WARNING, Note
from pnsight.queries import lattice
from pnsight.queries.bound_table import CONTRADICTED, plain_numbers, validate_level
from pnsight.queries.query import QueryLike, decode, encode, format_queries

USUAL, TREAT_ALL, TREAT_NONE = "usual-care", "treat-all", "treat-none"
BY_COVARIATES, BY_CHOICE = "covariates", "covariates-and-choice"
POLICIES = (USUAL, TREAT_ALL, TREAT_NONE, BY_COVARIATES, BY_CHOICE)
"""Policies by name, in the order in which they are listed."""

_OPTIONS: tuple[Mapping[str, float], ...] = (
    {XY: 1, X0Y: 1},
    {Y_X: 1},
    {Y_X0: 1},
    {Y_X: 1, Y_X0: 1, XY: -1, X0Y: -1},
)
"""What can be done with the people of a profile, and how many of them then respond, as sums of cells: leave the choice
to them, treat all, treat none, or give each the opposite of what they would choose."""

_ALLOWED = {USUAL: (0,), TREAT_ALL: (1,), TREAT_NONE: (2,), BY_COVARIATES: (1, 2), BY_CHOICE: (0, 1, 2, 3)}
"""Which of the options a policy chooses from in each profile; where two are as good, the first."""

_CHOICES = ((XY, XN), (X0Y, X0N))
"""Cells of those who choose the treatment, and of those who do not."""

_TREATS_OTHERS = np.array([False, True, False, True])
_LEAVES_OUT = np.array([False, False, True, True])
"""Under each option, whether those are treated who would not choose it, and are not who would."""

_NEARLY_AS_GOOD = 2.0
"""An option that is behind by fewer standard errors than this may be the best one."""


@dataclass(frozen=True, repr=False)
class Policies(Tabular):
    """What each policy brings, one row a query and policy; arrays of shape (rows,).

    Attributes
    ----------
    queries, policy : of whom, and which
    value, low, high : share of the people who respond, and its interval; NaN without intervals
    gain, gain_low, gain_high : by how much more respond than under usual care, and its interval
    treated : share of the people who are treated
    overruled_to_treat, overruled_to_not : shares who are treated, or not, although they would choose otherwise
    level : confidence of the intervals; None for a model without
    notes : what a reader should know
    """

    queries: tuple[str, ...]
    policy: tuple[str, ...]
    value: FloatArray
    low: FloatArray
    high: FloatArray
    gain: FloatArray
    gain_low: FloatArray
    gain_high: FloatArray
    treated: FloatArray
    overruled_to_treat: FloatArray
    overruled_to_not: FloatArray
    level: float | None
    notes: tuple[Note, ...]

    NUMBERS = (
        "value",
        "low",
        "high",
        "gain",
        "gain_low",
        "gain_high",
        "treated",
        "overruled_to_treat",
        "overruled_to_not",
    )

    def __len__(self) -> int:
        return len(self.policy)

    @property
    def caption(self) -> str:
        """What is shown."""
        return "share of the people who respond under each policy, and how many more than under usual care"

    def columns(self) -> dict[str, list[Any]]:
        """The query, the policy, and its numbers."""
        numbers = {name: plain_numbers(getattr(self, name)) for name in self.NUMBERS}
        return {"query": list(self.queries), "policy": list(self.policy), **numbers}

    def of(self, policy: str, row: int = 0) -> dict[str, float | None]:
        """The numbers of a policy, for the query in that place."""
        at = row * len(POLICIES) + POLICIES.index(policy)
        return {name: plain_numbers(getattr(self, name)[[at]])[0] for name in self.NUMBERS}


def policies(
    model: Model,
    queries: QueryLike = None,
    level: float = DEFAULT_LEVEL,
    population: Population | None = None,
) -> Policies:
    """How many respond under usual care, if all or none are treated, and under the best rules the model knows.

    Parameters
    ----------
    model
        A fitted model that knows the law of two arms and two outcomes from both tables.
    queries
        About whom, as `model.bounds` takes it; by default everyone.
    level
        Confidence of the intervals, of models that give any.
    population
        Whose people are meant; by default the model's.

    Returns
    -------
    Five policies a query: ``usual-care``, ``treat-all``, ``treat-none``, ``covariates`` (in each profile the better of
    the two) and ``covariates-and-choice`` (the same, for those who would choose the treatment and for others). The
    value of a rule is that of the rule as it was learned, not of the best one there could be. Profiles without an
    answer are taken to be like the others of the query.
    """
    validate_policies(model)
    validate_level(level)
    if population is not None:
        model.validate_population(population)
    asked = encode(model.schema, queries)
    study = _Profiles.of(model, population)
    whole = None if population is not None else model.law(asked)
    laws = [None] * len(asked) if whole is None else list(whole.cells)
    found = [study.of_query(query, law, level) for query, law in zip(asked, laws, strict=True)]
    names = format_queries(model.schema, asked)
    groups = [model.study.labels.words(decode(model.schema, each).fixed) for each in asked]
    table = {name: np.array([numbers[name] for one in found for numbers in one]) for name in Policies.NUMBERS}
    return Policies(
        tuple(name for name in names for _ in POLICIES),
        POLICIES * len(names),
        **table,
        level=level if model.capabilities.intervals else None,
        notes=(*model.caveats, *study.notes, *_compared(names, groups, found)),
    )


def validate_policies(model: Model) -> None:
    """Refuse a model that does not know how many respond under usual care and under each treatment."""
    require_two_by_two(model.structure, "policies are compared for", "decide, which says which arm is best")
    if not model.capabilities.law:
        raise ModelError(
            f"policies are compared by the law of each profile, and a {model.name} model knows bounds only; fit a "
            "response-types or plug-in model."
        )
    if OBSERVATIONAL not in model.structure.tables:
        raise ModelError(
            "usual care is what people have who choose for themselves, which an experiment alone does not show; fit "
            "with an observational table too."
        )


@dataclass(frozen=True)
class _Profiles:
    """What is known about each profile.

    Attributes
    ----------
    codes : shape (profiles, covariates)
    law : their laws, all of them known
    share : shape (profiles,)
        Share of the people.
    rows : shape (profiles, groups)
        Effective rows behind each law.
    people : effective rows that shares were counted in
    shrunk : whether laws are shrunk to what others show, so that the best of them are not too good
    intervals : whether the model says how far it may be off
    notes : who was left out
    """

    codes: Codes
    law: Law
    share: FloatArray
    rows: FloatArray
    people: float
    shrunk: bool
    intervals: bool
    notes: tuple[Note, ...]

    @classmethod
    def of(cls, model: Model, population: Population | None) -> _Profiles:
        codes = possible_profiles(model.study)
        answers = model.bounds(codes, EFFECT)
        refuse_all_contradicted(answers, "policies cannot be compared", "fit tables that agree")
        law, share = model.law(codes), model.shares(codes, population)
        known = (answers.status == OK) & ~np.isnan(law.cells).any(axis=1) & (share > 0)
        contradicted = answers.status == CONTRADICTED
        left_out = {"contradicted": contradicted, "no_answer": ~known & ~contradicted}
        shrunk = model.capabilities.learns_across_profiles
        return cls(
            codes[known],
            law[known],
            share[known],
            _rows_behind(model, codes[known], shrunk),
            _people(model, population),
            shrunk,
            model.capabilities.intervals,
            tuple(not_considered(share, left_out)),
        )

    def of_query(self, query: npt.NDArray[np.int32], whole: FloatArray | None, level: float) -> list[dict[str, float]]:
        """The numbers of each policy for the people of a query, whose own law is `whole` if that is known."""
        inside = lattice.matching_profiles(self.codes, query)
        if not len(inside) or (whole is not None and np.isnan(whole).any()):
            return [dict.fromkeys(Policies.NUMBERS, np.nan) for _ in POLICIES]
        law, part = self.law[inside], float(self.share[inside].sum())
        share = self.share[inside] / part
        moved = np.zeros(law.structure.n_cells) if whole is None else whole - share @ law.cells
        group = _Group(law, share, self.rows[inside], moved, max(1.0, self.people * part))
        return [self._numbers(group, _ALLOWED[policy], level) for policy in POLICIES]

    def _numbers(self, group: _Group, allowed: tuple[int, ...], level: float) -> dict[str, float]:
        option = _choose(group.law, allowed)
        excess = 0.0 if self.shrunk else group.excess(option, allowed)
        z = two_sided(level) if self.intervals else np.nan
        found: list[float] = []
        for least, against in ((0.0, None), (-1.0, 0)):
            value = float(np.clip(group.mean(option, against) - excess, least, 1.0))
            reach = z * group.standard_error(option, allowed, against)
            ends = [max(value - reach, least), min(value + excess + reach, 1.0)]
            found += [value, *(ends if self.intervals else [z, z])]
        return dict(zip(Policies.NUMBERS, (*found, *group.overruled(option)), strict=True))


@dataclass(frozen=True)
class _Group:
    """The profiles of a query.

    Attributes
    ----------
    law : of each profile
    share : shape (profiles,)
        Of the people of the query; they add up to one.
    rows : shape (profiles, groups)
        Effective rows behind each law.
    moved : shape (cells,)
        By how much laws of profiles are moved, all alike, so that on average they are the query's own.
    people : effective rows that the shares were counted in
    """

    law: Law
    share: FloatArray
    rows: FloatArray
    moved: FloatArray
    people: float

    def _terms(self, option: IndexArray | int, against: IndexArray | int | None) -> FloatArray:
        """How many respond under an option, or how many more than under another, as functions of the law.

        Shape (profiles, cells).
        """
        coefficients = _coefficients(self.law.structure)
        terms = coefficients[option] - (0.0 if against is None else coefficients[against])
        return np.broadcast_to(terms, self.law.cells.shape)

    def _each(self, terms: FloatArray) -> FloatArray:
        return np.asarray((terms * self.law.cells).sum(axis=1))

    def mean(self, option: IndexArray, against: int | None) -> float:
        """How many respond, or how many more, if each profile has its option."""
        terms = self._terms(option, against)
        return float(self.share @ self._each(terms) + (self.share @ terms) @ self.moved)

    def standard_error(self, option: IndexArray, allowed: tuple[int, ...], against: int | None) -> float:
        """Of that mean: rows of profiles are independent, and shares of people have an error of their own.

        Where another option is nearly as good it may be the better one, and the larger error of the two is taken.
        """
        terms = self._terms(option, against)
        error = linear_standard_error(terms, self.law, self.rows)
        for other in allowed:
            near = self._ahead(option, other)[0] < _NEARLY_AS_GOOD
            rival = linear_standard_error(self._terms(other, against), self.law, self.rows)
            error = np.where(near, np.fmax(error, rival), error)
        each = self._each(terms)
        between = float(self.share @ (each - self.share @ each) ** 2) / self.people
        return float(np.sqrt((self.share**2 * error**2).sum() + between))

    def _ahead(self, option: IndexArray, other: int) -> tuple[FloatArray, FloatArray]:
        """By how many standard errors an option is ahead of another, and that error, shape (profiles,) each."""
        terms = self._terms(option, other)
        error = linear_standard_error(terms, self.law, self.rows)
        found = np.divide(self._each(terms), error, out=np.full(len(error), np.inf), where=error > 0)
        return found, error

    def excess(self, option: IndexArray, allowed: tuple[int, ...]) -> float:
        """By how much the best of noisy options looks better than it is, on average, or more: intervals reach over it.

        Of two options whose estimated difference D has the standard error s, the chosen one is overestimated by
        s phi(D/s) on average (the truth in place of D). With the estimate in its place and a factor of the square root
        of two it is no less on average. Those of several others add up, as a bound.
        """
        found = 0.0
        for other in allowed:
            ahead, error = self._ahead(option, other)
            each = np.where(option == other, 0.0, np.sqrt(2) * error * normal_density(ahead))
            found += float(self.share @ each)
        return found if found > ROUNDING else 0.0

    def overruled(self, option: IndexArray) -> tuple[float, float, float]:
        """Shares of the people who are treated, are treated against their choice, and are not against it."""
        cells = Law(self.law.structure, self.law.cells + self.moved)
        chosen, otherwise = (cells.p(one) + cells.p(other) for one, other in _CHOICES)
        to_treatment = float(self.share @ np.where(_TREATS_OTHERS[option], otherwise, 0.0))
        to_none = float(self.share @ np.where(_LEAVES_OUT[option], chosen, 0.0))
        return float(self.share @ chosen) - to_none + to_treatment, to_treatment, to_none


def _coefficients(structure: Structure) -> FloatArray:
    """How many respond under each option, as a linear function of the law, shape (options, cells)."""
    found = np.zeros((len(_OPTIONS), structure.n_cells))
    for row, cells in enumerate(_OPTIONS):
        for cell, factor in cells.items():
            found[row, structure.column(cell)] = factor
    return found


def option_values(law: Law) -> FloatArray:
    """How many respond if people are left to choose, all are treated, none is, and all have the opposite.

    Parameters
    ----------
    law
        Laws of two arms and two outcomes from both tables, one group a row.

    Returns
    -------
    Shape (rows, 4).
    """
    return np.asarray(law.cells @ _coefficients(law.structure).T)


def policy_values(law: Law, share: FloatArray) -> dict[str, float]:
    """How many respond under each policy where laws of profiles are known exactly.

    Parameters
    ----------
    law
        Laws of profiles, one a row.
    share : shape (rows,)
        Share of the people that each profile has.

    Returns
    -------
    By policy, the share of the people who respond.
    """
    values = option_values(law)
    return {name: float(share @ values[:, list(allowed)].max(axis=1)) for name, allowed in _ALLOWED.items()}


def values_if_learned(learned: Law, truth: Law) -> dict[str, FloatArray]:
    """How many truly respond in each profile if rules go by what was learned.

    Parameters
    ----------
    learned, truth
        Laws of the same profiles, one a row: as a model has them, and as they are.

    Returns
    -------
    By policy, shape (profiles,).
    """
    values, each = option_values(truth), np.arange(len(truth))
    return {name: values[each, _choose(learned, allowed)] for name, allowed in _ALLOWED.items()}


def _rows_behind(model: Model, codes: Codes, shrunk: bool) -> FloatArray:
    """Effective rows behind the law of each profile, shape (profiles, groups).

    A model that learns from others has a law also without rows; its error is taken to be that of as many rows as are
    to be expected of such people.
    """
    structure, study = model.structure, model.study
    if not shrunk:
        return structure.by_group(lattice.sum_over(study.schema, codes, study.profiles, study.cell_evidence))
    expected = {table: model.shares(codes, _whose(table)) for table in structure.tables}
    rows = structure.by_group(study.cell_evidence.sum(axis=0))
    return np.column_stack([expected[group.table] * many for group, many in zip(structure.groups, rows, strict=True)])


def _whose(table: str) -> Population:
    return "observational" if table == OBSERVATIONAL else "experimental"


def _people(model: Model, population: Population | None) -> float:
    """Effective rows that shares of people were counted in."""
    effective = model.study.with_counts(model.study.effective_counts)
    return float(effective.profile_counts(population or "observational").sum())


def _compared(
    names: Sequence[str], groups: Sequence[str], found: Sequence[Sequence[Mapping[str, float]]]
) -> list[Note]:
    """Where usual care is better than the best rule by covariates, as far as is known."""
    rows = [dict(zip(POLICIES, one, strict=True)) for one in found]
    worse = [row for row, one in enumerate(rows) if one[BY_COVARIATES]["gain"] < -ROUNDING]
    if not worse:
        return []
    first = rows[worse[0]]
    values = {
        "queries": len(worse),
        "of": len(rows),
        "query": names[worse[0]],
        "group": groups[worse[0]],
        "usual": first[USUAL]["value"],
        "rule": first[BY_COVARIATES]["value"],
        "choice": first[BY_CHOICE]["value"],
        "surely": bool(first[BY_COVARIATES]["gain_high"] < 0),
    }
    return [Note("usual_care_beats_rule", values, WARNING)]


def _choose(law: Law, allowed: tuple[int, ...]) -> IndexArray:
    """The best of the options allowed in each profile, shape (profiles,); the first, where only rounding differs."""
    values = option_values(law)[:, list(allowed)]
    best = values >= values.max(axis=1, keepdims=True) - ROUNDING
    return np.asarray(np.array(allowed, dtype=np.intp)[best.argmax(axis=1)])
