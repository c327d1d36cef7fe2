"""One-sided comparison of two proportions, profile by profile, with the evidence added up.

It is claimed that one share of people, on the left, is no larger than another, on the right; for example that in every
population P(x,y) <= P(y_x). Of the N rows of a profile that the left share is about c count, of the n on the right s.
With t = N + n and m = c + s:

- at equality c is hypergeometric given the margins: mean m N / t, variance N n m (t-m) / (t^2 (t-1)), third cumulant
  variance (t-2m) (t-2N) / (t (t-2)). Below equality c is stochastically smaller. Cumulants of profiles add up.
- the excess c - m N / t is N n / t times c/N - s/n. So its sum, over the sum of the weights N n / t, compares the two
  shares as if each had its profiles in the proportion of the weights (Mantel and Haenszel).
- the variance of that difference away from equality is T. Sato's (1989), "On the variance estimator for the
  Mantel-Haenszel risk difference", which holds for many small profiles as well as for few large ones.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from scipy.sparse import csr_array
from scipy.special import gammainc, gammaincc, ndtri

from pnsight._typing import FloatArray

_MIN_SKEWNESS = 1e-6
_MAX_SKEWNESS = 1.0
_RAISED = 1.15
_MIN_TAIL = 1e-300


@dataclass(frozen=True)
class Evidence:
    """Sums over the profiles of each subgroup; all arrays have shape (subgroups, inequalities).

    Attributes
    ----------
    rows_left, rows_right : rows that are compared
    weight : sum of N n / t
    left, right : sums of weight times c / N and of weight times s / n
    variance, third : second and third cumulant of their difference at equality
    sato_slope, sato_intercept : Sato's variance of the weighted difference is intercept + slope * difference
    """

    rows_left: FloatArray
    rows_right: FloatArray
    weight: FloatArray
    left: FloatArray
    right: FloatArray
    variance: FloatArray
    third: FloatArray
    sato_slope: FloatArray
    sato_intercept: FloatArray

    @classmethod
    def of_proportions(cls, c: FloatArray, big_n: FloatArray, s: FloatArray, n: FloatArray) -> Evidence:
        """From proportions of each profile; zero where either side has no rows.

        Parameters
        ----------
        c, big_n : shape (profiles, inequalities)
            On the left, c of N rows count.
        s, n : shape (profiles, inequalities)
            On the right, s of n rows count.

        Returns
        -------
        sums of the same shape, which `over` adds up
        """
        both = (n > 0) & (big_n > 0) & (n + big_n >= 2)
        c, big_n, s, n = (rows * both for rows in (c, big_n, s, n))
        t = np.where(both, n + big_n, 3.0)  # any number that divides
        m = c + s
        variance = n * big_n * m * (t - m) / (t**2 * (t - 1))
        return cls(
            rows_left=big_n,
            rows_right=n,
            weight=n * big_n / t,
            left=c * n / t,
            right=s * big_n / t,
            variance=variance,
            third=variance * (t - 2 * m) * (t - 2 * big_n) / (t * np.maximum(t - 2, 1)),
            sato_slope=(big_n**2 * s - n**2 * c + n * big_n * (n - big_n) / 2) / t**2,
            sato_intercept=(c * (n - s) + s * (big_n - c)) / (2 * t),
        )

    def over(self, covers: csr_array) -> Evidence:
        """Summed over the rows that each subgroup covers; `covers` of shape (subgroups, rows) holds ones."""
        return Evidence(*(np.asarray(covers @ getattr(self, field.name)) for field in fields(self)))

    @property
    def difference(self) -> FloatArray:
        """By how much the left share is larger; NaN where nothing is compared."""
        return self._by_weight(self.left - self.right)

    @property
    def sides(self) -> tuple[FloatArray, FloatArray]:
        """The left and the right share, in the same mix of profiles."""
        return self._by_weight(self.left), self._by_weight(self.right)

    @property
    def error(self) -> FloatArray:
        """Standard error of the difference."""
        variance = self.sato_intercept + self.sato_slope * np.nan_to_num(self.difference)
        return self._by_weight(np.sqrt(np.maximum(variance, 0.0)))

    @property
    def score(self) -> FloatArray:
        """Evidence that the left share is larger: standard normal at equality, smaller below it.

        Half a row is taken off, as a count moves in steps of one. Minus infinity where nothing could be told.
        """
        some = self.variance > 0
        spread = np.sqrt(np.where(some, self.variance, 1.0))
        z = (self.left - self.right - 0.5) / spread
        return np.where(some, gamma_score(z, self.third / spread**3), -np.inf)

    def _by_weight(self, values: FloatArray) -> FloatArray:
        some = self.weight > 0
        return np.asarray(np.divide(values, self.weight, out=np.full(values.shape, np.nan), where=some))


def gamma_score(z: FloatArray, skewness: FloatArray) -> FloatArray:
    """Normal scores of standardised values of a gamma law with that skewness, which may be negative.

    By the cube root where the law is not too skewed. That fails for few events on very unequal sides; there the tail is
    computed, and raised by a little more than it can fall short of that of whole numbers.

    Parameters
    ----------
    z, skewness
        Standardised values and the skewness of each, of one shape.

    Returns
    -------
    scores of the same shape
    """
    shape = 4 / np.maximum(np.abs(skewness), _MAX_SKEWNESS) ** 2
    beyond = np.maximum(shape + np.sign(skewness) * z * np.sqrt(shape), 0.0)
    tail = np.where(skewness > 0, gammaincc(shape, beyond), gammainc(shape, beyond))
    exact = -ndtri(np.clip(_RAISED * tail, _MIN_TAIL, 1.0))
    return np.where(np.abs(skewness) <= _MAX_SKEWNESS, wilson_hilferty(z, skewness), exact)


def wilson_hilferty(z: FloatArray, skewness: FloatArray) -> FloatArray:
    """Wilson and Hilferty's cube root: normal scores of standardised values of a gamma law, by its skewness.

    Parameters
    ----------
    z, skewness
        Standardised values and the skewness of each, of one shape; it may be negative.

    Returns
    -------
    scores of the same shape
    """
    side = np.where(skewness < 0, -1.0, 1.0)
    root = 2 / np.maximum(np.abs(skewness), _MIN_SKEWNESS)  # of the gamma's shape
    return np.asarray(side * 3 * root * (np.cbrt(np.maximum(1 + side * z / root, 0.0)) - 1 + 1 / (9 * root**2)))
