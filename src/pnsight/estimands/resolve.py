"""From bounds as the arithmetic gives them to ends that never cross, and a status for each query."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray

ROUNDING = 1e-9
"""Ends that cross by less than this crossed in floating point only."""

OK, INCOHERENT, UNDEFINED, CROSSED = "ok", "incoherent", "undefined", "crossed"


def resolve_crossed_bounds(
    lower: FloatArray,
    upper: FloatArray,
    when_crossed: str = INCOHERENT,
    within: tuple[float, float] = (0.0, 1.0),
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.str_]]:
    """Ends that never cross and a status a row: where there is no answer both ends are NaN.

    `within` are the least and the largest value that the quantity can have.
    """
    undefined = np.isnan(lower) | np.isnan(upper)
    crossed = ~undefined & (lower > upper + ROUNDING * max(1.0, *map(abs, within)))
    status = np.where(undefined, UNDEFINED, np.where(crossed, when_crossed, OK))
    upper = np.clip(upper, *within)
    lower = np.minimum(np.clip(lower, *within), upper)
    blank = status != OK
    return np.where(blank, np.nan, lower), np.where(blank, np.nan, upper), status
