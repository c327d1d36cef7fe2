"""Bounds against slack: how fast they widen as people may respond otherwise than the trial's, and where they tip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from pnsight._palette import BLACK, BLUE, VERMILION
from pnsight._typing import FloatArray
from pnsight.decisions.tipping_points import TippingPoints
from pnsight.estimands.quantities import find_quantity
from pnsight.output.plots.canvas import SMALL, TEXT, Drawing, below, plain, titled
from pnsight.output.plots.forest import name_of
from pnsight.queries.bound_table import BoundTable

MOST_PANELS = 12
"""Groups that one figure shows; of more, the first."""

_DASHES = (0, (5, 3))
_COLUMNS, _LETTERS = 3, 32
_WIDTH, _HEIGHT, _AROUND = 2.9, 2.1, 0.9
_ALONE = 5.2


@dataclass(frozen=True)
class SlackCurve:
    """The bounds of one group as slack grows; arrays of shape (slacks,).

    Attributes
    ----------
    name : of the group, as a query
    lower, upper : the bounds
    low, high : where the interval of the lower bound begins, and that of the upper one stops; NaN without
    tip : the slack at which the decision changes; NaN or infinite where none does
    """

    name: str
    lower: FloatArray
    upper: FloatArray
    low: FloatArray
    high: FloatArray
    tip: float


def bounds_against_slack(found: TippingPoints, title: str | None = None) -> Figure:
    """The bounds of each group as slack grows, with the interval that surrounds them, and where the decision tips.

    Parameters
    ----------
    found
        Tipping points.
    title
        Above the figure.

    Returns
    -------
    the figure, one panel a group
    """
    answers = found.decisions.answers
    slacks, tables = found.curve()
    curves = [_curve_of(found, tables, row) for row in range(min(len(answers), MOST_PANELS))]
    along = "slack" if found.is_plain else f"slack, times {found.along}"
    return draw_slack(slacks, curves, answers.quantity, found.decisions.threshold, answers.level, along, title)


def _curve_of(found: TippingPoints, tables: Sequence[BoundTable], row: int) -> SlackCurve:
    return SlackCurve(
        name=found.decisions.answers.queries[row],
        lower=np.array([table.lower[row] for table in tables]),
        upper=np.array([table.upper[row] for table in tables]),
        low=np.array([table.interval("lower")[0][row] for table in tables]),
        high=np.array([table.interval("upper")[1][row] for table in tables]),
        tip=float(found.shown_tip[row]),
    )


def draw_slack(
    slacks: FloatArray,
    curves: Sequence[SlackCurve],
    quantity: str,
    threshold: float,
    level: float | None,
    along: str = "slack",
    title: str | None = None,
) -> Figure:
    """The same from numbers.

    Parameters
    ----------
    slacks : shape (slacks,)
        From none on.
    curves
        One a group.
    quantity, threshold, level
        What is bounded, what it must reach, and the confidence of intervals; None without.
    along
        What the slack is called.
    title
        Above the figure.

    Returns
    -------
    the figure, one panel a group
    """
    names = [name_of(curve.name, _LETTERS) for curve in curves]
    columns = min(_COLUMNS, len(names))
    rows = -(-len(names) // columns)
    lines = max(1 + name.count("\n") for name in names)
    size = _ALONE if columns == 1 else columns * _WIDTH, rows * (_HEIGHT + 0.17 * lines) + _AROUND
    figure = Drawing(figsize=size, layout="constrained", facecolor="white")
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    for axes, name, curve in zip(panels, names, curves, strict=False):
        plain(axes)
        _draw(axes, slacks, curve, threshold)
        axes.set_title(name, loc="left", fontsize=SMALL, parse_math=False)
    for axes, curve in zip(panels, curves, strict=False):
        _name_tip(axes, slacks, curve)
    for axes in panels[len(names) :]:
        axes.set_visible(False)
    for axes in panels[max(0, len(names) - columns) : len(names)]:
        axes.tick_params(labelbottom=True)
        axes.set_xlabel(along, fontsize=TEXT, parse_math=False)
    for axes in panels[: len(names) : columns]:
        axes.set_ylabel(find_quantity(quantity).label, fontsize=TEXT)
    below(figure, _marks(curves, threshold, level))
    titled(figure, title or "Bounds as people may respond otherwise than in the trial")
    return figure


def _draw(axes: Axes, slacks: FloatArray, curve: SlackCurve, threshold: float) -> None:
    axes.fill_between(slacks, curve.low, curve.high, color=BLUE, alpha=0.12, linewidth=0)
    axes.fill_between(slacks, curve.lower, curve.upper, color=BLUE, alpha=0.3, linewidth=0)
    for values in (curve.lower, curve.upper):
        axes.plot(slacks, values, color=BLUE, linewidth=1.6)
    axes.axhline(threshold, color=BLACK, linewidth=1, linestyle=_DASHES)
    if np.isfinite(curve.tip):
        axes.axvline(curve.tip, color=VERMILION, linewidth=1.6)
    axes.set_xlim(0, float(slacks[-1]))
    axes.xaxis.set_major_locator(MaxNLocator(4))


def _name_tip(axes: Axes, slacks: FloatArray, curve: SlackCurve) -> None:
    """Write the slack at which the decision changes beside its line: below the bounds, or above if there is more room.

    Panels have one scale, so this is for when all are drawn.
    """
    if not np.isfinite(curve.tip):
        return
    low, high = axes.get_ylim()
    low_there, high_there = (float(np.interp(curve.tip, slacks, values)) for values in (curve.lower, curve.upper))
    under = not (high - high_there > low_there - low)
    right = curve.tip < 0.75 * float(slacks[-1])
    axes.annotate(
        f"{curve.tip:.3g}",
        (curve.tip, 0.03 if under else 0.98),
        (4 if right else -4, 0),
        xycoords=axes.get_xaxis_transform(),
        textcoords="offset points",
        color=VERMILION,
        fontsize=SMALL,
        va="bottom" if under else "top",
        ha="left" if right else "right",
        bbox={"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 1},
    )


def _marks(curves: Sequence[SlackCurve], threshold: float, level: float | None) -> list[Line2D | Patch]:
    """What the marks mean."""
    shown: list[Line2D | Patch] = [Patch(color=BLUE, alpha=0.3, linewidth=0, label="bounds")]
    if level is not None:
        shown.append(Patch(color=BLUE, alpha=0.12, linewidth=0, label=f"{level:.0%} interval"))
    shown.append(Line2D([], [], color=BLACK, linestyle=_DASHES, linewidth=1, label=f"threshold {threshold:g}"))
    if any(np.isfinite(curve.tip) for curve in curves):
        shown.append(Line2D([], [], color=VERMILION, linewidth=1.6, label="decision changes"))
    return shown
