"""Where everything is on the drawing of bounds over time, in units of its view box."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pnsight.estimands.resolve import OK
from pnsight.queries.bound_table import BoundTable

WIDTH, HEIGHT = 300.0, 150.0
"""Of the field that curves are drawn in."""

_STEPS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Tops that a scale may have."""


@dataclass(frozen=True)
class Dot:
    """An end of the bounds at a horizon, and its interval if there is one."""

    x: float
    y: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Panel:
    """Bounds of one quantity at each horizon.

    Attributes
    ----------
    name, meaning : what is drawn
    lower, upper, area : corners of lines and of the area between them, as SVG takes them
    dots : ends with their intervals
    x_ticks, y_ticks : places and what is written there
    at : where the horizon is that is asked about
    told : the numbers, for readers who do not see the drawing
    """

    name: str
    meaning: str
    lower: str
    upper: str
    area: str
    dots: Sequence[Dot]
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    at: float | None
    told: str


def top_of(tables: Sequence[BoundTable]) -> float:
    """The top of a scale on which all bounds and intervals have room."""
    ends = [float(value[0]) for table in tables for value in (table.upper, table.interval("upper")[1])]
    most = max((end for end in ends if not math.isnan(end)), default=1.0)
    return next((step for step in _STEPS if most <= step), 1.0)


def panel(
    name: str,
    meaning: str,
    horizons: Sequence[float],
    tables: Sequence[BoundTable],
    top: float,
    at: float | None,
) -> Panel:
    """The drawing of answers, one table of one row for each horizon; horizons without an answer are left out."""

    def x(horizon: float) -> float:
        return round(WIDTH * horizon / horizons[-1], 1)

    def y(share: float) -> float:
        return round(HEIGHT * (1 - min(share, top) / top), 1)

    known = [(each, table) for each, table in zip(horizons, tables, strict=True) if table.status[0] == OK]
    lower = [(x(each), y(float(table.lower[0]))) for each, table in known]
    upper = [(x(each), y(float(table.upper[0]))) for each, table in known]
    dots = []
    for each, table in known:
        for value, interval in ((table.lower, table.interval("lower")), (table.upper, table.interval("upper"))):
            low, high = (float(end[0]) for end in interval)
            dots.append(Dot(x(each), y(float(value[0])), None if math.isnan(low) else (y(low), y(high))))
    told = "; ".join(f"{each:g}: {float(table.lower[0]):.3f} to {float(table.upper[0]):.3f}" for each, table in known)
    return Panel(
        name,
        meaning,
        _corners(lower),
        _corners(upper),
        _corners([*lower, *reversed(upper)]),
        dots,
        _apart([(x(each), f"{each:g}") for each in horizons]),
        [(y(top * part), f"{top * part:g}") for part in (0, 0.5, 1)],
        None if at is None else x(at),
        told,
    )


def _corners(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)


def _apart(ticks: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Ticks that leave each other room, the last one always."""
    found: list[tuple[float, str]] = []
    for x, text in reversed(ticks):
        if not found or found[-1][0] - x >= 10 + 7 * len(text):
            found.append((x, text))
    return found[::-1]
