"""Figures of the experiment, drawn from results: threshold sweeps, error against rows, the leak, diagrams.

Every series has its own marker or line, so figures read in grey.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from pnsight._palette import BLACK, BLUE, DARK_GREY, GREEN, ORANGE, PURPLE, SKY, VERMILION
from pnsight.output.plots.canvas import STYLE
from pnsight.simulation import StructuralPopulation
from pnsight_experiments.settings import PLAIN
from pnsight_experiments.summary import Row, fits

LOOKS = {
    "plug-in": (DARK_GREY, ""),
    "response-types": (BLACK, "*"),
    "exact-mlp": (VERMILION, "s"),
    "mask-mlp": (BLUE, "o"),
    "mask-mlp-relu": (SKY, "v"),
    "mask-boosting": (GREEN, "^"),
    "mask-forest": (PURPLE, "D"),
    "mask-nearest": (ORANGE, "P"),
}
"""Colour and marker of each learner."""

_ENDS = {"lower": "-", "upper": "--"}


def threshold_sweep(rows: Sequence[Row], population: str, budget: int) -> Figure:
    """Mean absolute error against the threshold: exact queries on the left, all queries on the right."""
    mine = [row for row in fits(rows) if (row["population"], row["budget"]) == (population, budget)]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(8.2, 3.4), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for axes, space, title in zip(panels, ("exact", "mask"), ("exact queries", "all queries"), strict=True):
            _sweep_panel(axes, mine, space)
            axes.set(
                title=f"{population}, {budget:,} rows: {title}", xlabel="rows a training query needs", yscale="log"
            )
            _plain_ticks(axes)
        panels[0].set_ylabel("mean absolute error")
        handles, labels = panels[0].get_legend_handles_labels()
        more = [item for item in zip(*panels[1].get_legend_handles_labels(), strict=True) if item[1] not in labels]
        handles, labels = handles + [h for h, _ in more], labels + [text for _, text in more]
        figure.legend(handles, labels, loc="outside lower center", ncols=max(1, (len(labels) + 1) // 2))
    return figure


def _plain_ticks(axes: Axes) -> None:
    """A logarithmic axis labelled .01, .02, .05 rather than by powers."""
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _sweep_panel(axes: Axes, rows: Sequence[Row], space: str) -> None:
    for learner, (colour, marker) in LOOKS.items():
        for end, line in _ENDS.items():
            column, name = f"{space}_{end}_mae", f"{learner}, {end}"
            if learner in PLAIN:
                values = [r[column] for r in rows if r["learner"] == learner and r["dropped"] != "infeasible"]
                if values:
                    axes.axhline(fmean(values), color=colour, linestyle=line, label=name)
                continue
            sweep = _by_threshold(rows, learner, column)
            if len(sweep) > 1:
                axes.plot(
                    list(sweep), list(sweep.values()), color=colour, linestyle=line, marker=marker, ms=4, label=name
                )


def _by_threshold(rows: Sequence[Row], learner: str, column: str) -> dict[int, float]:
    found: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        if row["learner"] == learner and row["validation"] == "queries" and row[column] is not None:
            found[int(row["threshold"])].append(row[column])
    return {threshold: fmean(values) for threshold, values in sorted(found.items())}


def error_by_budget(rows: Sequence[Row], population: str) -> Figure:
    """Mean absolute error against rows, both axes logarithmic: exact queries on the left, all queries on the right."""
    mine = [row for row in fits(rows) if row["population"] == population and row["dropped"] != "infeasible"]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(8.2, 3.4), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for axes, space, title in zip(panels, ("exact", "mask"), ("exact queries", "all queries"), strict=True):
            for learner in PLAIN:
                colour, _ = LOOKS[learner]
                for end, line in _ENDS.items():
                    points = sorted((r["budget"], r[f"{space}_{end}_mae"]) for r in mine if r["learner"] == learner)
                    budgets, values = zip(*points, strict=True)
                    style: dict[str, Any] = {"color": colour, "linestyle": line, "marker": "o", "ms": 4}
                    axes.plot(budgets, values, label=f"{learner}, {end}", **style)
            axes.set(title=f"{population}: {title}", xlabel="rows of each table", xscale="log", yscale="log")
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
            _plain_ticks(axes)
        panels[0].set_ylabel("mean absolute error")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def learning_curves(curves: Sequence[Row], title: str) -> Figure:
    """Training, validation and oracle error against epochs: a panel for each way to validate."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(8.2, 3.6), layout="constrained")
        panels = figure.subplots(1, 2, sharey=True)
        for axes, validation in zip(panels, ("queries", "rows"), strict=True):
            _curve_panel(axes, [row for row in curves if row["validated_by"] == validation])
            axes.set(title=f"validation by {validation}", xlabel="epoch", xscale="log", yscale="log")
            _plain_ticks(axes)
        panels[0].set_ylabel("root mean squared error;\noracle: mean absolute error")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
        figure.suptitle(title)
    return figure


def _curve_panel(axes: Axes, rows: Sequence[Row]) -> None:
    series = {
        "training": ("training", DARK_GREY, ":"),
        "validation": ("validation", ORANGE, "-"),
        "oracle_exact": ("oracle, exact queries", VERMILION, "--"),
        "oracle_mask": ("oracle, all queries", BLUE, "-."),
    }
    rows = [row for row in rows if row["end"] == "lower"]
    epochs = [row["epoch"] for row in rows]
    for column, (name, colour, line) in series.items():
        axes.plot(epochs, [row[column] for row in rows], color=colour, linestyle=line, label=name)
    kept = min(rows, key=lambda row: float(row["validation"]))
    axes.axvline(kept["epoch"], color="black", linewidth=0.8, label="checkpoint kept")


def diagram(population: StructuralPopulation) -> Figure:
    """The causal diagram of a population, from its arrows."""
    places = {"Z": (0.5, 1.0), "X": (0.0, 0.0), "Y": (1.0, 0.0), "M": (0.5, -0.5), "H": (0.5, 0.5)}
    nodes = dict.fromkeys(["Z", *(node for arrow in population.arrows for node in arrow)])
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(2.2, 2.2), layout="constrained")
        axes = figure.subplots()
        for cause, effect in population.arrows:
            style: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 14, "shrinkA": 13, "shrinkB": 13}
            axes.add_patch(FancyArrowPatch(places[cause], places[effect], color="black", **style))
        for node in nodes:
            axes.add_patch(Circle(places[node], 0.13, facecolor="white", edgecolor="black"))
            axes.text(*places[node], node, ha="center", va="center")
        axes.set(xlim=(-0.25, 1.25), ylim=(-0.75, 1.25), aspect="equal", title=population.name)
        axes.axis("off")
    return figure
