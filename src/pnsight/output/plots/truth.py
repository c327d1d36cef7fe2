"""Answers beside a truth that is known: true against predicted bounds, and how often intervals cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from pnsight._palette import BLACK, BLUE, GREY, VERMILION
from pnsight._typing import FloatArray
from pnsight.errors import ModelError
from pnsight.estimands.compiled_ratio import Ends
from pnsight.models import Model
from pnsight.output.plots.canvas import SMALL, TEXT, Drawing, canvas, plain, titled
from pnsight.queries.bound_table import BoundTable
from pnsight.queries.query import QueryLike

LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Levels of confidence that are compared with how often intervals cover."""


def true_against_predicted(truth: Ends, predicted: Mapping[str, Ends], title: str) -> Figure:
    """True bounds on x, predicted on y, as densities: a row of panels a model, lower and upper end."""
    figure = Drawing(figsize=(6.4, 2.9 * len(predicted)), layout="constrained", facecolor="white")
    grid = figure.subplots(len(predicted), 2, squeeze=False, sharex=True, sharey=True)
    for panels, (model, ends) in zip(grid, predicted.items(), strict=True):
        for axes, end, ours, right in zip(panels, ("lower", "upper"), ends, truth, strict=True):
            plain(axes)
            _density(axes, right, ours)
            axes.set_title(f"{model}: {end} end", fontsize=TEXT)
        panels[0].set_ylabel("predicted")
    for axes in grid[-1]:
        axes.set_xlabel("true")
    titled(figure, title)
    return figure


def _density(axes: Axes, true: FloatArray, ours: FloatArray) -> None:
    defined = ~np.isnan(ours)
    edges = np.linspace(0, 1, 81)
    axes.grid(visible=False)
    axes.hist2d(true[defined], ours[defined], bins=[edges, edges], norm=LogNorm(), cmap="viridis", rasterized=True)
    axes.plot([0, 1], [0, 1], color=BLACK, linewidth=0.8)
    ticks = np.linspace(0, 1, 6)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=ticks, yticks=ticks)


def calibration(
    model: Model,
    truth: BoundTable,
    queries: QueryLike = None,
    levels: Sequence[float] = LEVELS,
    title: str = "How often intervals cover the true bound",
) -> Figure:
    """The share of queries whose true bound lies in its interval, against the level of confidence, for each end.

    `truth` holds the true bounds of the same queries, such as a population's `bounds(queries)`.
    """
    figure, (axes,) = canvas(4.6, 4.4)
    shares = np.array([_covered(model.bounds(queries, truth.quantity, level=level), truth) for level in levels])
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=1, label="as promised")
    for end, colour, marker, line in (("lower", BLUE, "o", "-"), ("upper", VERMILION, "s", "--")):
        values = shares[:, 0 if end == "lower" else 1]
        axes.plot(levels, values, color=colour, marker=marker, linestyle=line, ms=6, label=f"{end} end", clip_on=False)
    low = min(0.9, np.floor(10 * min(shares.min(), min(levels))) / 10)
    axes.set(xlim=(low, 1), ylim=(low, 1), aspect="equal", xlabel="level of confidence", ylabel="share covered")
    axes.legend(loc="upper left", fontsize=SMALL, frameon=False)
    titled(figure, title)
    return figure


def _covered(answers: BoundTable, truth: BoundTable) -> tuple[float, float]:
    """The share of true lower and of true upper bounds that are in their interval."""
    if answers.level is None:
        raise ModelError("this model gives no intervals; how often they cover is a question to a response-types model.")
    ends = ((truth.lower, answers.interval("lower")), (truth.upper, answers.interval("upper")))
    lower, upper = (float(((low <= true) & (true <= high)).mean()) for true, (low, high) in ends)
    return lower, upper
