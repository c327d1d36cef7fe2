"""The law of the covariates, P(z): what mixes profiles into queries.

A share `seen` of it is the distribution of the profiles as counted; the rest is smooth, a mixture of latent classes in
each of which the covariates are independent (one class: independent covariates). Number of classes and share are chosen
by the likelihood of held-out rows: where covariates are independent, knowing it takes most of the error out of open
queries, and where they are not, taking it for granted would add several times as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.schema import OPEN, Codes, Schema
from pnsight.models.resampling import split_counts

CLASSES = (1, 2, 4, 8, 16, 32)
"""Numbers of latent classes to try."""

SEEN_SHARES = np.concatenate([[0.0], np.geomspace(0.001, 0.02, 6), np.linspace(0.03, 0.99, 60)])
"""Weights of the profiles as counted to choose among."""

FOLDS = 4
MOST_PROFILES = 4096
"""Profiles that classes are fitted to and chosen on; of more, a random part speaks for all."""

_PRIOR = 0.5
_ITERATIONS = 200
_STILL = 1e-6
_TIE = 1e-9
"""Scores of a held-out row that differ by less are alike: the simpler law wins."""

_LEAST_LOG_MASS = -690.0
"""Logarithm of the least mass; e to less than this is hard to tell from zero."""


@dataclass(frozen=True)
class LatentClasses:
    """Classes of people within which the covariates are independent.

    Attributes
    ----------
    shares : shape (classes,)
        P(class).
    levels : shape (classes, sum of levels)
        P(level | class), the levels of one covariate after those of another.
    shape : levels of each covariate
    """

    shares: FloatArray
    levels: FloatArray
    shape: tuple[int, ...]

    def belonging(self, inside: FloatArray) -> tuple[FloatArray, FloatArray]:
        """P(class | the levels that a query fixes), shape (queries, classes), and the logarithm of their mass.

        From `_indicators` of the queries. The mass itself may be too small for a number.
        """
        logs = np.log(self.shares) + inside @ np.log(self.levels).T
        largest = logs.max(axis=1, keepdims=True)
        joint = np.exp(logs - largest)
        sums = joint.sum(axis=1, keepdims=True)
        return np.asarray(joint / sums), np.asarray((largest + np.log(sums))[:, 0])

    def mass(self, queries: Codes) -> FloatArray:
        """P(query), shape (queries,); never quite zero."""
        return self.mass_of(_indicators(self.shape, queries))

    def mass_of(self, inside: FloatArray) -> FloatArray:
        """The same, from `_indicators` of the queries."""
        return np.asarray(np.exp(np.maximum(self.belonging(inside)[1], _LEAST_LOG_MASS)))

    def draw(self, query: npt.NDArray[np.int32], uniform: FloatArray) -> Codes:
        """Profiles of people within one query, one for each row of uniform numbers (draws, 1 + covariates)."""
        (weights,), _ = self.belonging(_indicators(self.shape, query[None]))
        member = _place(np.cumsum(weights)[None], uniform[:, 0])
        drawn, start = np.tile(query, (len(uniform), 1)), 0
        for j, levels in enumerate(self.shape):
            if query[j] == OPEN:
                edges = np.cumsum(self.levels[:, start : start + levels], axis=1)[member]
                drawn[:, j] = _place(edges, uniform[:, 1 + j])
            start += levels
        return drawn


def _place(edges: FloatArray, uniform: FloatArray) -> npt.NDArray[np.intp]:
    """How many of each row's upper edges, all but the last, a number has passed."""
    return np.asarray((uniform[:, None] >= edges[:, :-1]).sum(axis=1), dtype=np.intp)


def _indicators(shape: tuple[int, ...], queries: Codes) -> FloatArray:
    """One for each level that a query fixes, shape (queries, sum of levels)."""
    blocks = [np.arange(levels) == queries[:, j, None] for j, levels in enumerate(shape)]
    return np.concatenate([np.empty((len(queries), 0)), *blocks], axis=1)


@dataclass(frozen=True)
class CovariateLaw:
    """P(z): the profiles as counted, with weight `seen`, and latent classes, with the rest.

    `shares` says which share of the people counted has each profile of the study, shape (profiles,); `borrowed` whether
    people of the other table are among them; `evidence` is the mean held-out log-likelihood by number of classes tried.
    """

    shares: FloatArray
    seen: float
    smooth: LatentClasses
    borrowed: bool
    evidence: dict[int, float]

    def given(self, profiles: Codes, counts: FloatArray) -> CovariateLaw:
        """The same choices fitted to other counts of the same profiles."""
        some = slice(None, None, -(-len(profiles) // MOST_PROFILES))
        inside = _indicators(self.smooth.shape, profiles[some])
        smooth = _climbed(self.smooth, inside, counts[some], _ITERATIONS // 10)
        return replace(self, shares=counts / counts.sum(), smooth=smooth)


def fit_covariate_laws(
    schema: Schema, profiles: Codes, tables: Sequence[FloatArray], rng: np.random.Generator
) -> list[CovariateLaw]:
    """The covariate law of each table, whose rows by profile are given, shape (profiles,) each.

    Classes and share are chosen on held-out rows of the table, and so is whether the rows of the other table help: they
    do where both describe one population, and hurt where they do not.
    """
    some = np.sort(rng.permutation(len(profiles))[:MOST_PROFILES])
    inside = _indicators(schema.shape, profiles[some])
    folds = [split_counts(rows, FOLDS, rng) for rows in tables]
    seed = int(rng.integers(2**31))
    lenders = [*((k,) for k in range(len(tables))), *([tuple(range(len(tables)))] if len(tables) > 1 else [])]
    trials = [
        trial
        for lending in lenders
        for classes in CLASSES
        for trial in _held_out(schema.shape, inside, some, tables, folds, lending, classes, seed)
    ]
    laws = []
    for table in range(len(tables)):
        tried = [trial for trial in trials if trial.table == table]
        highest = max(trial.score for trial in tried)
        best = next(trial for trial in tried if trial.score >= highest - _TIE)
        rows = sum((tables[k] for k in best.lending), np.zeros(len(profiles)))
        smooth = _fitted(schema.shape, inside, rows[some], best.classes, seed)
        evidence = {trial.classes: trial.score for trial in tried if trial.lending == best.lending}
        laws.append(CovariateLaw(rows / rows.sum(), best.seen, smooth, len(best.lending) > 1, evidence))
    return laws


@dataclass(frozen=True)
class _Trial:
    """Classes fitted to the rows of some tables, and how well they foretold held-out rows of one of them."""

    table: int
    lending: tuple[int, ...]
    classes: int
    seen: float
    score: float


def _held_out(
    shape: tuple[int, ...],
    inside: FloatArray,
    some: npt.NDArray[np.intp],
    tables: Sequence[FloatArray],
    folds: Sequence[Sequence[FloatArray]],
    lending: tuple[int, ...],
    classes: int,
    seed: int,
) -> list[_Trial]:
    """One trial for each table that lends: its best weight of the profiles as counted, and the mean log-likelihood."""
    totals = np.zeros((len(tables), len(SEEN_SHARES)))
    for fold in range(FOLDS):
        training = sum((tables[k] - folds[k][fold] for k in lending), np.zeros(len(tables[0])))
        smooth = _fitted(shape, inside, training[some], classes, seed).mass_of(inside)
        seen = training[some] / max(training.sum(), 1)
        for k in lending:
            rows = folds[k][fold][some]
            asked = rows > 0
            mixed = SEEN_SHARES[:, None] * seen[asked] + (1 - SEEN_SHARES[:, None]) * smooth[asked]
            totals[k] += np.log(mixed) @ rows[asked]
    totals /= [[max(rows[some].sum(), 1)] for rows in tables]
    best = (totals >= totals.max(axis=1, keepdims=True) - _TIE).argmax(axis=1)
    return [_Trial(k, lending, classes, float(SEEN_SHARES[best[k]]), float(totals[k, best[k]])) for k in lending]


def _fitted(shape: tuple[int, ...], inside: FloatArray, counts: FloatArray, classes: int, seed: int) -> LatentClasses:
    """Classes from a random start; `inside` are the profiles' indicators (profiles, sum of levels)."""
    belonging = np.random.default_rng([seed, classes]).dirichlet(np.full(classes, 0.5), size=len(inside))
    start = _maximised(shape, inside, counts[:, None] * belonging)
    return _climbed(start, inside, counts, _ITERATIONS if classes > 1 else 0)


def _climbed(start: LatentClasses, inside: FloatArray, counts: FloatArray, iterations: int) -> LatentClasses:
    """Expectation-maximisation until the likelihood stands still."""
    found, before = start, -np.inf
    for _ in range(iterations):
        belonging, log_mass = found.belonging(inside)
        found = _maximised(found.shape, inside, belonging * counts[:, None])
        likelihood = float(counts @ log_mass / max(counts.sum(), 1))
        if likelihood - before < _STILL:
            break
        before = likelihood
    return found


def _maximised(shape: tuple[int, ...], inside: FloatArray, rows: FloatArray) -> LatentClasses:
    """Classes from each profile's rows in each class, shape (profiles, classes)."""
    size = rows.sum(axis=0)
    sums = rows.T @ inside + _PRIOR
    per_level = size[:, None] + _PRIOR * np.repeat(np.array(shape, dtype=np.float64), shape)
    return LatentClasses((size + _PRIOR) / (size.sum() + _PRIOR * len(size)), sums / per_level, shape)
