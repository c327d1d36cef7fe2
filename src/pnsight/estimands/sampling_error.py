"""How far an estimated law strays, and with it linear functions of its cells and ratios of them.

Two things can say it: independent rows behind each group of cells, or a covariance of the cells. From rows, the limits
of a linear function are put together from those of its groups by squaring and adding (Newcombe 1998, "Interval
estimation for the difference between independent proportions"; Zou and Donner 2008, "Construction of confidence limits
about effect measures"). Those of a group are Agresti and Coull's (1998, "Approximate is better than exact for interval
estimation of binomial proportions"), which hold also where a share is 0 or 1; a group whose cells count differently
takes the variance of what they count. From a covariance, limits are normal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from pnsight._typing import BoolArray, FloatArray
from pnsight.data.structure import Structure

Side: TypeAlias = Literal[-1, 1]
"""Below an estimate or above it."""

PRIOR_ROWS = 2.0
"""Rows, spread evenly over the cells of a group, that shares are smoothed by before variances are taken from them."""


class SamplingError(ABC):
    """How far an estimated law strays."""

    @abstractmethod
    def covariance(self, gradient: FloatArray, cells: FloatArray, structure: Structure) -> FloatArray:
        """Covariance of linear functions of the cells, shape (terms, terms, queries).

        `gradient` has shape (terms, cells, queries or 1), `cells` (cells, queries).
        """

    @abstractmethod
    def terms(self, coefficients: FloatArray, event: FloatArray, cells: FloatArray, structure: Structure) -> TermReach:
        """How far terms reach: of coefficients (terms, cells), divided by an event (cells,)."""

    @abstractmethod
    def known(self, used: BoolArray) -> BoolArray:
        """For which queries there is something behind the groups used, shapes (groups,) and (queries,)."""

    @abstractmethod
    def __getitem__(self, some: slice) -> SamplingError: ...

    @property
    @abstractmethod
    def least_rows(self) -> FloatArray:
        """Rows behind the group that has fewest, shape (queries,)."""

    @property
    def rows_by_group(self) -> FloatArray | None:
        """Rows behind each group, shape (queries, groups), where that is what is known."""
        return None


Reach: TypeAlias = Callable[[FloatArray], FloatArray]
"""How far the interval of numerator - ratio x event reaches, at ratios (terms, queries or 1); not negative."""


class TermReach(ABC):
    """How far the intervals of terms reach."""

    @abstractmethod
    def towards(self, side: Side, critical: FloatArray) -> Reach:
        """On one side, at critical values of shape (queries,)."""


# --- from rows -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RowsBehind(SamplingError):
    """Independent rows behind each group of cells.

    Attributes
    ----------
    rows : shape (queries, groups)
        Effective numbers; may be infinite.
    """

    rows: FloatArray

    def __getitem__(self, some: slice) -> RowsBehind:
        return RowsBehind(self.rows[some])

    @property
    def rows_by_group(self) -> FloatArray:
        """As given."""
        return self.rows

    @cached_property
    def _divisors(self) -> FloatArray:
        """Rows to divide by: where there are none, nothing is said anyway."""
        return np.where(self.rows > 0, self.rows, np.inf)

    @property
    def least_rows(self) -> FloatArray:
        """Rows behind the group that has fewest, shape (queries,)."""
        return np.asarray(self._divisors.min(axis=1))

    def known(self, used: BoolArray) -> BoolArray:
        """Where every group used has rows."""
        return np.asarray(~(used & ~(self.rows > 0)).any(axis=1))

    def covariance(self, gradient: FloatArray, cells: FloatArray, structure: Structure) -> FloatArray:
        """Multinomial, at smoothed shares."""
        terms, queries = len(gradient), cells.shape[1]
        found = np.zeros((terms, terms, queries))
        for number, some in enumerate(structure.group_slices):
            own = gradient[:, some]
            if not own.any():
                continue
            rows = self._divisors[:, number]
            pulled = PRIOR_ROWS / (rows + PRIOR_ROWS)
            shares = (1 - pulled) * cells[some] + pulled / len(cells[some])
            mean, products = _moments(own, shares)
            found += (products - mean[:, None] * mean[None, :]) / rows
        return found

    def terms(self, coefficients: FloatArray, event: FloatArray, cells: FloatArray, structure: Structure) -> TermReach:
        """Limits of each group, squared and added."""
        parts = [
            _GroupReach.of(coefficients[:, some], event[some], cells[some], self._divisors[:, number])
            for number, some in enumerate(structure.group_slices)
            if coefficients[:, some].any() or event[some].any()
        ]
        return _SquaredAndAdded(parts)


def _moments(gradient: FloatArray, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means of the gradients (terms, cells, queries or 1), and of products of two: (terms, [terms,] queries)."""
    if gradient.shape[2] > 1:
        mean = np.einsum("icq,cq->iq", gradient, shares)
        return mean, np.einsum("icq,jcq->ijq", gradient, gradient * shares)
    fixed = gradient[:, :, 0]
    return fixed @ shares, (fixed[:, None] * fixed[None, :]) @ shares


@dataclass(frozen=True)
class _SquaredAndAdded(TermReach):
    parts: list[_GroupReach]

    def towards(self, side: Side, critical: FloatArray) -> Reach:
        nothing = np.zeros((1, 1))
        varying = [part for part in self.parts if part.event.any()]
        fixed = sum((part(nothing, critical, side) ** 2 for part in self.parts if not part.event.any()), nothing)
        return lambda ratio: np.sqrt(sum((part(ratio, critical, side) ** 2 for part in varying), fixed))


@dataclass(frozen=True)
class _GroupReach:
    """Limits of what the cells of one group bring to numerator - ratio x event.

    Attributes
    ----------
    numerator : shape (terms, its cells)
    event : shape (its cells,)
    moments : mean and mean square of the numerator, shape (terms, queries) each; of the event, (queries,) each; and of
        their product, shape (terms, queries)
    rows : shape (queries,)
    """

    numerator: FloatArray
    event: FloatArray
    moments: tuple[FloatArray, ...]
    rows: FloatArray

    @classmethod
    def of(cls, numerator: FloatArray, event: FloatArray, shares: FloatArray, rows: FloatArray) -> _GroupReach:
        """From coefficients and the estimated shares of the cells, shape (cells, queries)."""
        moments = (
            numerator @ shares,
            numerator**2 @ shares,
            event @ shares,
            event**2 @ shares,
            (numerator * event) @ shares,
        )
        return cls(numerator, event, moments, rows)

    def __call__(self, ratio: FloatArray, critical: FloatArray, side: Side) -> FloatArray:
        mean, square, event, event_square, product = self.moments
        lowest, highest = self._extremes(ratio)
        span = np.where(highest > lowest, highest - lowest, 1.0)
        centre = mean - ratio * event
        variance = np.maximum(square - 2 * ratio * product + ratio**2 * event_square - centre**2, 0.0) / span**2
        share = (centre - lowest) / span
        reach = _agresti_coull(share, variance, critical**2 / self.rows, side)
        return np.where(highest > lowest, reach * span, 0.0)

    def _extremes(self, ratio: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The least and the largest that a row of the group may bring, shape (terms, queries or 1)."""
        counted = [self.numerator[:, cell, None] - ratio * self.event[cell] for cell in range(len(self.event))]
        lowest = highest = counted[0]
        for values in counted[1:]:
            lowest, highest = np.minimum(lowest, values), np.maximum(highest, values)
        return lowest, highest


def _agresti_coull(share: FloatArray, variance: FloatArray, noise: FloatArray, side: Side) -> FloatArray:
    """How far the limit of a share is from its estimate; `noise` is the squared critical value over the rows.

    With variance share (1 - share) it is Agresti and Coull's interval: centre and variance with z^2 rows added, half of
    each kind.
    """
    centre = (share + noise / 2) / (1 + noise)
    half = np.sqrt(noise * (variance + noise / 2 + noise**2 / 4) / (1 + noise) ** 3)
    return np.asarray(np.maximum(half + side * (centre - share), 0.0))


# --- from a covariance -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class CellCovariance(SamplingError):
    """A covariance of the estimated cells.

    Attributes
    ----------
    matrix : shape (queries, cells, cells)
    rows : shape (queries,)
        About how many rows are behind it.
    """

    matrix: FloatArray
    rows: FloatArray

    def __getitem__(self, some: slice) -> CellCovariance:
        return CellCovariance(self.matrix[some], self.rows[some])

    @property
    def least_rows(self) -> FloatArray:
        """About how many rows are behind it, shape (queries,)."""
        return self.rows

    def known(self, used: BoolArray) -> BoolArray:
        """Where there is a covariance."""
        return np.asarray(~np.isnan(self.matrix).any(axis=(1, 2)))

    def covariance(self, gradient: FloatArray, cells: FloatArray, structure: Structure) -> FloatArray:
        """By the delta method."""
        wide = np.broadcast_to(gradient, (*gradient.shape[:2], cells.shape[1]))
        return np.asarray(np.einsum("icq,qcd,jdq->ijq", wide, np.nan_to_num(self.matrix), wide, optimize=True))

    def terms(self, coefficients: FloatArray, event: FloatArray, cells: FloatArray, structure: Structure) -> TermReach:
        """Normal limits."""
        matrix = np.nan_to_num(self.matrix)
        square = np.einsum("ic,qcd,id->iq", coefficients, matrix, coefficients, optimize=True)
        product = np.einsum("ic,qcd,d->iq", coefficients, matrix, event, optimize=True)
        return _NormalReach(square, product, np.einsum("c,qcd,d->q", event, matrix, event, optimize=True))


@dataclass(frozen=True)
class _NormalReach(TermReach):
    """Variance of the numerators, shape (terms, queries), their covariance with the event, and its own, (queries,)."""

    square: FloatArray
    product: FloatArray
    event_square: FloatArray

    def towards(self, side: Side, critical: FloatArray) -> Reach:
        def reach(ratio: FloatArray) -> FloatArray:
            variance = self.square - 2 * ratio * self.product + ratio**2 * self.event_square
            return np.asarray(critical * np.sqrt(np.maximum(variance, 0.0)))

        return reach
