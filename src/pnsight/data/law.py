"""The law of a subpopulation: the six numbers that the two tables identify.

    a = P(y_x)    b = P(y_x')    and the joint P(x,y), P(x,y'), P(x',y), P(x',y')

Source: Tian and Pearl (2000), "Probabilities of causation: bounds and identification".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray

RESPONSE_TYPES = np.array([(x, y0, y1) for x in (0, 1) for y0 in (0, 1) for y1 in (0, 1)])
"""The eight kinds of people, shape (8, 3): X they would choose, Y if untreated, Y if treated."""

COUNT_CELLS = ("x,y", "x,y'", "x',y", "x',y'")
"""Order of the four counts of either table, and of `Law.joint`."""


def _observed_cell(x: int, y: int) -> FloatArray:
    chosen, y0, y1 = RESPONSE_TYPES.T
    return np.asarray((chosen == x) & (np.where(x == 1, y1, y0) == y), dtype=np.float64)


TREATED_RESPONDS = (RESPONSE_TYPES[:, 2] == 1).astype(np.float64)
UNTREATED_RESPONDS = (RESPONSE_TYPES[:, 1] == 1).astype(np.float64)
OBSERVED_CELLS = np.stack([_observed_cell(x, y) for x, y in ((1, 1), (1, 0), (0, 1), (0, 0))])
"""Which response types show up in which observational cell, shape (4, 8)."""

COUNTED_CELLS = np.stack(
    [TREATED_RESPONDS, 1 - TREATED_RESPONDS, UNTREATED_RESPONDS, 1 - UNTREATED_RESPONDS, *OBSERVED_CELLS]
)
"""Which response types show up in which cell of `Study.counts`, shape (8 cells, 8 types).

Times a distribution over the types, it gives each experimental cell's share of its arm and each observational cell's
share of all.
"""


@dataclass(frozen=True)
class Law:
    """Laws of many subpopulations, one a row.

    Attributes
    ----------
    a, b : shape (rows,)
        P(y_x) and P(y_x'); NaN where the experiment has no rows in that arm.
    joint : shape (rows, 4), or None
        P(x,y), P(x,y'), P(x',y), P(x',y'); None when there is no observational table.
    """

    a: FloatArray
    b: FloatArray
    joint: FloatArray | None = None

    @classmethod
    def from_types(cls, types: FloatArray) -> Law:
        """Laws implied by distributions over the eight response types, shape (rows, 8)."""
        return cls(types @ TREATED_RESPONDS, types @ UNTREATED_RESPONDS, types @ OBSERVED_CELLS.T)

    @classmethod
    def from_counts(cls, experimental: FloatArray, observational: FloatArray | None) -> Law:
        """Empirical laws from counts in the order of `COUNT_CELLS`, each of shape (rows, 4)."""
        treated, control = experimental[:, :2], experimental[:, 2:]
        joint = None if observational is None else _shares(observational)
        return cls(_shares(treated)[:, 0], _shares(control)[:, 0], joint)

    def __len__(self) -> int:
        return len(self.a)

    def __getitem__(self, rows: slice | npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> Law:
        return Law(self.a[rows], self.b[rows], None if self.joint is None else self.joint[rows])

    def columns(self) -> FloatArray:
        """All numbers side by side, a, b and the joint, shape (rows, 6), or (rows, 2) without a joint."""
        return np.column_stack([self.a, self.b] if self.joint is None else [self.a, self.b, self.joint])

    @classmethod
    def from_columns(cls, columns: FloatArray) -> Law:
        """What `columns` set side by side."""
        return cls(columns[:, 0], columns[:, 1], columns[:, 2:] if columns.shape[1] > 2 else None)

    def mix(self, weights: FloatArray) -> Law:
        """Laws of mixtures of the rows; `weights` of shape (mixtures, rows), each row summing to one."""
        joint = None if self.joint is None else weights @ self.joint
        return Law(weights @ self.a, weights @ self.b, joint)

    def violation(self) -> FloatArray:
        """By how much no population can have each law; zero where one can.

        A population exists iff P(x,y) <= a <= 1 - P(x,y') and P(x',y) <= b <= 1 - P(x',y').
        """
        if self.joint is None:
            return np.zeros_like(self.a)
        xy, xy0, x0y, x0y0 = self.joint.T
        gaps = [xy - self.a, self.a - (1 - xy0), x0y - self.b, self.b - (1 - x0y0)]
        worst: FloatArray = np.maximum.reduce([np.zeros_like(self.a), *gaps])
        return worst


def _shares(counts: FloatArray) -> FloatArray:
    totals = counts.sum(axis=1, keepdims=True)
    shares: FloatArray = np.divide(counts, totals, out=np.full(counts.shape, np.nan), where=totals > 0)
    return shares
