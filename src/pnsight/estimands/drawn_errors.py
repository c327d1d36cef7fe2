"""Standard errors of ends by drawing laws: how far an end strays when the shares that it is made of stray.

An end is the largest or smallest of several terms. Where errors are larger than the distance between terms, the terms
take turns, and the end strays less than any of them. So laws are drawn around the estimate, by the same few
quasi-random points for every query, and the spread of their ends is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.law import Law
from pnsight.estimands.compiled_ratio import Ends

DRAWS = 64
"""Laws drawn: a power of two, as the Sobol sequence wants."""

_MIN_SHARE = 1e-9
"""Least share of a drawn law, so that no event that a quantity conditions on becomes impossible."""


class EndErrors(NamedTuple):
    """Standard errors of the lower end, of the upper end, and of the distance between them, shape (queries,) each.

    The last two say by how much drawn lower ends are higher, and upper ones lower, than those at the estimate.
    """

    lower: FloatArray
    upper: FloatArray
    width: FloatArray
    lower_excess: FloatArray
    upper_excess: FloatArray

    @property
    def ends(self) -> Ends:
        """Those of the two ends."""
        return self.lower, self.upper

    @property
    def excess(self) -> Ends:
        """By how much the ends may be too far inwards, as largest and smallest of noisy terms."""
        return np.maximum(self.lower_excess, 0.0), np.maximum(self.upper_excess, 0.0)


def drawn_errors(bound: Callable[[Law], Ends], law: Law, rows: FloatArray, span: tuple[float, float]) -> EndErrors:
    """Standard errors of both ends at the law of a query.

    Parameters
    ----------
    bound
        From laws, one query a row, to both ends of each query.
    law
        Estimated laws.
    rows : shape (queries, groups)
        How many independent rows the shares of each group are worth.
    span
        The least and the largest value that the quantity can have.

    Returns
    -------
    The standard errors; NaN where nothing is known.
    """
    ends = np.empty((DRAWS, 2, len(law)))
    known = np.where(rows > 0, rows, np.nan)
    for draw, point in enumerate(_normal_points(law.structure.n_cells)):
        ends[draw] = np.clip(bound(_strayed(law, known, point)), *span)
    mean, (lower, upper) = _mean_and_deviation(ends)
    _, width = _mean_and_deviation(ends[:, 1] - ends[:, 0])
    inwards = np.nan_to_num(mean - np.clip(bound(law), *span))
    return EndErrors(lower, upper, width, inwards[0], -inwards[1])


def _mean_and_deviation(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Over the first axis, one value after the other: no answer depends on which others are asked for with it."""
    mean = sum(values, np.zeros(values.shape[1:])) / len(values)
    square = sum(((value - mean) ** 2 for value in values), np.zeros(values.shape[1:])) / len(values)
    return np.asarray(mean), np.sqrt(square)


def _strayed(law: Law, rows: FloatArray, point: FloatArray) -> Law:
    """Laws that are off by as much as shares of so many rows, in the direction of a normal point, shape (cells,)."""
    cells = law.cells.copy()
    for number, columns in enumerate(law.structure.group_slices):
        shares, size = law.cells[:, columns], rows[:, number, None]
        likely = (size * shares + 0.5) / (size + 0.5 * shares.shape[1])  # nothing is known for certain from few rows
        spread = np.sqrt(likely) * point[columns]
        off = (spread - likely * spread.sum(axis=1, keepdims=True)) / np.sqrt(size)
        moved = np.clip(shares + off, _MIN_SHARE, 1.0)
        cells[:, columns] = moved / moved.sum(axis=1, keepdims=True)
    return Law(law.structure, cells)


@lru_cache
def _normal_points(dimensions: int) -> FloatArray:
    """Points that spread like a standard normal distribution, shape (draws, dimensions), the same each time."""
    from scipy.special import ndtri
    from scipy.stats import qmc

    points = ndtri(qmc.Sobol(dimensions, seed=0).random(DRAWS))
    centred = points - points.mean(axis=0)
    return np.asarray(centred / centred.std(axis=0))
