"""Confidence intervals: from fits to simulated studies (a parametric bootstrap), calibrated on held-out rows.

Which law is behind a study is not known, but held-out rows refute what some capacities of network make of it. Studies
are simulated from the laws that the others learned, and each is fitted again, twice: how far the fits stray from the
law behind it shows their error, bias included. And held-out rows show whether that is all: over many subpopulations,
what was predicted and what was counted differ by the sampling error of the held-out rows, which is known, and by the
model's own error, whose size is compared with what was expected.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.schema import OPEN, Codes
from pnsight.data.structure import Structure
from pnsight.models.response_types.config import IntervalConfig
from pnsight.queries import lattice


def error_variance(studies: FloatArray, networks: float) -> FloatArray:
    """Mean squared error, bias included, of the mean of an ensemble.

    What both fits to a study are wrong about is the fault of the study and of their capacity. What only one of them is
    wrong about comes from its first weights, and of that a mean keeps one part in `networks`.

    Parameters
    ----------
    studies : array of shape (studies, 3, ...)
        For each simulated study what is true of it, and what two networks say that were fitted to it.
    networks : float
        How many networks the ensemble has.

    Returns
    -------
    array of shape (...)
    """
    law, once, again = np.moveaxis(studies, 1, 0)
    shared, own = ((once - law) * (again - law)).mean(axis=0), ((once - again) ** 2 / 2).mean(axis=0)
    return np.asarray(np.maximum(shared, 0) + own / networks)


def interval_inflation(
    studies: FloatArray,
    networks: float,
    predicted: Sequence[FloatArray],
    held_out: Sequence[FloatArray],
    membership: FloatArray,
    training_share: float,
    structure: Structure,
    config: IntervalConfig = IntervalConfig(),
) -> float:
    """Inflation factor of the standard errors under which held-out counts are most likely.

    Parameters
    ----------
    studies : array of shape (studies, 3, profiles, cells)
        Law of each simulated study, and according to two networks fitted to it.
    networks : float
        How many networks, of equal weight, the prediction is the mean of: one capacity has one that did not see the
        fold.
    predicted : one array of shape (profiles, cells) a fold
        Law according to the model that did not see the fold.
    held_out : one array of shape (profiles, structure) a fold
        Counts of the fold.
    membership : array of shape (subpopulations, profiles)
        One where a subpopulation covers a profile.
    training_share : float
        Share of the rows that the predictions were fitted to; the fewer, the further they stray.
    structure : Structure
        Layout of the counts.
    config : IntervalConfig
        Factors to choose among.

    Returns
    -------
    float
        One of `config.inflation_factors`.
    """
    compared = [
        _compare(studies[..., group], networks, law[:, group], counts[:, group], membership, training_share, config)
        for law, counts in zip(predicted, held_out, strict=True)
        for group in structure.group_slices
    ]
    factors = np.array(config.inflation_factors)
    if not any(residual.size for residual, _, _ in compared):
        return float(factors[0])
    residual, sampling, model = (
        np.concatenate([part.ravel() for part in parts]) for parts in zip(*compared, strict=True)
    )
    variance = np.maximum(sampling + factors[:, None] ** 2 * model, 1e-12)
    likelihood = -(np.log(variance) + residual**2 / variance).sum(axis=1)
    return float(factors[likelihood.argmax()])


def _compare(
    studies: FloatArray,
    networks: float,
    law: FloatArray,
    counts: FloatArray,
    membership: FloatArray,
    training_share: float,
    config: IntervalConfig,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Residuals of a group of cells, their sampling variance and the model's own, each (enough rows, cells)."""
    rows = counts.sum(axis=1)
    inside = membership @ rows
    enough = inside >= config.min_rows
    if not enough.any():
        none = np.empty((0, law.shape[1]))
        return none, none, none
    total, chosen = inside[enough, None], membership[enough]
    residual = (chosen @ (counts - rows[:, None] * law)) / total
    sampling = (chosen @ (rows[:, None] * law * (1 - law))) / total**2
    mean = chosen * rows / total
    return residual, sampling, error_variance(mean @ studies, networks) / training_share


def random_subpopulations(profiles: Codes, rows: FloatArray, rng: np.random.Generator, number: int) -> FloatArray:
    """Random queries around random people, each covariate open or not.

    Parameters
    ----------
    profiles : array of shape (profiles, covariates)
        Distinct profiles of the study.
    rows : array of shape (profiles,)
        How often each profile is drawn.
    rng : numpy.random.Generator
        Source of randomness.
    number : int
        Queries to draw; equal ones are kept once.

    Returns
    -------
    array of shape (subpopulations, profiles)
        One where a subpopulation covers a profile.
    """
    people = rng.choice(len(profiles), size=number, p=rows / rows.sum())
    openness = rng.random((number, 1))
    queries = np.where(rng.random((number, profiles.shape[1])) < openness, OPEN, profiles[people])
    queries = np.unique(queries, axis=0) if profiles.shape[1] else queries[:1]
    return lattice.membership_matrix(queries, profiles)
