"""Limits: that something about a population is at most so much, as one more row of the program.

A limit is put on response types (those who are harmed are at most so many), or on moves: shares of people that are
counted in one cell of a group but belong to another, as when the registry's people respond otherwise than the trial's.
With p the shares of the types, m those moved, and q the law, the program is

    lower = min c.p     subject to   A p - M m = q,   G (p, m) <= r,   p, m >= 0

Its dual has a variable t >= 0 for each limit, and the objective l.q - t.r. So vertices depend neither on the law nor on
how much a limit allows: what was compiled once holds for every right side r, which is a number, a share of what some
cells hold, or a smooth function of the law (the covariance that a correlation asks for).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from pnsight._typing import FloatArray

Move: TypeAlias = tuple[int, int]
"""Columns of the cell that people are counted in, and of the one that they belong to."""

LimitShape: TypeAlias = tuple[tuple[int, ...], tuple[Move, ...]]
"""What compiled bounds depend on of a limit: what it counts of each type, and its moves."""

Scores: TypeAlias = tuple[tuple[int, int], ...]
"""Columns of the cells of an arm, each with the score of its outcome."""


@dataclass(frozen=True)
class CovarianceLimit:
    """Minus the least mean of the product of two outcomes that a correlation allows: a smooth function of the law.

    That the correlation of Y(1) and Y(0) is at least r means E[Y(1) Y(0)] >= E[Y(1)] E[Y(0)] + r sd(Y(1)) sd(Y(0)).

    Attributes
    ----------
    treated, reference : cells of the two arms, with scores of their outcomes
    correlation : at least this
    """

    treated: Scores
    reference: Scores
    correlation: float

    def __call__(self, cells: FloatArray) -> FloatArray:
        """Its value at laws of shape (rows, cells), shape (rows,)."""
        mean, deviation, other_mean, other_deviation = self._moments(cells)
        return -(mean * other_mean) - self.correlation * deviation * other_deviation

    def scale(self, cells: FloatArray) -> FloatArray:
        """What a covariance is divided by to be a correlation, shape (rows,)."""
        _, deviation, _, other_deviation = self._moments(cells)
        return np.asarray(deviation * other_deviation)

    def gradient(self, cells: FloatArray) -> FloatArray:
        """Its derivatives by the cells, shape (rows, cells)."""
        mean, deviation, other_mean, other_deviation = self._moments(cells)
        found = np.zeros_like(cells)
        sides = (
            (self.treated, mean, deviation, other_mean, other_deviation),
            (self.reference, other_mean, other_deviation, mean, deviation),
        )
        for scores, own, own_deviation, other, its_deviation in sides:
            varies = np.where(own_deviation > 0, own_deviation, np.inf)
            for column, score in scores:
                along = (score**2 - 2 * own * score) / (2 * varies)
                found[:, column] += -other * score - self.correlation * its_deviation * along
        return found

    def _moments(self, cells: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Mean and standard deviation of the outcome under either arm, shape (rows,) each."""
        found: list[FloatArray] = []
        for scores in (self.treated, self.reference):
            columns, values = np.array(scores).T
            mean = cells[:, columns] @ values.astype(np.float64)
            square = cells[:, columns] @ values.astype(np.float64) ** 2
            found += [mean, np.sqrt(np.maximum(square - mean**2, 0.0))]
        return found[0], found[1], found[2], found[3]


@dataclass(frozen=True)
class Limit:
    """One limit: what is limited, and how much it may be.

    Attributes
    ----------
    of_types : what it counts of each response type, whole numbers; empty if it counts moves only
    moves : moves that it counts
    at_most : the right side, or what is added to the next two
    of_cells : of each cell the share that is added to the right side; empty for none
    curve : a smooth function of the law that is added to it
    """

    of_types: tuple[int, ...] = ()
    moves: tuple[Move, ...] = ()
    at_most: float = 0.0
    of_cells: tuple[float, ...] = ()
    curve: CovarianceLimit | None = None

    @property
    def shape(self) -> LimitShape:
        """What is limited."""
        return self.of_types, self.moves

    @property
    def is_relaxation(self) -> bool:
        """Whether it is on moves, and so lets more populations in rather than fewer."""
        return bool(self.moves)


def merge_limits(limits: Iterable[Limit]) -> tuple[Limit, ...]:
    """Limits on the same moves as one: what either allows, both together do.

    Parameters
    ----------
    limits
        Any; those on response types are left as they are.

    Returns
    -------
    In the order in which they first come.
    """
    found: dict[object, Limit] = {}
    for number, each in enumerate(limits):
        key: object = each.shape if each.is_relaxation else number
        if key not in found:
            found[key] = each
            continue
        before = found[key]
        cells = [before.of_cells, each.of_cells]
        longest = max(map(len, cells))
        added = np.sum([some or (0.0,) * longest for some in cells], axis=0) if longest else ()
        found[key] = replace(before, at_most=before.at_most + each.at_most, of_cells=tuple(map(float, added)))
    return tuple(found.values())
