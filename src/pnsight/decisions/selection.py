"""Whom to treat with a budget: the profiles that gain most for what they cost.

Exact profiles do not overlap, so people are counted once. For each of them three numbers say what treating one person
of the profile brings:

- ``guaranteed``, the lower bound: at least this share respond if treated and would not otherwise;
- ``best_case``, the upper bound: at most this share do;
- ``net``, P(y_x) - P(y_x'): by how much more of them respond if all are treated than if none is. It is identified, and
  is those whom the treatment helps less those whom it harms, so for PNS it is never above the lower bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from pnsight._tabular import Tabular
from pnsight._typing import BoolArray, FloatArray
from pnsight.data.schema import Codes, Schema
from pnsight.data.two_by_two import Y_X, Y_X0
from pnsight.decisions.considered import not_considered, possible_profiles
from pnsight.decisions.contradictions import answering_model, refuse_all_contradicted
from pnsight.decisions.harm_cap import spend_with_cap, validate_harm_caps
from pnsight.decisions.rule import cautious_ends, extrapolated, rank_with_ties
from pnsight.decisions.usual_care import usual_care_notes
from pnsight.decisions.winners_curse import LEAST_TOLD, NOT_KNOWN, overestimation
from pnsight.errors import ModelError, QuantityError, QueryError, join_names
from pnsight.estimands.estimand import Estimand, EstimandLike
from pnsight.estimands.quantities import EFFECT, HARM, find_quantity, known_quantities
from pnsight.estimands.resolve import OK, ROUNDING
from pnsight.models import Model
from pnsight.notes import Note
from pnsight.queries import lattice
from pnsight.queries.bound_table import CONTRADICTED, BoundTable, plain_numbers
from pnsight.queries.query import encode, format_queries

Gain: TypeAlias = Literal["guaranteed", "net", "best_case"]
"""What a budget is spent for."""

_LARGEST = 1e15
"""Amounts beyond this, or below its inverse, are slips of the pen whose products would overflow."""

_CAPPED_POINTS = 21
"""Budgets at which the gain is found where harm is capped."""

Cost: TypeAlias = float | Mapping[str, float]


@dataclass(frozen=True, repr=False)
class Selection(Tabular):
    """Profiles in the order in which a budget is spent on them, all that gain something.

    Numbers of people are shares of the population unless `people` says how many it has. All arrays have shape
    (profiles,).

    Attributes
    ----------
    answers : bounds of each profile
    crowd : people of the profile
    treated : how many of them the budget is enough for
    price : what treating one of them costs
    guaranteed, net, best_case : what treating one of them brings
    people : people in the population; None if numbers are shares
    notes : what a reader should know
    harm : upper end of the bounds on harm among those of the profile; None where nobody asked for a cap on it
    harm_cap : share of all who are treated that may be harmed at most; None without a cap
    by : what the budget is spent for
    considered : people of the profiles that were considered, in the unit of `crowd`
    treat_all : what treating all of them would bring, by the names of the gains, and of ``harmed`` where that is known
    """

    answers: BoundTable
    crowd: FloatArray
    treated: FloatArray
    price: FloatArray
    guaranteed: FloatArray
    net: FloatArray
    best_case: FloatArray
    people: float | None
    notes: tuple[Note, ...]
    harm: FloatArray | None = None
    harm_cap: float | None = None
    by: Gain = "guaranteed"
    considered: float = 1.0
    treat_all: Mapping[str, float] = field(default_factory=dict)

    @property
    def caption(self) -> str:
        """Whom the budget is enough for, and what it brings."""
        total = {
            name: f"{number:,.4g}" if self.people is None else f"{number:,.1f}"
            for name, number in self.totals().items()
        }
        of = "of the population" if self.people is None else f"of {self.people:,.0f} people"
        net = "" if np.isnan(self.net).all() else f"; net of those harmed, {total['net']} more respond than untreated"
        gain = find_quantity(self.answers.quantity).gained or f"is the {self.answers.quantity}"
        ends = f"at least {total['guaranteed']} and at most {total['best_case']}"
        harmed = "" if self.harm is None else f"; at most {self.harmed_share():.2%} of those treated are harmed"
        return f"treat {total['treated']} {of}: {ends} {gain}{net}{harmed}"

    def harmed_share(self) -> float:
        """Which share of those treated are harmed at most; 0 if nobody is treated."""
        total = float(self.treated.sum())
        if self.harm is None or not total:
            return 0.0
        return float(self.treated @ np.nan_to_num(self.harm, nan=1.0)) / total

    def totals(self) -> dict[str, float]:
        """What is spent, people treated, and the gain of all of them together."""
        return {name: float(values.sum()) for name, values in self._amounts(self.treated).items()}

    def baselines(self) -> dict[str, dict[str, float]]:
        """What the budget's choice is compared with: as many treated at random, and all treated.

        Returns
        -------
        By ``at-random`` and ``treat-all``: people treated, and their gain together; of those who were considered.
        """
        treated = float(self.treated.sum())
        part = treated / self.considered if self.considered else 0.0
        return {
            "at-random": {"treated": treated, **{name: part * gain for name, gain in self.treat_all.items()}},
            "treat-all": {"treated": self.considered, **self.treat_all},
        }

    def columns(self) -> dict[str, list[Any]]:
        """One row for each profile treated: its people, what is spent, those treated and their gain together."""
        some = np.flatnonzero(self.treated > 0)
        amounts = {"people": self.crowd, **self._amounts(self.treated)}
        beside = {name: plain_numbers(values[some]) for name, values in amounts.items()}
        columns = self.answers.take(some).columns(beside)
        return columns if self.harm is None else {**columns, "harm_upper": plain_numbers(self.harm[some])}

    def curve(self) -> dict[str, list[Any]]:
        """Gain against what is spent, were it enough for the first profile, the first two, and so on to all that gain.

        Between two points the gain grows evenly, since part of a profile can be treated. With a cap on harm, at evenly
        spaced budgets.
        """
        if self.harm is not None and self.harm_cap is not None:
            return self._capped_curve(self.harm, self.harm_cap)
        amounts = self._amounts(self.crowd)
        return {name: plain_numbers(np.append(0.0, np.cumsum(values))) for name, values in amounts.items()}

    def _capped_curve(self, harm: FloatArray, cap: float) -> dict[str, list[Any]]:
        everything = float((self.crowd * self.price).sum())
        most = spend_with_cap(getattr(self, self.by), self.price, self.crowd, everything, harm, cap) @ self.price
        points = [
            self._amounts(spend_with_cap(getattr(self, self.by), self.price, self.crowd, budget, harm, cap))
            for budget in np.linspace(0.0, float(most), _CAPPED_POINTS)
        ]
        return {name: [float(point[name].sum()) for point in points] for name in points[0]}

    def _amounts(self, treated: FloatArray) -> dict[str, FloatArray]:
        """What is spent and gained in each profile if so many are treated."""
        gains = {"guaranteed": self.guaranteed, "net": self.net, "best_case": self.best_case}
        return {"spent": treated * self.price, "treated": treated, **{name: treated * gains[name] for name in gains}}


def select(
    model: Model,
    budget: float,
    people: float | None = None,
    cost: Cost | None = None,
    by: Gain = "guaranteed",
    cautious: bool = False,
    least_support: float = 0,
    quantity: EstimandLike = None,
    extrapolate: bool = False,
    max_harm: float | None = None,
    max_harm_each: float | None = None,
    **options: Any,
) -> Selection:
    """Whom to treat with a budget, profile by profile, and what is gained at least, net, and at most.

    Parameters
    ----------
    model
        A fitted model.
    budget
        How many people can be treated: a share of the population, a number if `people` is given, or money if `cost` is
        given too.
    people
        How many people the population has.
    cost
        What it costs to treat one person; or a mapping from queries to costs, of which the last that fits counts.
    by
        What to spend it for: ``"guaranteed"``, ``"net"`` or ``"best_case"``. Those who gain most per cost come first;
        profiles that gain nothing are left out even if the budget would be enough.
    cautious
        Take for guaranteed the low end of the lower bound's interval, and for the best case the high end of the upper
        bound's; for models that give intervals.
    least_support
        Rows in each table that a profile must have to be considered.
    quantity, options
        What is asked, as `model.bounds` takes it. The quantity must be a gain: ``"pns"`` or ``"benefit"``.
    extrapolate
        Whether to consider also profiles whose answer is extrapolated, as nobody like them was seen.
    max_harm, max_harm_each
        Which share of all who are treated, and of those of each profile, may be harmed by it at most: the upper end of
        the bounds on harm, or of its interval with caution. By default any.

    Returns
    -------
    The profiles to treat, those that gain most per cost first. Those about which the tables contradict each other are
    left out; refused with `IncoherentError` if that leaves none.
    """
    _refuse_bad_arguments(budget, people, cost, by)
    validate_harm_caps(max_harm, max_harm_each)
    if by == "net" and not model.capabilities.law:
        raise ModelError(f"a {model.name} model knows bounds, not the net effect; fit response-types or plug-in.")
    asked = model.estimand(quantity, **options)
    if by == "net" and _effect(model, asked) is None:
        raise QuantityError("the net effect is not known from these tables; use by guaranteed or best_case (--by).")
    whose = answering_model(model, asked)
    codes = possible_profiles(whose.study)
    answers = model.bounds(codes, asked)
    _refuse_no_gain(answers.quantity)
    refuse_all_contradicted(answers, "a budget cannot be spent")
    share, price = whose.shares(codes, asked.population), _prices(model.schema, codes, cost)
    lower, upper = cautious_ends(answers) if cautious else (answers.lower, answers.upper)
    net = np.where(answers.status == OK, _net(whose, codes, asked), np.nan)
    gains = {"guaranteed": lower, "net": net, "best_case": upper}
    few = whose.least_rows(whose.counts(codes)) < least_support
    left_out = _left_out(answers, few, extrapolated(answers) & (not extrapolate))
    harm = None
    if max_harm is not None or max_harm_each is not None:
        harm = _harm(model, codes, asked, cautious)
        most = 1.0 if max_harm_each is None else max_harm_each
        left_out["too_much_harm"] = (answers.status == OK) & ~(harm <= most)
    enough = ~np.any(list(left_out.values()), axis=0)
    order = _by_merit(gains[by] / price, gains["net"] / price, np.where(enough, share, 0.0))
    crowd = share[order] * (people or 1.0)
    before = np.append(0.0, np.cumsum(crowd * price[order]))[:-1]
    treated = np.clip((budget - before) / price[order], 0.0, crowd)
    if harm is not None and max_harm is not None:
        treated = spend_with_cap(gains[by][order], price[order], crowd, budget, harm[order], max_harm)
    some = treated > 0
    return Selection(
        answers.take(order),
        crowd,
        treated,
        price[order],
        **{name: values[order] for name, values in gains.items()},
        people=people,
        notes=(
            *(note for note in answers.notes if note.kind != "answers_contradicted"),
            *not_considered(share, left_out),
            *_cautions(answers, order, treated, gains["net"][order]),
            *usual_care_notes(model, codes[order][some], some[some], ~some[some], asked),
        ),
        harm=None if harm is None else harm[order],
        harm_cap=max_harm,
        by=by,
        considered=float(share[enough].sum()) * (people or 1.0),
        treat_all={
            name: float(share[enough] @ each[enough]) * (people or 1.0)
            for name, each in (gains if harm is None else {**gains, "harmed": harm}).items()
        },
    )


def _harm(model: Model, codes: Codes, asked: Estimand, cautious: bool) -> FloatArray:
    """Upper end of the bounds on harm in each profile, NaN without an answer, shape (profiles,)."""
    if asked.is_statement:
        raise QuantityError("a cap on harm goes with a quantity, and a statement is asked about; leave one out.")
    found = model.bounds(codes, asked.of_quantity(HARM))
    return cautious_ends(found)[1] if cautious else found.upper


def _effect(model: Model, asked: Estimand) -> Estimand | None:
    """The effect of what is asked about, None where the law does not say it, as with slack."""
    if asked.is_statement or asked.is_relaxed:
        return None
    found = Estimand(EFFECT, contrast=asked.contrast, horizon=asked.horizon)
    return found if found.compiled(model.structure).is_point else None


def _net(model: Model, codes: Codes, asked: Estimand) -> FloatArray:
    """P(y_x) - P(y_x') of each profile, NaN for a model that does not know the law, or where that does not say it."""
    effect = _effect(model, asked)
    if not model.capabilities.law or effect is None:
        return np.full(len(codes), np.nan)
    law = model.law(codes)
    if model.structure.is_two_by_two and asked.contrast is None:
        return law.p(Y_X) - law.p(Y_X0)
    return effect.bounds_at(law)[0]


def _prices(schema: Schema, codes: Codes, cost: Cost | None) -> FloatArray:
    """What treating one person of each profile costs, shape (profiles,)."""
    if not isinstance(cost, Mapping):
        return np.full(len(codes), 1.0 if cost is None else cost)
    price = np.full(len(codes), np.nan)
    for query, amount in cost.items():
        price[lattice.matching_profiles(codes, encode(schema, query)[0])] = amount
    if np.isnan(price).any():
        some = format_queries(schema, codes[np.isnan(price)][:1])[0]
        raise QueryError(f"no cost is given for {some!r}; give one for everyone too, under the empty query ''.")
    return price


def _by_merit(merit: FloatArray, tie: FloatArray, share: FloatArray) -> npt.NDArray[np.intp]:
    """Profiles that have people and gain something, most first; those that gain alike by what ties are broken with."""
    order = np.lexsort((rank_with_ties(tie), rank_with_ties(merit)))
    gains = merit > ROUNDING * np.abs(merit[np.isfinite(merit)]).max(initial=0.0)
    return np.asarray(order[(gains & (share > 0))[order]])


def _left_out(answers: BoundTable, few: BoolArray, unlike: BoolArray) -> dict[str, BoolArray]:
    """Which profiles are not considered, by the first reason that holds, shape (profiles,) each.

    `few` have few rows, and `unlike` are like nobody who was seen.
    """
    answered = answers.status == OK
    contradicted = answers.status == CONTRADICTED
    return {
        "contradicted": contradicted,
        "no_answer": ~answered & ~contradicted,
        "extrapolated": unlike,
        "few_rows": few & answered & ~unlike,
    }


def _cautions(answers: BoundTable, order: npt.NDArray[np.intp], treated: FloatArray, net: FloatArray) -> list[Note]:
    """What may be worse than it looks."""
    weights = np.zeros(len(answers))
    weights[order] = treated
    too_high = overestimation(answers, "lower", weights)
    harmed = int(((net < 0) & (treated > 0)).sum())
    notes = [NOT_KNOWN] if too_high is None else []
    if too_high is not None and too_high >= LEAST_TOLD and treated.any():
        notes.append(Note("winners_curse", {"too_high": too_high, "in_all": too_high * treated.sum()}, "warning"))
    if harmed:
        notes.append(Note("harm_among_treated", {"profiles": harmed}, "warning"))
    return notes


def _refuse_no_gain(quantity: str) -> None:
    if find_quantity(quantity).direction != "gain":
        gains = [one.name for one in known_quantities().values() if one.direction == "gain"]
        raise QuantityError(
            f"{quantity} is not what treating a person brings, so a budget cannot be spent for it; use one of "
            f"{join_names(gains)}."
        )


def _refuse_bad_arguments(budget: float, people: float | None, cost: Cost | None, by: str) -> None:
    if by not in get_args(Gain):
        raise QueryError(f"cannot spend a budget by {by!r}; expected {join_names(get_args(Gain))}.")
    if not 0 <= budget <= _LARGEST:
        raise QueryError(f"the budget is {budget:g}; give a number of at least 0, at most {_LARGEST:g}.")
    if people is not None and not 1 / _LARGEST <= people <= _LARGEST:
        raise QueryError(f"the population has {people:g} people; give a number above 0, at most {_LARGEST:g}.")
    if people is None and cost is not None:
        raise QueryError(
            "a cost is given, but not for how many people; say how many there are with --people (people=)."
        )
    if people is None and budget > 1:
        raise QueryError(
            f"the budget is {budget:g}; without a number of people it is a share of the population, at most 1. "
            "Say how many people there are with --people (people=)."
        )
    for amount in cost.values() if isinstance(cost, Mapping) else [] if cost is None else [cost]:
        if not 1 / _LARGEST <= amount <= _LARGEST:
            raise QueryError(f"a cost is {amount:g}; give what treating one costs, above 0, at most {_LARGEST:g}.")
