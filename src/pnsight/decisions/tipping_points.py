"""Tipping points: how far people may respond otherwise than the trial's before a decision changes.

With slack d the bounds are the largest and the smallest of functions that fall and rise with d, so they only widen. A
decision to treat holds as long as the lower bound reaches the threshold, one not to treat as long as the upper bound
stays below it; the least d at which that ends is the tipping point, found as the root of a monotone function. Of
decisions that are uncertain, none changes. The least slack at which some population fits both tables is that at which
no coherence inequality, which rises with d, is negative any more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pnsight._tabular import Tabular
from pnsight._typing import BoolArray, FloatArray
from pnsight.data.law import Law
from pnsight.data.schema import Codes
from pnsight.decisions.contradictions import answering_model
from pnsight.decisions.rule import NOT, TREAT, Decisions, cautious_ends, decided
from pnsight.errors import AssumptionError, QueryError
from pnsight.estimands.compiled import coherence_terms
from pnsight.estimands.estimand import Estimand, EstimandLike
from pnsight.estimands.resolve import ROUNDING
from pnsight.estimands.sensitivity import Slack, SlackLike
from pnsight.models import Model
from pnsight.notes import Note
from pnsight.queries.bound_table import BoundTable, plain_numbers
from pnsight.queries.query import QueryLike, encode

CURVE_POINTS = 41
"""Slacks at which a figure shows the bounds."""

_LEAST_REACH = 0.02
"""A figure shows at least so much slack."""

_BEYOND_TIP = 1.6
"""A figure shows so many times the largest tipping point."""

_EXACT = 1e-13
_DIGITS = 10


@dataclass(frozen=True, repr=False)
class TippingPoints(Tabular):
    """For each query the decision without slack, and the least slack at which it changes.

    Attributes
    ----------
    decisions : without slack
    along : what slack of 1 means: in which arms, and to which sides
    tip, tip_cautious : shape (queries,)
        The least slack beyond which the decision changes, and the cautious decision; infinite if none changes it, NaN
        where it is uncertain already, or there is none.
    reconciled_at : shape (queries,)
        The least slack at which some population fits the shares of both tables; zero where one does without.
    answer_at : from a slack to the bounds of all queries
    """

    decisions: Decisions
    along: Slack
    tip: FloatArray
    tip_cautious: FloatArray
    reconciled_at: FloatArray
    answer_at: Callable[[float], BoundTable]

    def __len__(self) -> int:
        return len(self.decisions)

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """What a reader of the answers should know, and what the slack is."""
        return (*self.decisions.notes, Note("tipping", {"along": str(self.along), "plain": self.is_plain}))

    @property
    def is_plain(self) -> bool:
        """Whether slack is the same in both arms and to both sides."""
        return self.along == DEFAULT_ALONG

    @property
    def caption(self) -> str:
        """What is decided, and when."""
        return f"{self.decisions.caption}; and the least slack at which that changes"

    @property
    def shown_tip(self) -> FloatArray:
        """That of the decisions that are shown, cautious or not, shape (queries,)."""
        return self.tip_cautious if self.decisions.cautious else self.tip

    def columns(self) -> dict[str, list[Any]]:
        """The query, its decision, the slack at which it changes, the same with caution; then its answer."""
        decisions = self.decisions
        beside: dict[str, list[Any]] = {
            "decision": [str(word) for word in decisions.decision],
            "tip": _finite(self.tip if not decisions.cautious else self.tip_cautious),
            "decision_cautious": [str(word) for word in decisions.decision_cautious],
            "tip_cautious": _finite(self.tip_cautious),
            "reconciled_at": _finite(self.reconciled_at),
        }
        return decisions.answers.columns(beside=beside)

    def words(self) -> list[str]:
        """Each query, its decision and the slack at which it changes, in a sentence."""
        return [
            f"{query or 'everyone'}: {self.sentence(row)}" for row, query in enumerate(self.decisions.answers.queries)
        ]

    def sentence(self, row: int = 0) -> Note:
        """What one tipping point says."""
        tip, least = float(self.shown_tip[row]), float(self.reconciled_at[row])
        values = {
            "decision": str(self.decisions.decision[row]),
            "tip": tip if np.isfinite(tip) else None,
            "along": str(self.along),
            "plain": self.is_plain,
            "reconciled_at": least if np.isfinite(least) else None,
        }
        return Note("tipping_point", values)

    def curve(self, points: int = CURVE_POINTS, most: float | None = None) -> tuple[FloatArray, list[BoundTable]]:
        """Bounds against slack.

        Parameters
        ----------
        points
            How many slacks, from none on.
        most
            The largest; by default beyond all tipping points.

        Returns
        -------
        The slacks, shape (points,), and the bounds of all queries at each.
        """
        slacks = np.linspace(0.0, self.reach if most is None else most, points)
        return slacks, [self.answer_at(float(slack)) for slack in slacks]

    @property
    def reach(self) -> float:
        """Up to which slack a figure shows the bounds."""
        tips = np.concatenate([self.tip, self.tip_cautious, self.reconciled_at])
        largest = max((float(tip) for tip in tips if np.isfinite(tip)), default=0.0)
        return min(_most(self.along), max(_BEYOND_TIP * largest, _LEAST_REACH / self.along.largest))

    def curve_columns(self, points: int = CURVE_POINTS) -> dict[str, list[Any]]:
        """The same as columns: one row a query and slack."""
        slacks, tables = self.curve(points)
        found: dict[str, list[Any]] = {}
        for slack, table in zip(slacks, tables, strict=True):
            columns = table.columns(beside={"slack": [float(slack)] * len(table)})
            for name, values in columns.items():
                found.setdefault(name, []).extend(values)
        return found


DEFAULT_ALONG = Slack((("", 1.0, 1.0),))
"""The same slack in all arms, and to both sides."""


def tip(
    model: Model,
    queries: QueryLike = None,
    threshold: float | None = None,
    cautious: bool = False,
    quantity: EstimandLike = None,
    extrapolate: bool = False,
    along: SlackLike = None,
    **options: Any,
) -> TippingPoints:
    """The least slack at which each decision changes.

    Parameters
    ----------
    model
        A fitted model that knows a law.
    queries
        As `Model.bounds` takes them.
    threshold
        Treat where the quantity is at least this; by default one half, and 0 for benefit.
    cautious
        Whether the decisions shown need the whole interval of the bound to agree.
    quantity, options
        What to bound, as `Model.bounds` takes it, but for slack.
    extrapolate
        Whether to decide where the answer is extrapolated.
    along
        What slack of 1 means, as `Slack.parse` takes it: ``"1"``, the same in all arms and to both sides, or as
        ``"treated=1"`` in one arm, ``"+1"`` to one side, ``"treated=1,control=0.5"``.

    Returns
    -------
    One row a query.
    """
    direction = DEFAULT_ALONG if along is None else Slack.parse(along)
    if direction is None:
        raise AssumptionError(f"slack that grows along {along!r} does not grow; give a direction, as 1 or treated=1.")
    estimand = model.estimand(quantity, **options)
    if estimand.slack is not None:
        raise QueryError(f"the slack {estimand.slack} is given, which is what is sought; leave it out, or use along.")
    if not model.capabilities.law:
        model.bounds(queries, replace(estimand, slack=direction))  # says why it cannot
    model.estimand(replace(estimand, slack=direction))
    codes = encode(model.schema, queries)
    return _Search(model, codes, estimand, direction).run(threshold, cautious, extrapolate)


@dataclass(frozen=True)
class _Search:
    """What is asked, and along which slack."""

    model: Model
    codes: Codes
    estimand: Estimand
    along: Slack

    def run(self, threshold: float | None, cautious: bool, extrapolate: bool) -> TippingPoints:
        """The tipping points of all queries."""
        found = decided(self.at(0.0), threshold, cautious, extrapolate)
        plain = decided(found.answers, threshold, False, extrapolate).decision
        tips = self._tips(plain, found.threshold, _ends)
        careful = np.full(len(found), np.nan)
        if found.answers.level is not None:
            careful = self._tips(found.decision_cautious, found.threshold, cautious_ends)
        return TippingPoints(found, self.along, tips, careful, self._reconciled_at(), self.at)

    def at(self, slack: float, some: slice | BoolArray = slice(None)) -> BoundTable:
        """Bounds of some queries at a slack."""
        return self.model.answer(self.codes[some], replace(self.estimand, slack=self.along.times(slack)))

    def _tips(
        self, words: Any, threshold: float, ends: Callable[[BoundTable], tuple[FloatArray, FloatArray]]
    ) -> FloatArray:
        found = np.full(len(self.codes), np.nan)
        for row, word in enumerate(words):
            if word in (TREAT, NOT):
                found[row] = self._tip(slice(row, row + 1), str(word), threshold, ends)
        return found

    def _tip(
        self,
        row: slice,
        word: str,
        threshold: float,
        ends: Callable[[BoundTable], tuple[FloatArray, FloatArray]],
    ) -> float:
        from scipy.optimize import brentq  # loads SciPy, which other decisions can do without

        def margin(slack: float) -> float:
            """How far the end that decides is on its side of the threshold."""
            lower, upper = ends(self.at(slack, row))
            return float(lower[0] - threshold if word == TREAT else threshold - upper[0])

        most = _most(self.along)
        least = ROUNDING if word == TREAT else 0.0
        if margin(most) >= -least:
            return np.inf
        if margin(0.0) <= 0:
            return 0.0
        return round(float(brentq(margin, 0.0, most, xtol=_EXACT)), _DIGITS)

    def _reconciled_at(self) -> FloatArray:
        """From the shares of each query's own rows, whichever model answers."""
        model = answering_model(self.model, self.estimand)
        law = Law.from_counts(model.counts(self.codes), model.structure)
        return reconciling_slack(law, self.estimand, self.along)


def reconciling_slack(law: Law, estimand: Estimand, along: Slack = DEFAULT_ALONG) -> FloatArray:
    """The least slack at which some population fits each law.

    Parameters
    ----------
    law
        Shares of both tables, one group a row.
    estimand
        Whose arms are meant, and which outcomes may be misread.
    along
        What slack of 1 means.

    Returns
    -------
    Shape (rows,); infinite where no slack along that direction is enough, NaN where a share is unknown.
    """
    half, whole = (
        coherence_terms(law.structure, None, replace(estimand, slack=along.times(factor)).relaxations(law.structure))(
            law
        )
        for factor in (0.5, 1.0)
    )
    without, slope = 2 * half - whole, 2 * (whole - half)  # every term is linear in the slack
    lacking = np.where(without < -ROUNDING, -without, 0.0)
    needed = np.divide(lacking, slope, out=np.where(lacking > 0, np.inf, 0.0), where=slope > ROUNDING)
    found = needed.max(axis=0, initial=0.0)
    return np.where(np.isnan(law.cells).any(axis=1), np.nan, np.round(found, _DIGITS))


def _ends(answers: BoundTable) -> tuple[FloatArray, FloatArray]:
    return answers.lower, answers.upper


def _most(along: Slack) -> float:
    """The slack at which the arm that may differ most may differ by 1."""
    return 1.0 / along.largest


def _finite(values: FloatArray) -> list[float | None]:
    return plain_numbers(np.where(np.isfinite(values), values, np.nan))
