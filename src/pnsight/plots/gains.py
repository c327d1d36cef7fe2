"""What a budget brings: the gain against how many are treated, or against what is spent."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from pnsight.decide import Selection
from pnsight.law import FloatArray
from pnsight.palette import BLACK, BLUE, GREY, SKY
from pnsight.plots.canvas import below, canvas, titled

_LINES = {
    "best_case": (SKY, "--", "at most"),
    "guaranteed": (BLUE, "-", "at least"),
    "net": (BLACK, ":", "net of those harmed"),
}
"""Colour, line and name of each gain."""


def gain_curve(found: Selection, title: str | None = None) -> Figure:
    """The gain at least, at most and net, were the budget enough for the first profile, the first two, and so on.

    The dots are at the budget that was given.
    """
    against = "treated" if np.all(found.price == 1.0) else "spent"
    names = _x_name(found, against), gain_name(found.answers.quantity, found.people is None)
    curve = {name: np.array(values, dtype=np.float64) for name, values in found.curve().items()}
    return drawn_curve(curve, against, names, found.totals(), title)


def drawn_curve(
    curve: Mapping[str, FloatArray],
    against: str,
    names: tuple[str, str],
    budget: Mapping[str, float] | None = None,
    title: str | None = None,
) -> Figure:
    """The columns of `Selection.curve` drawn against one of them; `names` are those of the axes."""
    figure, (axes,) = canvas(6.4, 3.6)
    axes.fill_between(curve[against], curve["guaranteed"], curve["best_case"], color=SKY, alpha=0.2, linewidth=0)
    for name, (colour, line, words) in _LINES.items():
        if not np.isnan(curve[name][1:]).all():
            axes.plot(curve[against], curve[name], color=colour, linestyle=line, linewidth=2, label=words)
    below(figure, axes.get_lines())
    if budget is not None and 0 < budget[against] < curve[against][-1]:
        _mark_budget(axes, budget, against)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=min(0.0, float(np.nanmin([curve["guaranteed"], curve["net"]]))))
    axes.set(xlabel=names[0], ylabel=names[1])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    titled(figure, title or "Gain against budget")
    return figure


def _mark_budget(axes: Axes, budget: Mapping[str, float], against: str) -> None:
    axes.axvline(budget[against], color=GREY, linewidth=1, zorder=1)
    for name, (colour, _, _) in _LINES.items():
        axes.plot(budget[against], budget[name], marker="o", color=colour, ms=6)


def _x_name(found: Selection, against: str) -> str:
    if against == "spent":
        return "spent"
    return "share of the people treated" if found.people is None else "people treated"


def gain_name(quantity: str, in_shares: bool) -> str:
    """What a gain is called on an axis."""
    if quantity != "pns":
        return quantity
    return "respond because of it" + (",\nshare of all people" if in_shares else "")
