"""Empirical Bayes shrinkage: a profile's own counts against what the networks say; with many rows, the counts win.

What the networks say is the mode of a Dirichlet prior over the response types; `prior_rows` says how many rows it is
worth.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.structure import EXPERIMENTAL, Structure
from pnsight.models.response_types.config import ShrinkageConfig

_MIN_PROBABILITY = 1e-12

_MIN_SCALED = 1e-300

_MAX_SWEEPS, _LAST_SWEEPS = 1000, 200
"""Most sweeps of proportional fitting over all groups of cells, and over those of the experiment in the end."""

_MOVED = 1e-8
"""Change of a type's probability in a sweep below which proportional fitting has converged."""

_MIN_HELD_OUT_PROBABILITY = 1e-7
"""Least probability that a held-out row is given."""


def map_estimate(
    prior_mode: FloatArray,
    counts: FloatArray,
    prior_rows: float,
    structure: Structure,
    config: ShrinkageConfig = ShrinkageConfig(),
) -> FloatArray:
    """Maximum a posteriori (MAP) estimate of each profile's distribution over the response types.

    Expectation-maximisation: every row is shared out among the types that its cell allows, and the prior adds
    `prior_rows` rows of its own. What it finds is always a law that some population could have. Each round takes two
    steps and then a longer one in the same direction, which is kept if it is better still (Varadhan and Roland 2008,
    "Simple and globally convergent methods for accelerating the convergence of any EM algorithm"); profiles that have
    converged are left alone.

    Parameters
    ----------
    prior_mode : array of shape (profiles, types)
        Mode of the Dirichlet prior, a distribution over the types.
    counts : array of shape (profiles, structure)
        Rows in each cell.
    prior_rows : float
        Rows that the prior is worth; infinite, it is the answer.
    structure : Structure
        Which types show up in which cell.
    config : ShrinkageConfig
        Rounds and tolerance of the algorithm.

    Returns
    -------
    array of shape (profiles, types)
    """
    if np.isinf(prior_rows):
        return prior_mode
    types = np.maximum(prior_mode, _MIN_PROBABILITY)
    moving = np.flatnonzero(counts.any(axis=1))
    for _ in range(config.rounds):
        if not len(moving):
            break
        prior, rows, start = prior_rows * prior_mode[moving], counts[moving], types[moving]
        once = _em_step(start, prior, rows, structure)
        twice = _em_step(once, prior, rows, structure)
        longer = _em_step(_extrapolate(start, once, twice), prior, rows, structure)
        better = _log_posterior(longer, prior, rows, structure) > _log_posterior(twice, prior, rows, structure)
        types[moving] = np.where(better[:, None], longer, twice)
        moving = moving[np.abs(types[moving] - start).max(axis=1) >= config.tolerance]
    return types


def types_of_law(near: FloatArray, law: FloatArray, structure: Structure) -> FloatArray:
    """Types of populations with these laws or, where none has such a law, with one near it.

    Iterative proportional fitting: in one group of cells after the other, the types in each cell are scaled to the
    cell's share. Of all types with that law this finds those with the least divergence from where it began (Csiszar
    1975, "I-divergence geometry of probability distributions and minimization problems"). The groups of the experiment
    come last. So where the tables' shares do not go together its shares are kept: rows that were randomised are not
    bent by rows that were chosen.

    Parameters
    ----------
    near : array of shape (rows, types)
        Where to begin: types that are possible, all of them.
    law : array of shape (rows, cells)
        Probability of each cell within its group.
    structure : Structure
        Layout of the cells.

    Returns
    -------
    array of shape (rows, types)
    """
    types, shares = np.maximum(near, _MIN_PROBABILITY), np.maximum(law, _MIN_PROBABILITY)
    last = structure.groups_of(EXPERIMENTAL)
    groups = [number for number in range(len(structure.groups)) if number not in last]
    moving = np.arange(len(types))
    for _ in range(_MAX_SWEEPS):
        if not len(moving):
            break
        before = types[moving]
        types[moving] = _scale(before, shares[moving], [*groups, *last], structure)
        moving = moving[np.abs(types[moving] - before).max(axis=1) >= _MOVED]
    for _ in range(_LAST_SWEEPS):
        types = _scale(types, shares, last, structure)
    return types


def _scale(types: FloatArray, law: FloatArray, groups: Iterable[int], structure: Structure) -> FloatArray:
    """Types (rows, types) after those of each cell of one group after the other were scaled to its share."""
    for group in groups:
        cells = structure.group_slices[group]
        incidence = structure.incidence[cells]
        types = types * ((law[:, cells] / np.maximum(types @ incidence.T, _MIN_SCALED)) @ incidence)
    return np.asarray(types / types.sum(axis=1, keepdims=True))


def _em_step(types: FloatArray, prior: FloatArray, counts: FloatArray, structure: Structure) -> FloatArray:
    """Types after sharing out each cell's rows among those it allows, in proportion."""
    total = prior + _share_rows(types, counts, structure)
    return np.asarray(total / total.sum(axis=1, keepdims=True))


def _share_rows(types: FloatArray, counts: FloatArray, structure: Structure) -> FloatArray:
    """Expected rows of each type (the E-step), shape (profiles, types)."""
    probabilities = np.maximum(structure.observed_probabilities(types), _MIN_PROBABILITY)
    return np.asarray(types * ((counts / probabilities) @ structure.observed_incidence))


def _extrapolate(start: FloatArray, once: FloatArray, twice: FloatArray) -> FloatArray:
    """Where two steps seem to lead."""
    step = once - start
    bend = twice - once - step
    length = np.sqrt((step**2).sum(axis=1) / np.maximum((bend**2).sum(axis=1), 1e-300))
    length = np.clip(length, 1, 1e4)[:, None]
    ahead = np.maximum(start + 2 * length * step + length**2 * bend, _MIN_PROBABILITY)
    return np.asarray(ahead / ahead.sum(axis=1, keepdims=True))


def _log_posterior(types: FloatArray, prior: FloatArray, counts: FloatArray, structure: Structure) -> FloatArray:
    """What is maximised, for each profile."""
    probabilities = np.maximum(structure.observed_probabilities(types), _MIN_PROBABILITY)
    return np.asarray(
        (counts * np.log(probabilities)).sum(axis=1) + (prior * np.log(np.maximum(types, _MIN_PROBABILITY))).sum(axis=1)
    )


def log_likelihood(types: FloatArray, counts: FloatArray, structure: Structure) -> FloatArray:
    """Log-likelihood of each profile's counts.

    Parameters
    ----------
    types : array of shape (..., profiles, types)
        Distributions over the types.
    counts : array of shape (profiles, structure)
        Rows in each cell.
    structure : Structure
        Layout of the counts.

    Returns
    -------
    array of shape (..., profiles)
    """
    probabilities = structure.observed_probabilities(types)
    return np.asarray((counts * np.log(np.maximum(probabilities, _MIN_HELD_OUT_PROBABILITY))).sum(axis=-1))


def choose_prior_rows(
    prior_modes: Sequence[FloatArray],
    training: Sequence[FloatArray],
    held_out: Sequence[FloatArray],
    structure: Structure,
    config: ShrinkageConfig = ShrinkageConfig(),
) -> tuple[float, dict[float, float]]:
    """Cross-validation of the prior's worth: the number of rows that predicts held-out rows best.

    A score is the log-likelihood of a held-out row, every profile counting by the root of its rows. A profile's own
    rows are used only if they help by more than a standard error: with a row or two a profile there is nothing to
    choose by.

    Parameters
    ----------
    prior_modes : one array of shape (profiles, types) a fold
        What networks say that did not see the fold.
    training, held_out : one array of shape (profiles, structure) a fold
        Counts without the fold, and of the fold.
    structure : Structure
        Layout of the counts.
    config : ShrinkageConfig
        Rounds and tolerance of the algorithm.

    Returns
    -------
    prior_rows : float
        Infinite if a profile's own rows do not help.
    scores : dict
        Mean score of each number of rows tried.
    """
    weight = np.sqrt(sum(held_out, np.zeros_like(held_out[0])).sum(axis=1))
    scores = {
        prior_rows: np.sum(
            [
                log_likelihood(map_estimate(mode, seen, prior_rows, structure, config), kept, structure)
                / np.maximum(weight, 1)
                for mode, seen, kept in zip(prior_modes, training, held_out, strict=True)
            ],
            axis=0,
        )
        for prior_rows in (*config.prior_rows, np.inf)
    }
    best = max(scores, key=lambda prior_rows: scores[prior_rows].sum())
    gain = scores[best] - scores[np.inf]
    sure = gain.sum() > gain.std() * np.sqrt(len(gain))
    return (best if sure else np.inf), {
        prior_rows: float(score.sum() / max(weight.sum(), 1)) for prior_rows, score in scores.items()
    }
