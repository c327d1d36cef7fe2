"""Bounds against slack, as the template draws them: how they widen, and where the decision tips."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pnsight._typing import FloatArray
from pnsight.decisions import TippingPoints, tip
from pnsight.errors import PnsightError, QueryError
from pnsight.estimands.quantities import HARM, Quantity
from pnsight.notes import sentences
from pnsight.queries.bound_table import BoundTable
from pnsight.web.curve_chart import HEIGHT, WIDTH
from pnsight.web.explorer import Explorer
from pnsight.web.state import State
from pnsight.web.views.describe_question import confidence, population_words, told_beside
from pnsight.web.views.format import described
from pnsight.wording import capitalised

_POINTS = 21
_MOST_STEPS = 5
"""Steps between two marks of a scale, at most."""


@dataclass(frozen=True)
class SlackCurve:
    """Bounds of one quantity against slack, in units of the view box.

    Attributes
    ----------
    name : what is drawn
    lower, upper, area, interval : corners of lines, of the area between them, and of that of their intervals
    x_ticks, y_ticks : places and what is written there
    tip, threshold : where the decision changes, and what the quantity must reach; None where that is not drawn
    told : the numbers, for readers who do not see the drawing
    """

    name: str
    lower: str
    upper: str
    area: str
    interval: str
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    tip: float | None
    threshold: float | None
    told: str


@dataclass(frozen=True)
class SlackView:
    """The decision and its tipping point in words, the bounds and those on harm as slack grows."""

    people: Sequence[str]
    sentence: str
    curves: Sequence[SlackCurve]
    level: str
    population: str
    notes: Sequence[str]


def slack_view(explorer: Explorer, state: State) -> SlackView:
    """The people of a state: the bounds, the slack at which the decision changes, and harm at the same slack."""
    estimand, careful = state.options.estimand, state.options.cautious and explorer.ability.intervals
    if estimand.slack is not None:
        raise QueryError("slack is set already; leave it out, and this page shows the bounds at every slack.")
    found = tip(explorer.model, state.codes, state.options.threshold, careful, estimand)
    slacks, tables = found.curve(_POINTS)
    at, reach = float(found.shown_tip[0]), found.decisions.threshold
    drawn = [_curve(estimand.quantity, slacks, tables, at if np.isfinite(at) else None, reach)]
    if estimand.quantity.direction == "gain":
        drawn += _harm(explorer, state, slacks)
    return SlackView(
        described(explorer.schema, explorer.model.study.labels, state),
        f"{capitalised(str(found.sentence()))}.",
        [curve for curve in drawn if curve.lower],
        "" if found.decisions.answers.level is None else confidence(found.decisions.answers.level),
        population_words(explorer, state.options),
        sentences(told_beside(explorer, found.notes), "page"),
    )


def _harm(explorer: Explorer, state: State, slacks: FloatArray) -> list[SlackCurve]:
    """Bounds on harm at the same slacks; none of a model that does not know it."""
    try:
        found: TippingPoints = tip(explorer.model, state.codes, quantity=state.options.estimand.of_quantity(HARM))
        return [_curve(HARM, slacks, [found.answer_at(float(slack)) for slack in slacks], None, None)]
    except PnsightError:
        return []


def _curve(
    quantity: Quantity, slacks: FloatArray, tables: Sequence[BoundTable], at: float | None, threshold: float | None
) -> SlackCurve:
    ends = [np.array([table.lower[0] for table in tables]), np.array([table.upper[0] for table in tables])]
    chance = [
        np.array([table.interval("lower")[0][0] for table in tables]),
        np.array([table.interval("upper")[1][0] for table in tables]),
    ]
    drawn = np.concatenate([*ends, *chance, [np.nan if threshold is None else threshold]])
    marks, end_of_slack = _scale(drawn), float(slacks[-1])
    low, high = marks[0], marks[-1]

    def x(slack: float) -> float:
        return round(WIDTH * slack / end_of_slack, 1)

    def y(value: float) -> float:
        return round(HEIGHT * (high - value) / (high - low), 1)

    lower, upper = (_points(slacks, end, x, y) for end in ends)
    shown = range(0, len(slacks), 4)
    told = [f"at slack {slacks[k]:.3g} {ends[0][k]:.3f} to {ends[1][k]:.3f}" for k in shown if ends[0][k] <= ends[1][k]]
    return SlackCurve(
        quantity.label,
        " ".join(lower),
        " ".join(upper),
        " ".join([*lower, *reversed(upper)]),
        " ".join([*_points(slacks, chance[0], x, y), *reversed(_points(slacks, chance[1], x, y))]),
        [(x(value), f"{value:.4g}") for value in np.arange(0, end_of_slack * 1.0001, _step(end_of_slack)).tolist()],
        [(y(value), f"{value:.4g}") for value in marks],
        None if at is None else x(at),
        None if threshold is None else y(threshold),
        "; ".join(told),
    )


def _step(width: float) -> float:
    """A round number, of which a scale of this width has a few."""
    least = width / _MOST_STEPS
    power = 10.0 ** math.floor(math.log10(least))
    return next(round_one * power for round_one in (1, 2, 5, 10) if round_one * power >= least * (1 - 1e-9))


def _scale(values: FloatArray) -> list[float]:
    """The marks of a scale from which to where numbers reach."""
    if np.isnan(values).all():
        return [0.0, 1.0]
    least = float(np.nanmin(values))
    most = max(float(np.nanmax(values)), least + 0.01)
    step = _step(most - least)
    return [step * k for k in range(math.floor(least / step + 1e-9), math.ceil(most / step - 1e-9) + 1)]


def _points(
    slacks: FloatArray, values: FloatArray, x: Callable[[float], float], y: Callable[[float], float]
) -> list[str]:
    """Corners, as SVG takes them; slacks without an answer are left out."""
    pairs = zip(slacks.tolist(), values.tolist(), strict=True)
    return [f"{x(slack):g},{y(value):g}" for slack, value in pairs if not np.isnan(value)]
