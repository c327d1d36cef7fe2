"""Confidence intervals: from fits to simulated studies (a parametric bootstrap), calibrated on held-out rows.

Which law is behind a study is not known, but held-out rows refute what some capacities of network make of it. Studies
are simulated from the laws that the others learned, and each is fitted again, twice: how far the fits stray from the
law behind it shows their error, bias included. And held-out rows show whether that is all: over many subpopulations,
what was predicted and what was counted differ by the sampling error of the held-out rows, which is known, and by the
model's own error, whose size is compared with what was expected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

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
    """Inflation factor of the standard errors: its posterior mean, given held-out counts.

    Subpopulations overlap, and the folds show the errors of nearly the same networks. So residuals count only for as
    many as there would be if they were independent, and where these are few the factor stays near its prior.

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
        Factors that are averaged over, and their prior.

    Returns
    -------
    float
        Between the least and the largest of `config.inflation_factors`.
    """
    factors = np.array(config.inflation_factors)
    log_probability = -((np.log(factors / config.inflation) / config.log_inflation_sd) ** 2) / 2
    for law, counts in zip(predicted, held_out, strict=True):
        for group in structure.group_slices:
            found = _compare(
                studies[..., group], networks, law[:, group], counts[:, group], membership, training_share, config
            )
            log_probability += found.log_likelihood(factors) / len(predicted)
    weights = np.exp(log_probability - log_probability.max())
    return float(np.exp(np.log(factors) @ weights / weights.sum()))


class _Comparison(NamedTuple):
    """Residuals of a group of cells, their sampling variance and the model's own, each (subpopulations, cells).

    `independent` is the number of residuals, had they been independent, that they are worth.
    """

    residual: FloatArray
    sampling: FloatArray
    model: FloatArray
    independent: float

    def log_likelihood(self, factors: FloatArray) -> FloatArray:
        """Under each factor, shape (factors,)."""
        if not self.residual.size:
            return np.zeros(len(factors))
        variance = np.maximum(self.sampling + factors[:, None, None] ** 2 * self.model, 1e-12)
        likelihood = -(np.log(variance) + self.residual**2 / variance).sum(axis=(1, 2)) / 2
        return np.asarray(likelihood * self.independent / self.residual.size)


def _compare(
    studies: FloatArray,
    networks: float,
    law: FloatArray,
    counts: FloatArray,
    membership: FloatArray,
    training_share: float,
    config: IntervalConfig,
) -> _Comparison:
    """Residuals of the cells of one group in one fold."""
    rows = counts.sum(axis=1)
    inside = membership @ rows
    enough = inside >= config.min_rows
    if not enough.any():
        none = np.empty((0, law.shape[1]))
        return _Comparison(none, none, none, 0.0)
    total, chosen = inside[enough, None], membership[enough]
    residual = (chosen @ (counts - rows[:, None] * law)) / total
    sampling = (chosen @ (rows[:, None] * law * (1 - law))) / total**2
    mean = chosen * rows / total
    model = error_variance(mean @ studies, networks) / training_share
    return _Comparison(residual, sampling, model, _independent(chosen, rows) * (law.shape[1] - 1))


def _independent(membership: FloatArray, rows: FloatArray) -> float:
    """For how many independent means those of overlapping subpopulations count, by the rows that they share.

    With correlations r of n means that is n^2 over the sum of r^2 (Satterthwaite).
    """
    shared = (membership * rows) @ membership.T
    size = np.sqrt(np.diag(shared))
    return float(len(membership) ** 2 / ((shared / np.outer(size, size)) ** 2).sum())


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
