"""Where the rows of a study are: a map of every level and every pair of levels."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, NullFormatter

from pnsight._palette import BLACK, GREY
from pnsight._typing import FloatArray
from pnsight.data.labels import Labels
from pnsight.data.schema import OPEN, Schema
from pnsight.data.study import Study
from pnsight.diagnostics.support import ENOUGH_ROWS
from pnsight.output.plots.canvas import SMALL, below, canvas, shortened, titled, verbatim
from pnsight.queries import lattice

MOST_LEVELS = 60
"""Levels that a support map shows; of more, those of the first covariates."""

_LETTERS, _LEAST_OF_NAME = 26, 12  # of a level with its covariate, and of the covariate where both are long
_NUMBERED = 24  # levels up to which a cell has room for its number
_POINTS = 45  # that letters may have, of an inch that the names share
_HATCH = "////"
_SHADES = "Blues"  # from light to dark, so that it reads in grey


def support_map(study: Study, title: str | None = None) -> Figure:
    """Rows in the table that has fewer of them: for each level on the diagonal, and below it for each pair of levels.

    The darker the more; hatched where there are fewer than the `ENOUGH_ROWS` that speak for themselves.
    """
    levels, texts = _levels(study.schema, study.labels)
    side = min(9.0, 2.2 + 0.36 * len(levels))
    figure, (axes,) = canvas(side + 1.4, side)
    if levels:
        _draw(figure, axes, _pair_rows(study, levels), texts)
    else:
        axes.text(0.5, 0.5, "no covariates", transform=axes.transAxes, ha="center", va="center", fontsize=SMALL)
        axes.set(xticks=[], yticks=[])
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    titled(figure, title or f"Rows behind {_which(study.schema)}, and every pair of levels")
    verbatim(axes)
    return figure


def _which(schema: Schema) -> str:
    """Whether all levels are shown, in words."""
    return (
        f"the first {MOST_LEVELS} of {sum(schema.shape)} levels" if sum(schema.shape) > MOST_LEVELS else "every level"
    )


def _levels(schema: Schema, labels: Labels) -> tuple[list[tuple[int, int]], list[str]]:
    """Covariate and level of each row and column of the map, and what it is called."""
    found = [(j, level) for j, levels in enumerate(schema.shape) for level in range(levels)][:MOST_LEVELS]
    named = [(schema.names[j], schema.covariates[j].levels[level]) for j, level in found]
    return found, [_short_term(labels, name, level) for name, level in named]


def _short_term(labels: Labels, name: str, level: str) -> str:
    """A level by name, cut where it is long so that levels of one covariate are told apart."""
    text, value = labels.term(name, level), labels.value(name, level)
    if len(text) <= _LETTERS:
        return text
    sign = text.removeprefix(labels.column(name)).removesuffix(value)
    value = shortened(value, _LETTERS - _LEAST_OF_NAME)
    return f"{shortened(labels.column(name), _LETTERS - len(sign) - len(value))}{sign}{value}"


def _pair_rows(study: Study, levels: list[tuple[int, int]]) -> FloatArray:
    """Rows of the table with fewer, shape (levels, levels); NaN above the diagonal and within a covariate."""
    places = [(i, k) for i, (a, _) in enumerate(levels) for k, (b, _) in enumerate(levels[: i + 1]) if a != b or i == k]
    codes = np.full((len(places), len(study.schema.names)), OPEN, dtype=np.int32)
    for query, pair in zip(codes, places, strict=True):
        for j, level in (levels[place] for place in pair):
            query[j] = level
    counts = lattice.sum_over(study.schema, study.schema.coded(codes), study.profiles, study.counts)
    rows = np.full((len(levels), len(levels)), np.nan)
    rows[tuple(np.array(places).T)] = study.structure.by_table(counts).min(axis=1)
    return rows


def _draw(figure: Figure, axes: Axes, rows: FloatArray, texts: list[str]) -> None:
    most = max(float(np.nanmax(rows)), 10.0)
    norm = LogNorm(max(1.0, min(float(np.nanmin(rows)), most / 10)), most)
    shades = axes.imshow(np.where(rows > 0, rows, np.nan), norm=norm, cmap=_SHADES, aspect="equal")
    for i, k in np.argwhere(~np.isnan(rows)):
        if rows[i, k] < ENOUGH_ROWS:
            axes.add_patch(
                Rectangle((k - 0.5, i - 0.5), 1, 1, facecolor="none", edgecolor=GREY, hatch=_HATCH, linewidth=0)
            )
        if len(rows) <= _NUMBERED:
            _number(axes, k, i, rows[i, k], light=bool(rows[i, k] > 0 and norm(rows[i, k]) > 0.6))
    size = min(SMALL, _POINTS * min(figure.get_size_inches()) / len(texts))
    axes.set_xticks(range(len(texts)), texts, rotation=90, fontsize=size)
    axes.set_yticks(range(len(texts)), texts, fontsize=size)
    bar = figure.colorbar(shades, ax=axes, shrink=0.6, pad=0.02)
    bar.ax.tick_params(labelsize=SMALL)
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    bar.set_label("rows in the table with fewer", fontsize=SMALL)
    key = Patch(facecolor="white", edgecolor=GREY, hatch=_HATCH, label=f"fewer than {ENOUGH_ROWS}")
    below(figure, [key])


def _number(axes: Axes, x: int, y: int, rows: float, light: bool) -> None:
    text = f"{rows:.0f}" if rows < 1000 else f"{rows / 1000:.0f}k"
    box = None if light else {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.8}
    axes.text(
        x, y, text, ha="center", va="center", fontsize=SMALL - 2, color="white" if light else BLACK, bbox=box, zorder=3
    )
