"""Shrinking a centre towards the counts: where a profile has many rows, they win.

The centre is the mean of a Dirichlet prior over the eight response types; its strength says how many rows it is worth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pnsight.law import COUNTED_CELLS, FloatArray

STRENGTHS = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0, np.inf)
"""Rows that the centre may be worth; infinity keeps the centre as it is."""

_ITERATIONS = 100
_STILL = 1e-6
_LEAST_SHARE = 1e-12


def posterior(centre: FloatArray, counts: FloatArray, strength: float) -> FloatArray:
    """Distributions over the types given a centre (profiles, 8), counts (profiles, 8) and the centre's worth in rows.

    Expectation-maximisation: every row is shared out among the types that its cell allows, and the centre adds
    `strength` rows of its own. What it finds is always a law that some population could have.
    """
    if np.isinf(strength):
        return centre
    types = centre
    prior, total = strength * centre, strength + counts.sum(axis=1, keepdims=True)
    for _ in range(_ITERATIONS):
        cells = np.maximum(types @ COUNTED_CELLS.T, _LEAST_SHARE)
        moved = (prior + types * ((counts / cells) @ COUNTED_CELLS)) / total
        change = np.abs(moved - types).max(initial=0)
        types = moved
        if change < _STILL:
            break
    return types


def log_likelihood(types: FloatArray, counts: FloatArray) -> FloatArray:
    """Log-likelihood of each profile's counts (profiles, 8) under distributions over the types (..., profiles, 8)."""
    cells = types @ COUNTED_CELLS.T
    return np.asarray((counts * np.log(np.maximum(cells, _FLOOR))).sum(axis=-1))


_FLOOR = 1e-7
"""Least probability that a held-out row is given."""


def choose_strength(
    centres: Sequence[FloatArray], training: Sequence[FloatArray], held_out: Sequence[FloatArray]
) -> tuple[float, dict[float, float]]:
    """The strength that foretells held-out rows best, and the mean score of each; one entry a fold in each list.

    A score is the log-likelihood of a held-out row, every profile counting alike. A profile's own rows are used only if
    they help by more than a standard error: with a row or two a profile there is nothing to choose by.
    """
    rows = np.maximum(sum(held_out, np.zeros_like(held_out[0])).sum(axis=1), 1)
    scores = {
        strength: np.sum(
            [
                log_likelihood(posterior(centre, seen, strength), kept) / rows
                for centre, seen, kept in zip(centres, training, held_out, strict=True)
            ],
            axis=0,
        )
        for strength in STRENGTHS
    }
    best = max(scores, key=lambda strength: scores[strength].sum())
    gain = scores[best] - scores[np.inf]
    sure = gain.sum() > gain.std() * np.sqrt(len(gain))
    return (best if sure else np.inf), {strength: float(score.mean()) for strength, score in scores.items()}
