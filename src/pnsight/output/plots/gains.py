"""What a budget brings: the gain against how many are treated, or against what is spent."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from pnsight._palette import BLACK, BLUE, GREY, SKY
from pnsight._typing import FloatArray
from pnsight.decisions import Selection
from pnsight.estimands.quantities import find_quantity
from pnsight.output.plots.canvas import below, canvas, titled

_LINES = {
    "best_case": (SKY, "--", "at most"),
    "guaranteed": (BLUE, "-", "at least"),
    "net": (BLACK, ":", "net of those harmed"),
}
"""Colour, line and name of each gain."""


_DRAWN_ALIKE = 0.0005  # of the most gained: lines as near as that cover each other


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
    lines = _lines(curve)
    for name, (colour, line, words) in lines.items():
        axes.plot(curve[against], curve[name], color=colour, linestyle=line, linewidth=2, label=words)
    below(figure, axes.get_lines())
    if budget is not None and 0 < budget[against] < curve[against][-1]:
        axes.axvline(budget[against], color=GREY, linewidth=1, zorder=1)
        for name, (colour, _, _) in lines.items():
            axes.plot(budget[against], budget[name], marker="o", color=colour, ms=6)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=min(0.0, float(np.nanmin([curve["guaranteed"], curve["net"]]))))
    axes.set(xlabel=names[0], ylabel=names[1])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    titled(figure, title or "Gain against budget")
    return figure


def _lines(curve: Mapping[str, FloatArray]) -> dict[str, tuple[str, str, str]]:
    """Those of `_LINES` that are known; where the net gain is the gain at least, one line stands for both."""
    known = {name: look for name, look in _LINES.items() if not np.isnan(curve[name][1:]).all()}
    room = _DRAWN_ALIKE * float(curve["best_case"][-1])
    if "net" in known and np.allclose(curve["net"], curve["guaranteed"], rtol=0, atol=room):
        colour, line, words = known["guaranteed"]
        known["guaranteed"] = colour, line, f"{words}, and {known.pop('net')[2]}"
    return known


def _x_name(found: Selection, against: str) -> str:
    if against == "spent":
        return "spent"
    return "share of the people treated" if found.people is None else "people treated"


def gain_name(quantity: str, in_shares: bool) -> str:
    """What a gain is called on an axis."""
    gained = find_quantity(quantity).gained
    return f"{gained},\nshare of all people" if gained and in_shares else gained or quantity
