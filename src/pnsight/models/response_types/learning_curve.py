"""Learning curve: what more rows still teach shows how much is left to learn.

Networks find a law that networks learned again more easily than they found the true one, which may have steps that no
network makes. So where covariates are numbers, the size of the errors that simulated studies show is taken from
held-out rows: by how much networks predict them better that were fitted to twice as many others. Where the squared
error falls by a power of the number of rows, what is left is a multiple of what the last doubling took off.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.structure import Structure
from pnsight.models.response_types.config import NumericConfig
from pnsight.models.response_types.shrinkage import log_likelihood

_FACTORS = np.geomspace(0.5, 5.0, 100)
"""Inflation factors that the mean is taken over."""


class LearningGain(NamedTuple):
    """By how much the mean squared relative error falls with twice as many rows, and the standard error of that."""

    gain: float
    error: float


def learning_gain(
    fewer: Sequence[FloatArray], more: Sequence[FloatArray], held_out: Sequence[FloatArray], structure: Structure
) -> LearningGain:
    """How much better held-out rows are predicted by networks that were fitted to twice as many others.

    In a group of m cells, a law with the squared relative error e^2 loses (m - 1) e^2 / 2 of the log-likelihood of a
    row, to second order.

    Parameters
    ----------
    fewer, more : one array of shape (profiles, types) a fold
        What networks fitted to half of the other rows, and to all of them, say of each profile.
    held_out : one array of shape (profiles, structure) a fold
        Its rows.
    structure
        Layout of the rows.

    Returns
    -------
    LearningGain
        The mean over the groups, weighted as `group_weights` has it.
    """
    found = [
        log_likelihood(better, rows, structure) - log_likelihood(worse, rows, structure)
        for worse, better, rows in zip(fewer, more, held_out, strict=True)
    ]
    total = sum(float(group_weights(rows, structure).sum()) for rows in held_out) / 2
    variance = sum(float(each.var() * len(each)) for each in found)
    return LearningGain(sum(float(each.sum()) for each in found) / total, float(np.sqrt(variance)) / total)


def group_weights(rows: FloatArray, structure: Structure) -> FloatArray:
    """How much each group of cells counts: its rows times its degrees of freedom, shape (groups,)."""
    freedom = np.array([cells.stop - cells.start - 1 for cells in structure.group_slices])
    return np.asarray(structure.by_group(rows).sum(axis=0) * freedom)


def inflation_from_gain(learned: LearningGain, simulated: float, config: NumericConfig) -> float:
    """Inflation factor of the standard errors: its posterior mean, given what more rows taught.

    Parameters
    ----------
    learned
        Of the study.
    simulated
        Mean squared relative error according to simulated studies.
    config
        The prior of the factor, and of what is left over what the last doubling took off.

    Returns
    -------
    The factor.
    """
    expected = _FACTORS**2 * simulated / config.learning_ratio
    variance = learned.error**2 + (config.log_learning_ratio_sd * expected) ** 2
    log_probability = -((np.log(_FACTORS / config.inflation) / config.log_inflation_sd) ** 2) / 2
    log_probability -= (np.log(variance) + (learned.gain - expected) ** 2 / variance) / 2
    weights = np.exp(log_probability - log_probability.max())
    return float(np.exp(np.log(_FACTORS) @ weights / weights.sum()))
