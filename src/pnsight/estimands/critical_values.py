"""Critical values: how many standard errors an interval reaches, for one estimate and for the largest of several.

The largest of several estimates exceeds what it estimates more often than each of them does. With correlations known,

    P(max Z_j > k)  <=  P(Z > k) + sum over the edges of a tree of P(Z_i > k, Z_j < k)

and the tree that joins the most correlated gives the least bound (Hunter 1976, Worsley 1982). An edge of correlation r
brings 2 T(k, tan(L/2)) with T Owen's function and L = arccos(r), the angle between the two (Owen 1956). No SciPy: an
answer should not have to wait until it is loaded.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from pnsight._typing import BoolArray, FloatArray

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(8)
"""Of Gauss and Legendre's quadrature: probabilities are right to a thousandth of themselves."""

_STEPS = 3
"""Newton steps for the largest of several, after which critical values are right to a thousandth."""

_WIDTHS = np.linspace(0.0, 8.0, 1601)
"""Widths, in standard errors, at which Imbens and Manski's equation is solved; beyond them it does not change."""

_erfc = np.frompyfunc(math.erfc, 1, 1)


def normal_cdf(x: FloatArray) -> FloatArray:
    """Standard normal distribution function, of the shape given."""
    return np.asarray(_erfc(-np.asarray(x) / math.sqrt(2)), dtype=np.float64) / 2


def normal_density(x: FloatArray) -> FloatArray:
    """Standard normal density, of the shape given."""
    return np.asarray(np.exp(-0.5 * np.square(x)) / math.sqrt(2 * math.pi))


def two_sided(level: float) -> float:
    """Critical value of an interval with equal tails.

    Parameters
    ----------
    level
        Its confidence.

    Returns
    -------
    The quantile at (1 + level) / 2; finite also where the level is nearer to one than numbers can say.
    """
    return -NormalDist().inv_cdf(max((1 - level) / 2, 1e-300))


def imbens_manski(width: FloatArray, level: float) -> FloatArray:
    """Critical value for a value that lies anywhere between two estimated ends.

    It can miss on one side only where the ends are far apart, and on both where they are one: c solves
    Phi(c + width) - Phi(-c) = level (Imbens and Manski 2004, "Confidence intervals for partially identified
    parameters").

    Parameters
    ----------
    width : shape (queries,)
        Distance of the ends, in units of the larger of their standard errors.
    level
        Confidence that the interval holds the value.

    Returns
    -------
    Shape (queries,); never negative, so that the interval holds all that lies between the estimates.
    """
    return np.asarray(np.interp(width, _WIDTHS, _imbens_manski_table(level)))


@lru_cache(maxsize=64)
def _imbens_manski_table(level: float) -> FloatArray:
    """Critical values at `_WIDTHS`, by Newton's method."""
    found = np.full(len(_WIDTHS), two_sided(level))
    for _ in range(2 * _STEPS):
        excess = normal_cdf(found + _WIDTHS) - normal_cdf(-found) - level
        found -= excess / (normal_density(found + _WIDTHS) + normal_density(found))
    return np.asarray(np.clip(found, 0.0, two_sided(level)))


def spanning_angles(correlation: FloatArray, among: BoolArray) -> FloatArray:
    """Angles along the tree that joins the most correlated of some estimates.

    Parameters
    ----------
    correlation : shape (terms, terms, queries)
        Correlations of the estimates.
    among : shape (terms, queries)
        Which of them count.

    Returns
    -------
    Shape (terms - 1, queries): the angles, zero where there are fewer edges.
    """
    terms, queries = among.shape
    angle, each = np.arccos(np.clip(correlation, -1.0, 1.0)), np.arange(queries)
    start = among.argmax(axis=0)
    left = among.copy()
    left[start, each] = False
    nearest = angle[start, :, each].T
    edges = np.zeros((max(0, terms - 1), queries))
    for edge in edges:
        candidates = np.where(left, nearest, np.inf)
        chosen = candidates.argmin(axis=0)
        found = left[chosen, each]
        edge[found] = candidates[chosen, each][found]
        left[chosen, each] = False
        nearest = np.minimum(nearest, np.where(found, angle[chosen, :, each].T, np.inf))
    return edges


def of_maximum(single: FloatArray, angles: FloatArray) -> FloatArray:
    """Critical values for the largest of several estimates, which exceed it no more often than `single` one estimate.

    Parameters
    ----------
    single : shape (queries,)
        Critical values, not negative, for one estimate.
    angles : shape (edges, queries)
        As `spanning_angles` gives them; where all are zero there is one estimate, and `single` is returned.

    Returns
    -------
    Shape (queries,).
    """
    found = np.array(np.broadcast_to(single, angles.shape[1:]), dtype=np.float64)
    several = angles.any(axis=0)
    if several.any():
        found[several] = _solve(found[several], angles[:, several])
    return found


def _solve(single: FloatArray, angles: FloatArray) -> FloatArray:
    """Newton's method on the logarithm of Hunter's bound on P(max > k), which is concave in k."""
    half = angles / 2
    at = (half * (1 + _NODES[:, None, None]) / 2).reshape(-1, len(single))
    weight = (half * _NODE_WEIGHTS[:, None, None] / (2 * np.pi)).reshape(-1, len(single))
    secant = 1 / np.cos(at) ** 2
    wanted, found = np.log(normal_cdf(-single)), np.maximum(single, 0.7)
    for _ in range(_STEPS):
        parts = weight * np.exp(-0.5 * found**2 * secant)
        bound = normal_cdf(-found) + parts.sum(axis=0)
        slope = normal_density(found) + found * np.einsum("nq,nq->q", secant, parts)
        found = np.maximum(single, found + (np.log(bound) - wanted) * bound / slope)
    return found
