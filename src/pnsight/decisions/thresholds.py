"""Threshold curves: whom a rule would treat, not treat, or leave uncertain, whatever the threshold.

Each person is decided upon by all that is known about them: profiles are decided one by one, and weigh by their people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnsight._tabular import Tabular
from pnsight._typing import FloatArray
from pnsight.decisions.considered import possible_profiles
from pnsight.decisions.contradictions import answering_model, refuse_all_contradicted
from pnsight.decisions.harm_cap import mean_among, most_harmed
from pnsight.decisions.rule import NONE, NOT, TREAT, UNCERTAIN, decided, refuse_threshold
from pnsight.errors import QueryError
from pnsight.estimands.estimand import Estimand, EstimandLike
from pnsight.models import Model
from pnsight.notes import Note
from pnsight.queries import lattice
from pnsight.queries.bound_table import BoundTable, plain_numbers
from pnsight.queries.query import encode

POINTS = 21
"""Thresholds that are looked at unless others are given."""

_WORDS = {"treat": TREAT, "not": NOT, "uncertain": UNCERTAIN, "unanswered": NONE}


@dataclass(frozen=True, repr=False)
class ThresholdCurve(Tabular):
    """Shares of the people by what is decided about them, at each threshold; arrays of shape (thresholds,).

    Attributes
    ----------
    quantity : what is compared with the thresholds
    query : whose people they are; empty for everyone
    thresholds : what the quantity must reach
    plain, cautious : by decision (``treat``, ``not``, ``uncertain``, ``unanswered``), the share of the people, by the
        bounds and by their intervals; the latter empty without intervals
    level : confidence of the intervals; None for a model without
    harmed, harmed_cautious : of those treated, the share harmed at most, by the same two rules; NaN where nobody is
        treated or where that is not known
    notes : what a reader should know
    """

    quantity: str
    query: str
    thresholds: FloatArray
    plain: dict[str, FloatArray]
    cautious: dict[str, FloatArray]
    level: float | None
    harmed: FloatArray
    harmed_cautious: FloatArray
    notes: tuple[Note, ...]

    def __len__(self) -> int:
        return len(self.thresholds)

    @property
    def caption(self) -> str:
        """What is shown."""
        return f"share of the people by what is decided about them, if {self.quantity} must reach a threshold"

    def columns(self) -> dict[str, list[Any]]:
        """The threshold, the share of each decision, plain and cautious, and how many of those treated are harmed."""
        shares = {name: plain_numbers(values) for name, values in self.plain.items()}
        careful = {f"{name}_cautious": plain_numbers(values) for name, values in self.cautious.items()}
        harm = {"harmed": self.harmed, **({"harmed_cautious": self.harmed_cautious} if self.cautious else {})}
        harmed = {name: plain_numbers(values) for name, values in harm.items()}
        return {"threshold": plain_numbers(self.thresholds), **shares, **careful, **harmed}


def threshold_curve(
    model: Model,
    query: str = "",
    thresholds: Sequence[float] | None = None,
    quantity: EstimandLike = None,
    extrapolate: bool = False,
    **options: Any,
) -> ThresholdCurve:
    """Whom a rule would treat, not treat, or leave uncertain, at each of several thresholds.

    Parameters
    ----------
    model
        A fitted model.
    query
        Whose people; by default everyone. Each is decided upon by all that is known about them.
    thresholds
        What the quantity must reach; by default evenly from its least to its largest value.
    quantity, options
        What is asked, as `model.bounds` takes it.
    extrapolate
        Whether to decide also where the answer is extrapolated.

    Returns
    -------
    The shares of the people, which add up to one at each threshold, and of those treated the share harmed at most.
    """
    asked = model.estimand(quantity, **options)
    whose = answering_model(model, asked)
    codes = possible_profiles(whose.study)
    codes = codes[lattice.matching_profiles(codes, encode(model.schema, query)[0])]
    share = whose.shares(codes, asked.population)
    codes, share = codes[share > 0], share[share > 0]
    if not len(codes):
        raise QueryError(f"nobody fits {query!r}, so there is nobody to decide about; ask about others.")
    answers = model.bounds(codes, asked)
    refuse_all_contradicted(answers, "nothing can be decided")
    at = _thresholds(thresholds, asked, answers)
    harm = most_harmed(model, codes, asked)
    (plain, cautious), (harmed, harmed_cautious) = _shares(answers, share / share.sum(), at, extrapolate, harm)
    notes = tuple(note for note in answers.notes if note.kind != "answers_contradicted")
    return ThresholdCurve(answers.quantity, query, at, plain, cautious, answers.level, harmed, harmed_cautious, notes)


def _thresholds(given: Sequence[float] | None, asked: Estimand, answers: BoundTable) -> FloatArray:
    """Those given, or evenly spaced over all values that there can be, or that there are if there is no end."""
    if given is not None:
        found = np.array(sorted({float(each) for each in given}))
        if not len(found):
            raise QueryError("no threshold is given; give at least one, as 0.5, or none at all for evenly spaced ones.")
        for each in found:
            refuse_threshold(float(each), answers.quantity)
        return found
    least, most = asked.span
    if asked.payoffs is not None or not np.isfinite([least, most]).all():
        least, most = float(np.nanmin(answers.lower)), float(np.nanmax(answers.upper))
    return np.linspace(least, most, POINTS).round(12)


def _shares(
    answers: BoundTable, share: FloatArray, thresholds: FloatArray, extrapolate: bool, harm: FloatArray
) -> tuple[list[dict[str, FloatArray]], list[FloatArray]]:
    """Shares by decision, by the bounds and with caution, and by either rule who is harmed of those treated."""
    found: tuple[dict[str, list[float]], dict[str, list[float]]] = (
        {name: [] for name in _WORDS},
        {name: [] for name in _WORDS} if answers.level is not None else {},
    )
    harmed: tuple[list[float], list[float]] = ([], [])
    for threshold in thresholds:
        decisions = decided(answers, float(threshold), extrapolate=extrapolate)
        for shares, most, words in zip(found, harmed, (decisions.decision, decisions.decision_cautious), strict=True):
            most.append(mean_among(harm, share, words == TREAT))
            for name in shares:
                shares[name].append(float(share[words == _WORDS[name]].sum()))
    return [{name: np.array(values) for name, values in shares.items()} for shares in found], list(
        map(np.array, harmed)
    )
