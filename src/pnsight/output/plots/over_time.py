"""How bounds change over time: what a treatment does until each horizon, for the good and for the bad."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pnsight._palette import BLUE, VERMILION
from pnsight._typing import FloatArray
from pnsight.output.plots.canvas import TEXT, below, canvas, titled
from pnsight.queries.bound_table import BoundTable

_COLOURS = (BLUE, VERMILION)
"""Of what is drawn first and second."""


def over_time(
    horizons: Sequence[float], curves: Mapping[str, BoundTable], title: str | None = None, unit: str = "time"
) -> Figure:
    """Bounds at each horizon, side by side for each quantity, with the intervals of both ends.

    Parameters
    ----------
    horizons
        When the answers are about, in order.
    curves
        By what is drawn, answers with one row a horizon.
    title
        Of the figure.
    unit
        What the horizons are, below the axis.

    Returns
    -------
    the figure
    """
    figure, panels = canvas(7.2, 3.4, columns=len(curves), sharey=True)
    for axes, (name, found), colour in zip(panels, curves.items(), _COLOURS, strict=False):
        _draw(axes, np.array(horizons, dtype=np.float64), found, colour)
        axes.set_title(name, loc="left", fontsize=TEXT, parse_math=False)
        axes.set(xlabel=unit, xlim=(0, max(horizons) * 1.03))
        axes.set_ylim(bottom=0)
    panels[0].set_ylabel("share of people")
    below(figure, panels[0].get_legend_handles_labels()[0])
    titled(figure, title or "Bounds over time")
    return figure


def _draw(axes: Axes, at: FloatArray, found: BoundTable, colour: str) -> None:
    axes.fill_between(at, found.lower, found.upper, color=colour, alpha=0.2, linewidth=0, label="between the bounds")
    ends = (("-", "at least", found.lower, "lower"), ("--", "at most", found.upper, "upper"))
    for line, word, value, end in ends:
        low, high = found.interval("lower" if end == "lower" else "upper")
        axes.plot(at, value, color=colour, linestyle=line, linewidth=2, marker="o", ms=4, label=word)
        if not np.isnan(low).all():
            axes.errorbar(at, value, [value - low, high - value], fmt="none", ecolor=colour, elinewidth=1, capsize=3)
