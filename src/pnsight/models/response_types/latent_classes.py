"""The covariate distribution, P(z), which turns answers about profiles into answers about queries: latent classes.

It is a mixture. With weight `empirical_weight` it is the empirical distribution, the profiles as counted; the rest is
smooth, a latent class model: in each class the covariates are independent (one class: independent covariates). Number
of classes and weight are chosen by cross-validation: where covariates are independent, knowing it takes most of the
error out of open queries, and where they are not, taking it for granted would add several times as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray, IndexArray
from pnsight.data.schema import OPEN, Codes, Schema
from pnsight.models.resampling import split_counts
from pnsight.models.response_types.config import LatentClassConfig

_TIE = 1e-9
"""Scores of a held-out row that differ by less are alike: the simpler distribution wins."""

_MIN_LOG_MASS = -690.0
"""Logarithm of the least mass; e to less than this is hard to tell from zero."""


@dataclass(frozen=True)
class LatentClasses:
    """Latent class model: classes of people within which the covariates are independent.

    Attributes
    ----------
    class_probabilities : array of shape (classes,)
        P(class).
    category_probabilities : array of shape (classes, sum of categories)
        P(category | class), the categories of one covariate after those of another.
    shape : tuple of int
        Categories of each covariate.
    """

    class_probabilities: FloatArray
    category_probabilities: FloatArray
    shape: tuple[int, ...]

    def responsibilities(self, indicators: FloatArray) -> tuple[FloatArray, FloatArray]:
        """P(class | what a query fixes), and the logarithm of the query's mass, which may be too small for a number.

        Parameters
        ----------
        indicators : array of shape (queries, sum of categories)
            As `_indicators` gives them.

        Returns
        -------
        responsibilities : array of shape (queries, classes)
        log_mass : array of shape (queries,)
        """
        logs = np.log(self.class_probabilities) + indicators @ np.log(self.category_probabilities).T
        largest = logs.max(axis=1, keepdims=True)
        joint = np.exp(logs - largest)
        sums = joint.sum(axis=1, keepdims=True)
        return np.asarray(joint / sums), np.asarray((largest + np.log(sums))[:, 0])

    def mass(self, queries: Codes) -> FloatArray:
        """P(query), shape (queries,); never quite zero."""
        return self.mass_from_indicators(_indicators(self.shape, queries))

    def mass_from_indicators(self, indicators: FloatArray) -> FloatArray:
        """The same, from `_indicators` of the queries."""
        return np.asarray(np.exp(np.maximum(self.responsibilities(indicators)[1], _MIN_LOG_MASS)))

    def draw(self, query: npt.NDArray[np.int32], uniform: FloatArray) -> Codes:
        """Profiles of people within a query, by inversion of uniform numbers.

        Parameters
        ----------
        query : array of shape (covariates,)
            What is fixed, and what is open.
        uniform : array of shape (draws, 1 + covariates)
            Numbers between 0 and 1: the first chooses the class, the others the categories.

        Returns
        -------
        array of shape (draws, covariates)
        """
        (weights,), _ = self.responsibilities(_indicators(self.shape, query[None]))
        member = _invert(np.cumsum(weights)[None], uniform[:, 0])
        binary = (query == OPEN) & (np.array(self.shape) == 2)
        drawn = np.where(binary, uniform[:, 1:] >= self._first_edges.take(member, axis=0), query)
        for j in np.flatnonzero((query == OPEN) & ~binary):
            drawn[:, j] = _invert(self._edges[j][member], uniform[:, 1 + j])
        return np.asarray(drawn, dtype=np.int32)

    @cached_property
    def _edges(self) -> list[FloatArray]:
        """Upper edges of the categories of each covariate within a class, shape (classes, categories) each."""
        ends = np.cumsum(self.shape)[:-1]
        return [np.cumsum(part, axis=1) for part in np.split(self.category_probabilities, ends, axis=1)]

    @cached_property
    def _first_edges(self) -> FloatArray:
        """The upper edge of the first category of each covariate, shape (classes, covariates)."""
        sizes = np.array(self.shape, dtype=np.intp)
        return self.category_probabilities[:, np.cumsum(sizes) - sizes]


def _invert(edges: FloatArray, uniform: FloatArray) -> IndexArray:
    """How many of each row's upper edges, all but the last, a number has passed."""
    return np.asarray((uniform[:, None] >= edges[:, :-1]).sum(axis=1), dtype=np.intp)


def _indicators(shape: tuple[int, ...], queries: Codes) -> FloatArray:
    """One for each category that a query fixes, shape (queries, sum of categories)."""
    covariate, category = _columns(shape)
    return np.asarray(queries[:, covariate] == category, dtype=np.float64)


@lru_cache
def _columns(shape: tuple[int, ...]) -> tuple[IndexArray, IndexArray]:
    """The covariate and the category that each column of the indicators stands for, shape (sum of categories,) each."""
    return np.repeat(np.arange(len(shape)), shape), np.concatenate([np.arange(0), *map(np.arange, shape)])


@dataclass(frozen=True)
class CovariateDistribution:
    """P(z): the empirical distribution, with weight `empirical_weight`, and latent classes, with the rest.

    Attributes
    ----------
    empirical : array of shape (profiles,)
        Share of the people counted that has each profile of the study.
    empirical_weight : float
    smooth : LatentClasses
    pooled : bool
        Whether people of all tables are counted, and not only the table's own.
    scores : dict
        Mean held-out log-likelihood by number of classes tried.
    """

    empirical: FloatArray
    empirical_weight: float
    smooth: LatentClasses
    pooled: bool
    scores: dict[int, float]

    def mass(self, profiles: Codes, counted: IndexArray) -> FloatArray:
        """P(profile), shape (profiles,); those of the study are at the positions `counted`."""
        mass = (1 - self.empirical_weight) * self.smooth.mass(profiles)
        mass[counted] += self.empirical_weight * self.empirical
        return mass


def fit_covariate_distributions(
    schema: Schema,
    profiles: Codes,
    tables: Sequence[FloatArray],
    rng: np.random.Generator,
    config: LatentClassConfig = LatentClassConfig(),
) -> list[CovariateDistribution]:
    """Fit the covariate distribution of each table.

    Classes and weight are chosen by cross-validation within the table, and so is whether to pool the rows of all
    tables: it helps where they describe one population, and hurts where they do not.

    Parameters
    ----------
    schema : Schema
        Covariates.
    profiles : array of shape (profiles, covariates)
        Distinct profiles of the study.
    tables : one array of shape (profiles,) a table
        Its rows by profile.
    rng : numpy.random.Generator
        Source of randomness.
    config : LatentClassConfig
        Hyperparameters to choose among, and limits.

    Returns
    -------
    list of CovariateDistribution
        One a table.
    """
    some = np.sort(rng.permutation(len(profiles))[: config.max_profiles])
    data = _Data(schema.shape, _indicators(schema.shape, profiles[some]), some, tables)
    folds = [split_counts(rows, config.folds, rng) for rows in tables]
    seed = int(rng.integers(2**31))
    everyone = tuple(range(len(tables)))
    donors = [*((k,) for k in everyone), *([everyone] if len(tables) > 1 else [])]
    trials = [
        trial
        for donor_tables in donors
        for classes in config.classes
        for trial in _cross_validate(data, folds, donor_tables, classes, seed, config)
    ]
    return [_fit_best(data, [trial for trial in trials if trial.table == table], seed, config) for table in everyone]


@dataclass(frozen=True)
class _Data:
    """What latent classes are fitted to: rows of each table (profiles,), and `some` profiles with their indicators."""

    shape: tuple[int, ...]
    indicators: FloatArray
    some: IndexArray
    tables: Sequence[FloatArray]


@dataclass(frozen=True)
class _Trial:
    """Classes fitted to the rows of donor tables, and how well they predicted held-out rows of one of them."""

    table: int
    donor_tables: tuple[int, ...]
    classes: int
    empirical_weight: float
    score: float


def _fit_best(data: _Data, trials: Sequence[_Trial], seed: int, config: LatentClassConfig) -> CovariateDistribution:
    """The distribution of a table with the hyperparameters of its best trial, fitted to all rows."""
    highest = max(trial.score for trial in trials)
    best = next(trial for trial in trials if trial.score >= highest - _TIE)
    rows = sum((data.tables[k] for k in best.donor_tables), np.zeros(len(data.tables[0])))
    smooth = _fit_classes(data, rows[data.some], best.classes, seed, config)
    scores = {trial.classes: trial.score for trial in trials if trial.donor_tables == best.donor_tables}
    pooled = len(best.donor_tables) > 1
    return CovariateDistribution(rows / rows.sum(), best.empirical_weight, smooth, pooled, scores)


def _cross_validate(
    data: _Data,
    folds: Sequence[Sequence[FloatArray]],
    donor_tables: tuple[int, ...],
    classes: int,
    seed: int,
    config: LatentClassConfig,
) -> list[_Trial]:
    """One trial for each donor table: its best weight of the empirical distribution, and the mean log-likelihood."""
    weights = np.array(config.empirical_weights)
    totals = np.zeros((len(data.tables), len(weights)))
    for fold in range(config.folds):
        training = sum((data.tables[k] - folds[k][fold] for k in donor_tables), np.zeros(len(data.tables[0])))
        fitted = _fit_classes(data, training[data.some], classes, seed, config)
        smooth = fitted.mass_from_indicators(data.indicators)
        empirical = training[data.some] / max(training.sum(), 1)
        for k in donor_tables:
            rows = folds[k][fold][data.some]
            held_out = rows > 0
            mixed = weights[:, None] * empirical[held_out] + (1 - weights[:, None]) * smooth[held_out]
            totals[k] += np.log(mixed) @ rows[held_out]
    totals /= [[max(rows[data.some].sum(), 1)] for rows in data.tables]
    best = (totals >= totals.max(axis=1, keepdims=True) - _TIE).argmax(axis=1)
    return [_Trial(k, donor_tables, classes, float(weights[best[k]]), float(totals[k, best[k]])) for k in donor_tables]


def _fit_classes(data: _Data, counts: FloatArray, classes: int, seed: int, config: LatentClassConfig) -> LatentClasses:
    """Classes from a random start; `counts` are of some profiles, shape (some,)."""
    start = np.random.default_rng([seed, classes]).dirichlet(np.full(classes, 0.5), size=len(data.indicators))
    first = _m_step(data.shape, data.indicators, counts[:, None] * start, config.prior_rows)
    return _run_em(first, data.indicators, counts, config, config.iterations if classes > 1 else 0)


def _run_em(
    start: LatentClasses, indicators: FloatArray, counts: FloatArray, config: LatentClassConfig, iterations: int
) -> LatentClasses:
    """Expectation-maximisation until the likelihood has converged."""
    found, before = start, -np.inf
    for _ in range(iterations):
        responsibilities, log_mass = found.responsibilities(indicators)
        found = _m_step(found.shape, indicators, responsibilities * counts[:, None], config.prior_rows)
        likelihood = float(counts @ log_mass / max(counts.sum(), 1))
        if likelihood - before < config.tolerance:
            break
        before = likelihood
    return found


def _m_step(shape: tuple[int, ...], indicators: FloatArray, rows: FloatArray, prior_rows: float) -> LatentClasses:
    """Classes from each profile's expected rows in each class, shape (profiles, classes)."""
    size = rows.sum(axis=0)
    sums = rows.T @ indicators + prior_rows
    per_category = size[:, None] + prior_rows * np.repeat(np.array(shape, dtype=np.float64), shape)
    return LatentClasses((size + prior_rows) / (size.sum() + prior_rows * len(size)), sums / per_category, shape)
