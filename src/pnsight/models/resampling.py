"""Parts and resamples of counted rows."""

from __future__ import annotations

import numpy as np

from pnsight.law import FloatArray


def split_counts(counts: FloatArray, folds: int, rng: np.random.Generator) -> list[FloatArray]:
    """Counts of `folds` parts that share no row, each of the shape of `counts`."""
    rest = counts.astype(np.int64)
    parts = []
    for left in range(folds, 0, -1):
        part = rng.binomial(rest, 1 / left)
        parts.append(part.astype(np.float64))
        rest = rest - part
    return parts


def resampled(counts: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Counts of a bootstrap sample: as many rows, drawn with replacement; same shape as `counts`."""
    total = counts.sum()
    return rng.multinomial(int(total), counts.ravel() / total).reshape(counts.shape).astype(np.float64)
