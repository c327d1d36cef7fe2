"""Covariates that are numbers: a Gaussian copula, and averages over everyone who fits given ranges.

Each person has a vector of standard normal numbers with given correlations, and each covariate is an increasing
function of one of them, rounded as it is written in a table. So every value has a probability, yes/no covariates are
numbers that are rounded to 0 or 1, and the people within ranges of the covariates are those whose normal numbers lie in
a box. Averages over a box are taken at points of a scrambled Sobol sequence, brought into the box one coordinate after
the other (Genz 1992, "Numerical computation of multivariate normal probabilities"; Geweke, Hajivassiliou and Keane).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import norm, qmc

from pnsight._typing import FloatArray
from pnsight.errors import QueryError, did_you_mean, join_names

SCRAMBLES = 8
POINTS = 1 << 13
"""Points of each scramble; the spread of the scrambles' averages says how far off their mean may be."""

_SEED = 19
_ROUNDING = 1e-9
_LEAST, _MOST = 1e-300, 1 - 1e-16


@dataclass(frozen=True)
class Number:
    """A covariate that is a number, or 0 and 1: an increasing function of a standard normal number.

    Attributes
    ----------
    name : of its column
    centre, spread : of the number, or of its logarithm
    least, most : whoever would be below or above has these
    decimals : to which it is rounded
    logarithmic : whether `centre` and `spread` are of the logarithm
    """

    name: str
    centre: float
    spread: float
    least: float
    most: float
    decimals: int = 0
    logarithmic: bool = False

    @classmethod
    def indicator(cls, name: str, probability: float) -> Number:
        """A covariate that is 1 with this probability, else 0."""
        return cls(name, 0.5 + float(norm.ppf(probability)), 1.0, 0.0, 1.0)

    @property
    def is_indicator(self) -> bool:
        """Whether it has the values 0 and 1 only."""
        return (self.least, self.most, self.decimals) == (0.0, 1.0, 0)

    def value(self, normal: FloatArray) -> FloatArray:
        """The covariate of people with these normal numbers, any shape."""
        plain = self.centre + self.spread * normal
        number = np.exp(plain) if self.logarithmic else plain
        return np.asarray(np.clip(np.round(number, self.decimals), self.least, self.most) + 0.0)  # never -0

    def standardised(self, value: FloatArray) -> FloatArray:
        """How many spreads a value is above the centre, any shape; of 0 and 1, -1 and 1."""
        if self.is_indicator:
            return 2 * value - 1
        return np.asarray(((np.log(value) if self.logarithmic else value) - self.centre) / self.spread)

    def rounded_within(self, low: float, high: float) -> tuple[float, float]:
        """The least and the greatest value that it can have within a range, both ends included."""
        unit = 10.0**self.decimals
        least = np.ceil(max(low, self.least) * unit - _ROUNDING) / unit
        most = np.floor(min(high, self.most) * unit + _ROUNDING) / unit
        return float(least), float(most)

    def normal_range(self, low: float, high: float) -> tuple[float, float]:
        """The range of normal numbers of people whose values are from `low` to `high`, values that it can have."""
        half = 0.5 * 10.0**-self.decimals
        edges = np.array([low - half, high + half])
        plain = np.log(edges) if self.logarithmic else edges
        begin, end = (plain - self.centre) / self.spread
        return (-np.inf if low <= self.least else float(begin)), (np.inf if high >= self.most else float(end))


Ranges = Mapping[str, tuple[float, float]]
"""The least and the greatest value, by the name of the covariate; the others are open."""


@dataclass(frozen=True)
class Averages:
    """Averages over everyone within ranges.

    Attributes
    ----------
    mass : share of people who are within
    mean : shape (columns,)
        Of what was averaged.
    error : shape (columns,)
        Standard error of the mean, from the scrambles.
    """

    mass: float
    mean: FloatArray
    error: FloatArray


@dataclass(frozen=True)
class GaussianCovariates:
    """Covariates with a Gaussian copula.

    Attributes
    ----------
    numbers : the covariates, in order
    correlation : shape (covariates, covariates)
        Of the normal numbers.
    """

    numbers: tuple[Number, ...]
    correlation: FloatArray

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the covariates, in order."""
        return tuple(number.name for number in self.numbers)

    def draw(self, rng: np.random.Generator, rows: int) -> FloatArray:
        """Covariates of that many people, shape (rows, covariates)."""
        normal = rng.normal(size=(rows, len(self.numbers))) @ np.linalg.cholesky(self.correlation).T
        return self._values(normal)

    def standardised(self, values: FloatArray) -> FloatArray:
        """Each covariate in spreads from its centre, of 0 and 1 as -1 and 1; shape (rows, covariates)."""
        return np.stack([number.standardised(values[:, j]) for j, number in enumerate(self.numbers)], axis=1)

    def average(self, ranges: Ranges, brought: Callable[[FloatArray], FloatArray]) -> Averages:
        """Average over everyone within ranges.

        Parameters
        ----------
        ranges
            Ends are included; equal ends fix a value.
        brought
            What is averaged: from covariates (people, covariates) to (people, columns).

        Returns
        -------
        The averages; NaN where nobody is within.
        """
        limits = self._limits(ranges)
        if (limits[:, 0] > limits[:, 1]).any():
            columns = brought(self.draw(np.random.default_rng(_SEED), 1)).shape[1]
            return Averages(0.0, np.full(columns, np.nan), np.full(columns, np.nan))
        parts = [self._scramble(limits, number, brought) for number in range(SCRAMBLES)]
        masses = np.array([weights.mean() for weights, _ in parts])
        sums = np.stack([weights @ found / len(weights) for weights, found in parts])
        mean = sums.sum(axis=0) / masses.sum()
        error = (sums - masses[:, None] * mean).std(axis=0, ddof=1) / masses.mean() / np.sqrt(SCRAMBLES)
        return Averages(float(masses.mean()), mean, error)

    def _scramble(
        self, limits: FloatArray, scramble: int, brought: Callable[[FloatArray], FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """Weights of the points of a scramble within limits, shape (points,), and what is averaged there."""
        points = qmc.Sobol(len(self.numbers), rng=np.random.default_rng([_SEED, scramble])).random(POINTS)
        box = np.array([number.normal_range(*limits[j]) for j, number in enumerate(self.numbers)])
        normal, weights = self._into_box(points, box)
        return weights, brought(np.clip(self._values(normal), limits[:, 0], limits[:, 1]))

    def _into_box(self, points: FloatArray, box: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Normal numbers in the box, narrow sides first, and the probability of each side given those before."""
        order = np.argsort(ndtr(box[:, 1]) - ndtr(box[:, 0]), kind="stable")
        root = np.linalg.cholesky(self.correlation[np.ix_(order, order)])
        free = np.zeros_like(points)
        weights = np.ones(len(points))
        for place, j in enumerate(order):
            drawn = free[:, :place] @ root[place, :place]
            low, high = ((end - drawn) / root[place, place] for end in box[j])
            free[:, place], share = _truncated(points[:, place], low, high)
            weights *= share
        normal = np.empty_like(points)
        normal[:, order] = free @ root.T
        return normal, weights

    def _values(self, normal: FloatArray) -> FloatArray:
        return np.stack([number.value(normal[:, j]) for j, number in enumerate(self.numbers)], axis=1)

    def _limits(self, ranges: Ranges) -> FloatArray:
        """The least and the greatest value of each covariate, shape (covariates, 2)."""
        _check_names(ranges, self.names)
        everyone = (-np.inf, np.inf)
        return np.array([number.rounded_within(*ranges.get(number.name, everyone)) for number in self.numbers])


def _truncated(uniform: FloatArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Standard normal numbers between two ends, from uniform ones, and how likely it is to be between them.

    In the upper tail the signs are turned, where probabilities keep more digits.
    """
    turned = low > 0
    low, high = np.where(turned, -high, low), np.where(turned, -low, high)
    below, share = ndtr(low), ndtr(high) - ndtr(low)
    found = ndtri(np.clip(below + uniform * share, _LEAST, _MOST))
    return np.where(turned, -found, found), share


def _check_names(given: Ranges, known: Sequence[str]) -> None:
    for name in given:
        if name not in known:
            raise QueryError(
                f"no covariate is called {name!r}; there are {join_names(known)}." + did_you_mean(name, known)
            )
