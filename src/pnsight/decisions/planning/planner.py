"""Which people to sample more of: where further rows are expected to settle most decisions.

A decision is uncertain for one of two reasons. The true bounds may lie on both sides of the threshold: then no rows
help. Or rows are lacking, and an interval reaches across it. This says where rows would help, without fitting again:
how much of the doubt they would leave (`doubt`, with `reach`), and what would then be decided (`outlook`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from pnsight._tabular import Tabular
from pnsight._typing import FloatArray
from pnsight.data.schema import Codes
from pnsight.data.structures import require_two_by_two
from pnsight.data.study import Population, Study
from pnsight.decisions.contradictions import notes_when_left_out, refuse_all_contradicted
from pnsight.decisions.planning.expected_decisions import ALL, NONE, Outlook
from pnsight.decisions.planning.variance_left import Crowd, Table, doubt_left, split
from pnsight.decisions.ranking import best_more_general
from pnsight.decisions.rule import UNCERTAIN, Decisions, decided
from pnsight.errors import ModelError, QueryError, join_names
from pnsight.estimands.estimand import Estimand, EstimandLike
from pnsight.estimands.resolve import ROUNDING
from pnsight.models import Model
from pnsight.models.base import levels_instead
from pnsight.notes import Note
from pnsight.queries import lattice
from pnsight.queries.bound_table import plain_numbers, validate_level
from pnsight.queries.query import QueryLike, encode, format_queries

MOST_CANDIDATES = 500
"""Groups that fix two covariates are compared if all are no more than this, else those that fix one."""

MOST_ROWS = 1e12
"""More rows than this there are of nothing that is sampled."""

BETTER = 1.05
"""A group is listed if it settles more than every more general one, by this factor."""


@dataclass(frozen=True, repr=False)
class Plan(Tabular):
    """Groups to sample more of, those that settle most decisions first; all shares are of everyone.

    Arrays have shape (groups,).

    Attributes
    ----------
    queries : the groups
    share : share of the people who are in the group
    uncertain : who are in the group and whose decision is uncertain now
    stays : who are in the group and are expected to stay uncertain with unlimited rows of both tables
    change : expected change of the share of people, in the group or not, whose decision is uncertain
    treat, leave : expected change of the share decided to treat, and not to treat
    fresh : share of people whose decision a fresh fit without further rows is expected to leave uncertain
    at_random : the expected change if the rows came from everyone
    rows, table : what is added
    deciding : when a decision is made, in words
    notes : what a reader should know
    """

    queries: Sequence[str]
    share: FloatArray
    uncertain: FloatArray
    stays: FloatArray
    change: FloatArray
    treat: FloatArray
    leave: FloatArray
    fresh: float
    at_random: float
    rows: float
    table: Table
    deciding: str
    notes: tuple[Note, ...]

    @property
    def caption(self) -> str:
        """What is expected, and of what."""
        into = "half to each table" if self.table == "both" else f"to the {self.table} table"
        return (
            f"experimental: expected change of the share of people whose decision is uncertain ({self.deciding}), "
            f"if {self.rows:,.0f} rows from the group are added {into}"
        )

    def columns(self) -> dict[str, list[Any]]:
        """The group, its share of the people, who is uncertain and who stays so, and what would change."""
        shares = {"share": self.share, "uncertain": self.uncertain, "stays": self.stays}
        changes = {"change": self.change, "treat": self.treat, "not": self.leave}
        plain = {name: plain_numbers(values) for name, values in {**shares, **changes}.items()}
        return {"query": list(self.queries), **plain}


def plan(
    model: Model,
    threshold: float | None = None,
    rows: float = 1000,
    table: Table = "experimental",
    candidates: QueryLike = None,
    top: int = 10,
    level: float = 0.9,
    least_share: float = 0.02,
    random_state: int = 0,
    quantity: EstimandLike = None,
    **options: Any,
) -> Plan:
    """Which groups to sample more of, so that most decisions are settled. Experimental.

    People are decided on by their full profile, and cautiously: where the whole interval of the deciding end agrees. A
    change is that of a fresh fit with the rows against a fresh fit without them.

    Parameters
    ----------
    model
        A response-type model with intervals.
    threshold
        Treat where the quantity is at least this; by default as `decide` has it.
    rows, table
        How many rows are added, drawn at random from the people of a group, and to which table: ``"experimental"``,
        ``"observational"``, or half to each, ``"both"``. The trial treats the same share of them as so far.
    candidates, least_share
        Groups to compare, as queries. By default those that fix one or two covariates and hold at least this share of
        the people, of which the ones are listed that settle more than every more general one.
    top
        How many to list.
    level
        Confidence of the decisions.
    random_state
        Seed of the people drawn where profiles are too many to look at them all.
    quantity, options
        What is asked, as `model.bounds` takes it.

    Returns
    -------
    The groups whose rows settle most, best first.
    """
    check_plannable(model)
    fitted = _with_intervals(model)
    _refuse_numbers(fitted)
    _refuse_bad_arguments(fitted.study, rows, table, top, level, least_share)
    asked = fitted.estimand(quantity, level=level, **options)
    population = asked.population
    codes, share, compared = _groups(fitted, candidates, least_share, population)
    crowd = Crowd.of(fitted, population, random_state)
    now = decided(fitted.bounds(crowd.codes, asked), threshold, cautious=True, extrapolate=True)
    refuse_all_contradicted(now.answers, "rows cannot be planned", "further rows like these would settle nothing")
    outlook = _outlook(fitted, now, asked)
    groups = np.concatenate([codes, encode(fitted.schema, None)])  # everyone last
    added = crowd.added(groups, np.append(share, 1.0), split(fitted.study, rows, table))
    treat, leave = (gain @ crowd.share for gain in outlook.gains(doubt_left(fitted, asked, crowd, added)))
    change = -(treat + leave)
    order = _best(codes, -change[:-1], given=candidates is not None)[:top]
    uncertain, stays = crowd.share * (now.decision == UNCERTAIN), crowd.share * outlook.uncertain(NONE)[0]
    covers = lattice.membership_matrix(codes[order], crowd.codes)
    notes = (
        *notes_when_left_out(now.answers, trial_can_answer=False),
        *compared,
        *_notes(uncertain.sum(), stays.sum(), float(change[-1]), rows),
    )
    return Plan(
        format_queries(fitted.schema, codes[order]),
        share[order],
        covers @ uncertain,
        covers @ stays,
        change[order],
        treat[order],
        leave[order],
        float(outlook.uncertain(ALL)[0] @ crowd.share),
        float(change[-1]),
        rows,
        table,
        now.caption,
        notes,
    )


def _groups(
    model: Model, candidates: QueryLike, least_share: float, population: Population | None
) -> tuple[Codes, FloatArray, tuple[Note, ...]]:
    """Groups to compare, the share of the people in each, and a note of which they are."""
    schema = model.schema
    if candidates is not None:
        codes = encode(schema, candidates)
        share = model.shares(codes, population)
        if not (share > 0).all():
            nobody = join_names(map(repr, format_queries(schema, codes[share <= 0])))
            raise QueryError(f"nobody is in {nobody}, so no rows can come from there; leave it out.")
        return codes, share, ()
    fixed = 2 if lattice.n_queries_fixing_at_most(schema, 2) <= MOST_CANDIDATES else 1
    codes = lattice.queries_fixing_at_most(schema, fixed)
    share = model.shares(codes, population)
    enough = share >= least_share - ROUNDING
    compared = {"groups": enough.sum(), "most_fixed": fixed, "least_share": least_share}
    return codes[enough], share[enough], (Note("groups_compared", compared),)


def _best(codes: Codes, settles: FloatArray, given: bool) -> npt.NDArray[np.intp]:
    """Groups by the share they settle, most first; near-copies of more general ones are left out unless given."""
    order = np.argsort(-settles, kind="stable")
    if given:
        return order
    general = np.nan_to_num(best_more_general(codes, settles), nan=-np.inf)
    return order[(settles >= BETTER * general)[order]]


def _outlook(model: Model, now: Decisions, estimand: Estimand) -> Outlook:
    answers = now.answers
    return Outlook(
        np.stack([answers.lower, answers.upper]),
        np.stack([answers.standard_error("lower"), answers.standard_error("upper")]),
        model.interval_inflation,
        NormalDist().inv_cdf((1 + (answers.level or 0)) / 2),
        now.threshold,
        estimand.span,
    )


def _notes(uncertain: float, stays: float, at_random: float, rows: float) -> tuple[Note, ...]:
    return (
        Note("uncertain_now", {"uncertain": uncertain, "stays": stays}),
        Note("rows_from_everyone", {"rows": rows, "change": at_random}),
    )


def check_plannable(model: Model) -> None:
    """Refuse a model of anything but two arms and two outcomes."""
    require_two_by_two(model.structure, "plans are made for", "query, decide, rank or select")


def _with_intervals(model: Model) -> Model:
    """The model, if it knows how its errors go together."""
    _ = model.study
    able = model.capabilities
    if not (able.law and able.learns_across_profiles):
        raise ModelError(
            f"planning needs the intervals of a response-types model, and this is a {model.name} model; fit one with "
            "pnsight fit --model response-types (ResponseTypeModel())."
        )
    if not able.simulates_studies:
        raise ModelError(
            "planning needs intervals, and this model was fitted without; fit it again with --intervals "
            "(intervals=True)."
        )
    return model


def _refuse_bad_arguments(study: Study, rows: float, table: str, top: int, level: float, least_share: float) -> None:
    if table not in get_args(Table):
        raise QueryError(f"rows cannot be added to {table!r}; expected {join_names(get_args(Table))}.")
    if table != "experimental" and study.observational is None:
        raise QueryError(f"rows are to be added to {table}, but there is no observational table; use experimental.")
    if not 0 < rows <= MOST_ROWS:
        raise QueryError(f"{rows:g} rows are to be added; give a number above 0, at most {MOST_ROWS:g}.")
    if top < 1:
        raise QueryError(f"the top {top} are asked for; give a number of at least 1.")
    validate_level(level)
    if not 0 <= least_share <= 1:
        raise QueryError(f"the least share of people is {least_share}; give a number from 0 to 1.")


def _refuse_numbers(model: Model) -> None:
    if model.schema.numeric:
        named = [model.schema.names[j] for j in model.schema.numeric]
        raise ModelError(
            f"planning goes by the rows of each profile, and with numbers ({join_names(named)}) nearly every profile "
            f"is one person; {levels_instead(model.schema)}, fit a model, and plan with it."
        )
