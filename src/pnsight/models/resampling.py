"""Folds and bootstrap samples of counted rows."""

from __future__ import annotations

import numpy as np

from pnsight._typing import FloatArray


def split_counts(counts: FloatArray, folds: int, rng: np.random.Generator) -> list[FloatArray]:
    """Folds for cross-validation: counts of parts that share no row.

    A weighted count that is not whole is rounded up or down at random, and no fold holds more than there is.

    Parameters
    ----------
    counts : array of any shape
        Rows in each cell.
    folds : int
        How many.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    list of arrays of the shape of `counts`
        One a fold.
    """
    rest = np.floor(counts + rng.random(counts.shape) * (counts % 1 > 0)).astype(np.int64)
    left_over, parts = counts.copy(), []
    for left in range(folds, 0, -1):
        part = rng.binomial(rest, 1 / left)
        parts.append(np.minimum(part, left_over))
        rest, left_over = rest - part, left_over - parts[-1]
    return parts


def bootstrap_counts(counts: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Bootstrap: counts of as many rows, drawn with replacement.

    Parameters
    ----------
    counts : array of any shape
        Rows in each cell.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    array of the shape of `counts`
    """
    total = counts.sum()
    return rng.multinomial(round(total), counts.ravel() / total).reshape(counts.shape).astype(np.float64)
