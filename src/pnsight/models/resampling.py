"""Parts and resamples of counted rows."""

from __future__ import annotations

import numpy as np

from pnsight._typing import FloatArray


def split_counts(counts: FloatArray, folds: int, rng: np.random.Generator) -> list[FloatArray]:
    """Counts of `folds` parts that share no row, each of the shape of `counts`.

    A weighted count that is not whole is rounded up or down at random, and no part holds more than there is.
    """
    rest = np.floor(counts + rng.random(counts.shape) * (counts % 1 > 0)).astype(np.int64)
    left_over, parts = counts.copy(), []
    for left in range(folds, 0, -1):
        part = rng.binomial(rest, 1 / left)
        parts.append(np.minimum(part, left_over))
        rest, left_over = rest - part, left_over - parts[-1]
    return parts


def resampled(counts: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Counts of a bootstrap sample: as many rows, drawn with replacement; same shape as `counts`."""
    total = counts.sum()
    return rng.multinomial(round(total), counts.ravel() / total).reshape(counts.shape).astype(np.float64)
