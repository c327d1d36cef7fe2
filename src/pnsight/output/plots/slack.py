"""Bounds against slack: how fast they widen as people may respond otherwise than the trial's, and where they tip."""

from __future__ import annotations

import textwrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pnsight._palette import BLACK, BLUE, VERMILION
from pnsight._typing import FloatArray
from pnsight.decisions.tipping_points import TippingPoints
from pnsight.estimands.quantities import find_quantity
from pnsight.output.plots.canvas import SMALL, TEXT, below, plain, shortened, titled
from pnsight.queries.bound_table import BoundTable

MOST_PANELS = 12
"""Groups that one figure shows; of more, the first."""

_COLUMNS, _LETTERS, _LINES = 3, 32, 3
_WIDTH, _HEIGHT, _AROUND = 2.9, 2.1, 0.9
_ALONE = 5.2


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
    names = [textwrap.wrap(name or "everyone", _LETTERS) for name in answers.queries[:MOST_PANELS]]
    columns = min(_COLUMNS, len(names))
    rows = -(-len(names) // columns)
    lines = max(min(len(name), _LINES) for name in names)
    width = _ALONE if columns == 1 else columns * _WIDTH
    figure = Figure(
        figsize=(width, rows * (_HEIGHT + 0.17 * lines) + _AROUND), layout="constrained", facecolor="white"
    )
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    slacks, tables = found.curve()
    for number, (axes, name) in enumerate(zip(panels, names, strict=False)):
        plain(axes)
        _draw(axes, slacks, tables, number, found)
        shown = "\n".join([*name[: _LINES - 1], shortened(" ".join(name[_LINES - 1 :]), _LETTERS)]).strip()
        axes.set_title(shown, loc="left", fontsize=SMALL, parse_math=False)
    for axes in panels[len(names) :]:
        axes.set_visible(False)
    for axes in panels[max(0, len(names) - columns) : len(names)]:
        axes.tick_params(labelbottom=True)
        axes.set_xlabel("slack" if found.is_plain else f"slack, times {found.along}", fontsize=TEXT, parse_math=False)
    for axes in panels[: len(names) : columns]:
        axes.set_ylabel(find_quantity(answers.quantity).label, fontsize=TEXT)
    below(figure, _marks(found))
    titled(figure, title or "Bounds as people may respond otherwise than in the trial")
    return figure


def _draw(axes: Axes, slacks: FloatArray, tables: list[BoundTable], number: int, found: TippingPoints) -> None:
    lower, upper = (np.array([getattr(table, end)[number] for table in tables]) for end in ("lower", "upper"))
    low = np.array([table.interval("lower")[0][number] for table in tables])
    high = np.array([table.interval("upper")[1][number] for table in tables])
    axes.fill_between(slacks, low, high, color=BLUE, alpha=0.12, linewidth=0)
    axes.fill_between(slacks, lower, upper, color=BLUE, alpha=0.3, linewidth=0)
    for values in (lower, upper):
        axes.plot(slacks, values, color=BLUE, linewidth=1.6)
    axes.axhline(found.decisions.threshold, color=BLACK, linewidth=1, linestyle=(0, (5, 3)))
    tip = float(found.shown_tip[number])
    if np.isfinite(tip):
        axes.axvline(tip, color=VERMILION, linewidth=1.6)
        axes.annotate(
            f"{tip:.3g}",
            (tip, 0.98),
            (4, 0),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            color=VERMILION,
            fontsize=SMALL,
            va="top",
        )
    axes.set_xlim(0, float(slacks[-1]))


def _marks(found: TippingPoints) -> list[Line2D | Patch]:
    """What the marks mean."""
    shown: list[Line2D | Patch] = [Patch(color=BLUE, alpha=0.3, linewidth=0, label="bounds")]
    if found.decisions.answers.level is not None:
        shown.append(Patch(color=BLUE, alpha=0.12, linewidth=0, label=f"{found.decisions.answers.level:.0%} interval"))
    shown.append(Line2D([], [], color=BLACK, linestyle=(0, (5, 3)), linewidth=1, label="threshold"))
    if np.isfinite(found.shown_tip).any():
        shown.append(Line2D([], [], color=VERMILION, linewidth=1.6, label="decision changes"))
    return shown
