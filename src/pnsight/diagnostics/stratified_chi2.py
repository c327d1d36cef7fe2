"""Whether groups of people are spread over cells alike, within strata: one test for all such questions.

The statistic is Pearson's chi-square, summed over strata. Given the margins its mean and variance under independence
are known exactly, however few people a cell has, and a gamma law with those two gives the p-value. With many people a
cell that is the usual chi-square test; with few it stays right, where the usual one does not.
Where rows weigh unequally or come in clusters, the statistic is multiplied by what a row is worth (the first-order
correction of J. N. K. Rao and A. J. Scott (1984), "On chi-squared tests for multiway contingency tables with cell
proportions estimated from survey data").
Source of the variance: T. Lewis, I. W. Saunders and M. Westcott (1984), "The moments of the Pearson chi-squared
statistic and the minimum expected value in two-way tables", after J. B. S. Haldane (1940).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaincc

from pnsight._typing import FloatArray

CellIndex = npt.NDArray[np.intp]
"""Which stratum or cell each profile is in, shape (profiles,)."""

_MIN_ROWS = 4  # with fewer a stratum has no variance to speak of, nor the formula for it


@dataclass(frozen=True)
class Association:
    """Pearson's chi-square beside what independence makes of it."""

    statistic: float
    mean: float
    variance: float
    rows: float

    @property
    def p_value(self) -> float:
        """Chance of a statistic at least as large under independence; one where nothing could be compared."""
        if self.variance <= 0:
            return 1.0
        return float(gammaincc(self.mean**2 / self.variance, self.statistic * self.mean / self.variance))

    @property
    def excess(self) -> float:
        """What is left of the statistic when chance has had its share."""
        return max(0.0, self.statistic - self.mean)

    @property
    def size(self) -> float:
        """Correlation of the group with its best prediction from the cell, within strata: 0 none, 1 complete."""
        return math.sqrt(self.excess / self.rows) if self.rows else 0.0


def association(
    groups: FloatArray, cells: CellIndex, strata: CellIndex | None = None, worth: float = 1.0
) -> Association:
    """Stratified chi-square: whether the cells say which group a person is in, beyond the stratum.

    Parameters
    ----------
    groups : shape (profiles, groups)
        People of each profile in each group.
    cells : shape (profiles,)
        The cell of each profile.
    strata : shape (profiles,), or None
        The stratum of each profile; None for one stratum.
    worth
        How many independent rows a row is worth in this comparison.

    Returns
    -------
    the statistic beside what independence makes of it
    """
    present = groups[:, groups.sum(axis=0) > 0] if groups.shape[1] > 2 else groups
    if present.shape[1] == 1:
        return Association(0.0, 0.0, 0.0, worth * float(groups.sum()))
    table, stratum = _cells_of_strata(present, cells, np.zeros_like(cells) if strata is None else strata)
    rows = table.sum(axis=1)

    def total(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(stratum, weights=values), dtype=np.float64)

    n, margins = total(rows), np.stack([total(group) for group in table.T], axis=1)
    count, inverses = total(np.ones_like(rows)), total(1 / np.maximum(rows, 1.0))  # a cell has at least one row
    usable = (n >= _MIN_ROWS) & (margins > 0).all(axis=1) & (count > 1)
    shares = margins / np.maximum(n, 1e-300)[:, None]  # strata without rows are not usable
    statistic = total(_distances(table, rows, shares[stratum]))
    n, margins, count, inverses = (values[usable] for values in (n, margins, count, inverses))
    variance = _variance(n, margins, count, inverses).sum()
    mean = (margins.shape[1] - 1) * ((count - 1) * n / (n - 1)).sum()
    return Association(worth * float(statistic[usable].sum()), float(mean), float(variance), worth * float(n.sum()))


def _distances(table: FloatArray, rows: FloatArray, shares: FloatArray) -> FloatArray:
    """What each cell adds to the statistic, from its people (cells, groups) and the groups' shares of its stratum."""
    with np.errstate(invalid="ignore", divide="ignore"):  # strata that are not usable
        if table.shape[1] == 2:
            share = shares[:, 0]
            return np.asarray((table[:, 0] - rows * share) ** 2 / (rows * share * (1 - share)))
        expected = rows[:, None] * shares
        return np.asarray(((table - expected) ** 2 / expected).sum(axis=1))


def _cells_of_strata(groups: FloatArray, cells: CellIndex, strata: CellIndex) -> tuple[FloatArray, CellIndex]:
    """The people of every cell of every stratum, shape (pairs, groups), empty ones left out, and the pair's stratum."""
    width = int(cells.max(initial=0)) + 1
    pairs, place = np.unique(strata * width + cells, return_inverse=True)
    table = np.stack([np.bincount(place, weights=group, minlength=len(pairs)) for group in groups.T], axis=1)
    some = table.sum(axis=1) > 0
    return table[some], (pairs // width)[some]


def _variance(n: FloatArray, margins: FloatArray, cells: FloatArray, inverses: FloatArray) -> FloatArray:
    """Variance of each stratum's chi-square given its margins; `inverses` is the sum of 1 / rows over its cells."""
    groups = margins.shape[1]
    of_groups = sum((1 / margin for margin in margins.T), np.zeros(len(n)))
    cells_even, cells_uneven = (cells - 1) * (n - cells) / (n - 1), (n * inverses - cells**2) / (n - 2)
    groups_even = (groups - 1) * (n - groups) / (n - 1)
    groups_uneven = (n * of_groups - groups**2) / (n - 2)
    even = 2 * n / (n - 3) * (cells_even - cells_uneven) * (groups_even - groups_uneven)
    return np.asarray(even + n**2 / (n - 1) * cells_uneven * groups_uneven)
