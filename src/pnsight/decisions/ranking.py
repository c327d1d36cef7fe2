"""Which groups stand out: the best by a bound, without near-copies of one another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from pnsight._tabular import Tabular
from pnsight._typing import BoolArray, FloatArray
from pnsight.data.schema import OPEN, Codes
from pnsight.decisions.contradictions import answering_model, notes_when_left_out, refuse_all_contradicted
from pnsight.decisions.group_search import MAX_GROUPS, search_groups
from pnsight.decisions.rule import rank_with_ties, reaches
from pnsight.decisions.usual_care import usual_care_notes
from pnsight.decisions.winners_curse import LEAST_TOLD, NOT_KNOWN, overestimation
from pnsight.errors import QueryError, join_names
from pnsight.estimands.estimand import Estimand, EstimandLike
from pnsight.estimands.resolve import ROUNDING
from pnsight.models import Model
from pnsight.notes import Note
from pnsight.queries.bound_table import BoundTable, plain_numbers

By: TypeAlias = Literal["lower", "upper", "benefit", "harm"]
"""What to rank by: an end of the bounds, or the lower end of the bounds on benefit or on harm."""

RANKED_QUANTITIES: tuple[By, ...] = ("benefit", "harm")
"""Quantities that can be named in place of an end: short for their lower bounds."""

NOBODY_KNOWN_HARMED = Note("nobody_known_harmed")
"""What to say where a ranking by harm finds no group above 0."""


@dataclass(frozen=True, repr=False)
class Ranking(Tabular):
    """The best groups by one end of their bounds, each better than every more general one.

    Attributes
    ----------
    answers : bounds of the queries listed, best first
    by : what they are ranked by
    share : shape (queries,)
        Share of the people that each describes.
    adds : shape (queries,)
        By how much it exceeds the best of all more general queries; NaN where there is none.
    overestimated : by how much the estimates listed are too high on average, because they are the best of many; None
        for a model without intervals
    notes : what was looked at, and how to read it
    """

    answers: BoundTable
    by: By
    share: FloatArray
    adds: FloatArray
    overestimated: float | None
    notes: tuple[Note, ...]

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def caption(self) -> str:
        """What the ranking is by."""
        return f"groups by the {_end(self.by)} bound on {self.answers.quantity}"

    def columns(self) -> dict[str, list[Any]]:
        """The query, its share of the people, what it adds, then the columns of its answer."""
        return self.answers.columns(beside={"share": plain_numbers(self.share), "adds": plain_numbers(self.adds)})


def rank(
    model: Model,
    top: int = 20,
    by: By = "lower",
    margin: float = 0.01,
    least_share: float = 0.01,
    least_support: float = 100,
    most_candidates: int = MAX_GROUPS,
    quantity: EstimandLike = None,
    **options: Any,
) -> Ranking:
    """The best groups by a bound, among those that are worth telling apart.

    Parameters
    ----------
    model
        A fitted model.
    top
        How many to list.
    by
        ``"lower"``, ``"upper"``, or ``"benefit"`` or ``"harm"``, the lower bound on that. Where the model gives
        intervals, the low end of the bound's interval decides, since the best of many estimates is too high on average.
    margin
        A query is listed only if it exceeds every more general query, with more covariates open, by this much.
    least_share, least_support
        Share of the people, and rows in each table, that a query must have to be looked at.
    most_candidates
        All queries are looked at if they are no more than this; otherwise the best of those that fix few covariates are
        narrowed down by one covariate after the other.
    quantity, options
        What is asked, as `model.bounds` takes it.

    Returns
    -------
    The groups listed, best first. Those about which the tables contradict each other are left out; refused with
    `IncoherentError` if that leaves none.
    """
    _refuse_bad_arguments(top, by, margin, least_share, most_candidates)
    asked = _ranked_by(model, by, quantity, options)
    people, end = answering_model(model, asked), _end(by)

    def large_enough(codes: Codes) -> BoolArray:
        enough = people.shares(codes, asked.population) >= least_share - ROUNDING
        return np.asarray(enough & (people.least_rows(people.counts(codes)) >= least_support))

    def merit_of(codes: Codes) -> FloatArray:
        return _merit(model.bounds(codes, replace(asked, simultaneous=False)), end)

    found = search_groups(model.schema, large_enough, merit_of, top, most_candidates)
    looked_at: dict[str, int | None] = {"groups": found.looked_at, "of": model.schema.n_queries}
    looked_at |= {"all_fixing": found.all_fixing, "most_fixed": found.max_fixed}
    codes = found.codes
    share = people.shares(codes, asked.population)
    answers = model.bounds(codes, asked)
    refuse_all_contradicted(answers, "no group can be ranked")
    merit, estimate = _merit(answers, end), getattr(answers, end)
    adds = merit - best_more_general(codes, merit)
    fresh = np.flatnonzero(reaches(adds, margin) | (np.isnan(adds) & ~np.isnan(merit)))
    chosen = fresh[np.argsort(rank_with_ties(merit[fresh]), kind="stable")][:top]
    too_high = overestimation(answers, end, np.isin(np.arange(len(codes)), chosen).astype(np.float64), found.unselected)
    limits = {"enough": found.large_enough, "least_share": least_share, "least_support": least_support}
    notes: tuple[Note, ...] = (Note("groups_ranked", {**looked_at, **limits}),)
    if len(chosen) < top:
        others = int((~np.isnan(merit)).sum()) - len(chosen)
        notes += (Note("short_list", {"listed": len(chosen), "top": top, "others": others, "margin": margin}),)
    if too_high is None:
        notes += (NOT_KNOWN,)
    elif len(chosen):
        notes += (_caution(answers, end, (estimate - merit)[chosen].mean(), too_high),)
    listed = np.ones(len(chosen), dtype=bool)
    notes = notes_when_left_out(answers) + notes + usual_care_notes(model, codes[chosen], listed, ~listed, asked)
    return Ranking(answers.take(chosen), by, share[chosen], adds[chosen], too_high, notes)


def _ranked_by(model: Model, by: By, quantity: EstimandLike, options: Mapping[str, Any]) -> Estimand:
    """What groups are ranked by: where that is a quantity, no other may have been asked for beside."""
    if by not in RANKED_QUANTITIES:
        return model.estimand(quantity, **options)
    name = quantity if isinstance(quantity, str | None) else model.estimand(quantity).quantity.name
    if name not in (None, by):
        raise QueryError(f"groups are to be ranked by {by}, and {name} is asked for; leave one of the two out.")
    return model.estimand(by if name is None else quantity, **options)


def _caution(answers: BoundTable, end: str, below: float, too_high: float) -> Note:
    """By what groups are ranked where there are intervals, and how far the best are still overestimated."""
    shown = None if too_high < LEAST_TOLD else too_high
    return Note("ranked_cautiously", {"end": end, "level": answers.level, "below": below, "too_high": shown})


def _end(by: By) -> Literal["lower", "upper"]:
    return "upper" if by == "upper" else "lower"


def _merit(answers: BoundTable, end: Literal["lower", "upper"]) -> FloatArray:
    """What groups are ranked by, shape (groups,): where the interval of the bound begins, or the bound itself."""
    estimate: FloatArray = getattr(answers, end)
    return np.minimum(estimate, answers.interval(end)[0]) if answers.level else estimate


def best_more_general(codes: Codes, merit: FloatArray) -> FloatArray:
    """The highest merit among all more general queries of each query that are given too, NaN if there are none."""
    place, fixed = {query.tobytes(): row for row, query in enumerate(codes)}, codes != OPEN
    number, best = fixed.sum(axis=1), np.full(len(codes), np.nan)
    for many in range(1, int(number.max(initial=0)) + 1):  # those that fix fewer covariates come first
        rows = np.flatnonzero(number == many)
        which = np.nonzero(fixed[rows])[1].reshape(len(rows), many)
        for covariate in which.T:
            parents = codes[rows]
            parents[np.arange(len(rows)), covariate] = OPEN
            above = np.array([place.get(parent.tobytes(), -1) for parent in parents])
            found = np.where(above >= 0, np.fmax(best[above], merit[above]), np.nan)
            best[rows] = np.fmax(best[rows], found)
    return best


def _refuse_bad_arguments(top: int, by: str, margin: float, least_share: float, most_candidates: int) -> None:
    if by not in get_args(By):
        raise QueryError(f"cannot rank by {by!r}; expected {join_names(get_args(By))}.")
    if top < 1:
        raise QueryError(f"the top {top} are asked for; give a number of at least 1.")
    if most_candidates < 1:
        raise QueryError(f"at most {most_candidates} queries are to be looked at; give a number of at least 1.")
    if not margin >= 0:
        raise QueryError(f"the margin is {margin}; give how much a query must add, at least 0.")
    if not 0 <= least_share <= 1:
        raise QueryError(f"the least share of people is {least_share}; give a number from 0 to 1.")
