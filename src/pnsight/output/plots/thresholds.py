"""Whom a rule would treat, not treat or leave uncertain, against the threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from pnsight import _palette as palette
from pnsight._typing import FloatArray
from pnsight.decisions.thresholds import ThresholdCurve
from pnsight.estimands.quantities import find_quantity
from pnsight.output.plots.canvas import below, canvas, titled

_LOOKS = {
    "treat": palette.DECISIONS["treat"],
    "uncertain": palette.DECISIONS["uncertain"],
    "not": palette.DECISIONS["not"],
    "unanswered": palette.NO_DECISION,
}
"""From the bottom up, the look of each."""

_HARMED = "treated and harmed, at most"


def threshold_plot(found: ThresholdCurve, title: str | None = None) -> Figure:
    """Shares of the people by decision, one upon the other, and who is harmed of those treated; caution is dashed."""
    label = find_quantity(found.quantity).label
    harmed = found.harmed_cautious if found.cautious else found.harmed
    return drawn_thresholds(found.thresholds, found.plain, found.cautious, harmed, label, title)


def drawn_thresholds(
    thresholds: FloatArray,
    plain: Mapping[str, FloatArray],
    cautious: Mapping[str, FloatArray],
    harmed: FloatArray,
    label: str,
    title: str | None = None,
) -> Figure:
    """The columns of a `ThresholdCurve`, drawn; `label` is what the quantity is called.

    `harmed` is of those treated, with caution where there is any; drawn is their share of the people.
    """
    figure, (axes,) = canvas(6.4, 3.4)
    shown: Sequence[str] = [name for name in _LOOKS if np.any(plain[name] > 0)]
    filled = axes.stackplot(
        thresholds,
        [plain[name] for name in shown],
        colors=[_LOOKS[name].colour for name in shown],
        labels=[_LOOKS[name].name for name in shown],
        alpha=0.55,
        linewidth=0,
    )
    handles: list[Artist] = [*filled]
    if cautious:
        below_uncertain = cautious["treat"]
        for height in (below_uncertain, below_uncertain + cautious["uncertain"]):
            (line,) = axes.plot(thresholds, height, color=palette.BLACK, linestyle="--", linewidth=1.4)
        line.set_label("the same with caution")
        handles.append(line)
    if not np.isnan(harmed).all():
        share = np.nan_to_num(harmed) * (cautious or plain)["treat"]
        handles += axes.plot(thresholds, share, color=palette.VERMILION, linewidth=1.8, label=_HARMED)
    below(figure, handles)
    axes.set_xlim(float(thresholds[0]), float(thresholds[-1]))
    axes.set_ylim(0, 1)
    axes.set(xlabel=f"threshold that {label} must reach", ylabel="share of the people")
    titled(figure, title or "Decisions against the threshold")
    return figure
