"""How near the two tables come to contradicting each other, subgroup by subgroup."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pnsight._palette import BLACK, BLUE, VERMILION, Look
from pnsight._text import number_of
from pnsight.diagnostics import Coherence
from pnsight.diagnostics.subgroups import EVERYONE
from pnsight.output.plots.canvas import below, canvas, mark, titled, verbatim
from pnsight.output.plots.forest import capped, name_of

MOST_GROUPS = 20
"""Subgroups that are shown: everyone, and those nearest to a contradiction."""

_POSSIBLE = Look("some population fits", BLUE, "●", "o", "full")
_BROKEN = Look("contradiction", VERMILION, "□", "s", "none")


def coherence(found: Coherence | None, title: str | None = None) -> Figure:
    """By how much each subgroup breaks the inequality that it comes nearest to breaking, with its interval.

    A law is possible where nothing is above zero. The intervals allow for all subgroups looked at: they are how far
    chance alone may carry a subgroup beyond zero.
    """
    rows = np.zeros(0, dtype=np.intp) if found is None else _shown(found)
    figure, (axes,) = canvas(7.2, 1.5 + 0.34 * max(len(rows), 1))
    if found is None or not len(rows):
        why = "an experiment alone" if found is None else "no profile has rows in both tables"
        axes.text(0.5, 0.5, f"nothing to compare: {why}", transform=axes.transAxes, ha="center", va="center")
    else:
        _draw(figure, axes, found, rows)
    axes.axvline(0, color=BLACK, linewidth=1.2)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("excess over what any population allows; thin lines: how far it may be off")
    titled(figure, title or _caption(found, len(rows)))
    verbatim(axes)
    return figure


def _draw(figure: Figure, axes: Axes, found: Coherence, rows: npt.NDArray[np.intp]) -> None:
    looks = [_BROKEN if found.broken[row] else _POSSIBLE for row in rows]
    for place, (row, look) in enumerate(zip(rows, looks, strict=True)):
        capped(axes, found.low[row], found.high[row], place, look.colour)
        axes.plot(found.excess[row], place, zorder=4, **mark(look))
    axes.set_yticks(range(len(rows)), [name_of(found.queries[row]) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    below(figure, [Line2D([], [], label=look.name, **mark(look)) for look in (_POSSIBLE, _BROKEN) if look in looks])


def _shown(found: Coherence) -> npt.NDArray[np.intp]:
    """The comparison of each subgroup that has most against it: everyone's, then those with most against them."""
    worst: dict[str, int] = {}
    for row in np.argsort(-found.score, kind="stable"):
        worst.setdefault(found.queries[row], int(row))
    rows = sorted(worst.values(), key=lambda row: found.kinds[row] != EVERYONE)
    return np.array(rows[:MOST_GROUPS], dtype=np.intp)


def _caption(found: Coherence | None, shown: int) -> str:
    if found is None or len(set(found.queries)) <= shown:
        return "Do the tables contradict each other?"
    others = f"the {shown - 1:,} of {number_of(len(set(found.queries)) - 1, 'subgroup')} that come nearest to it"
    return f"Do the tables contradict each other? Everyone, and {others}"
