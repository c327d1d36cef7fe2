"""Shrinking a centre towards the counts: where a profile has many rows, they win.

The centre is the mode of a Dirichlet prior over the eight response types; its strength says how many rows it is worth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.law import COUNTED_CELLS

STRENGTHS = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0, np.inf)
"""Rows that the centre may be worth; infinity keeps the centre as it is."""

_ROUNDS = 300
_STILL = 1e-7
_LEAST_SHARE = 1e-12


def posterior(centre: FloatArray, counts: FloatArray, strength: float) -> FloatArray:
    """Distributions over the types given a centre (profiles, 8), counts (profiles, 8) and the centre's worth in rows.

    Expectation-maximisation: every row is shared out among the types that its cell allows, and the centre adds
    `strength` rows of its own. What it finds is always a law that some population could have. Each round takes two
    steps and then a longer one in the same direction, which is kept if it is better still (Varadhan and Roland 2008,
    "Simple and globally convergent methods for accelerating the convergence of any EM algorithm"); profiles that stand
    still are left alone.
    """
    if np.isinf(strength):
        return centre
    types = np.maximum(centre, _LEAST_SHARE)
    moving = np.flatnonzero(counts.any(axis=1))
    for _ in range(_ROUNDS):
        if not len(moving):
            break
        prior, rows, start = strength * centre[moving], counts[moving], types[moving]
        once = _shared_out(start, prior, rows)
        twice = _shared_out(once, prior, rows)
        longer = _shared_out(_extrapolated(start, once, twice), prior, rows)
        better = _objective(longer, prior, rows) > _objective(twice, prior, rows)
        types[moving] = np.where(better[:, None], longer, twice)
        moving = moving[np.abs(types[moving] - start).max(axis=1) >= _STILL]
    return types


def centre_of(types: FloatArray, counts: FloatArray, strength: float) -> FloatArray:
    """The centre that `posterior` was given, from what it found, shape (profiles, 8).

    Where expectation-maximisation stands still, types * (strength + rows) = strength * centre + the rows shared out.
    """
    if np.isinf(strength):
        return types
    cells = np.maximum(types @ COUNTED_CELLS.T, _LEAST_SHARE)
    shared = types * ((counts / cells) @ COUNTED_CELLS)
    found = np.maximum(types * (strength + counts.sum(axis=1, keepdims=True)) - shared, 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _shared_out(types: FloatArray, prior: FloatArray, counts: FloatArray) -> FloatArray:
    """Types after sharing out each cell's rows among those it allows, in proportion."""
    cells = np.maximum(types @ COUNTED_CELLS.T, _LEAST_SHARE)
    total = prior + types * ((counts / cells) @ COUNTED_CELLS)
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def _extrapolated(start: FloatArray, once: FloatArray, twice: FloatArray) -> FloatArray:
    """Where two steps seem to lead."""
    step = once - start
    bend = twice - once - step
    length = np.sqrt((step**2).sum(axis=1) / np.maximum((bend**2).sum(axis=1), 1e-300))
    length = np.clip(length, 1, 1e4)[:, None]
    ahead = np.maximum(start + 2 * length * step + length**2 * bend, _LEAST_SHARE)
    return np.asarray(ahead / ahead.sum(axis=1, keepdims=True))


def _objective(types: FloatArray, prior: FloatArray, counts: FloatArray) -> FloatArray:
    """What is maximised, for each profile."""
    cells = np.maximum(types @ COUNTED_CELLS.T, _LEAST_SHARE)
    return np.asarray(
        (counts * np.log(cells)).sum(axis=1) + (prior * np.log(np.maximum(types, _LEAST_SHARE))).sum(axis=1)
    )


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

    A score is the log-likelihood of a held-out row, every profile counting by the root of its rows. A profile's own
    rows are used only if they help by more than a standard error: with a row or two a profile there is nothing to
    choose by.
    """
    worth = np.sqrt(sum(held_out, np.zeros_like(held_out[0])).sum(axis=1))
    scores = {
        strength: np.sum(
            [
                log_likelihood(posterior(centre, seen, strength), kept) / np.maximum(worth, 1)
                for centre, seen, kept in zip(centres, training, held_out, strict=True)
            ],
            axis=0,
        )
        for strength in STRENGTHS
    }
    best = max(scores, key=lambda strength: scores[strength].sum())
    gain = scores[best] - scores[np.inf]
    sure = gain.sum() > gain.std() * np.sqrt(len(gain))
    return (best if sure else np.inf), {
        strength: float(score.sum() / max(worth.sum(), 1)) for strength, score in scores.items()
    }
