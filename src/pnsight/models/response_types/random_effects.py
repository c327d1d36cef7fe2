"""Random effects of the covariates: what differs between profiles where no network is sure that anything does.

A share of a group's rows at a profile is that of everyone plus effects of single covariates, of pairs, and so on. The
effects are random, with a variance of their own that is fitted and never tested away:

    share(z) = overall + sum over sets S of covariates of b_S prod_{j in S} c_j(z),    b_S ~ N(0, t r^(|S| - 1))

with c_j the category of a covariate less its mean. This is a Gaussian process whose kernel is a product over the
covariates; sets larger than those listed are one independent effect a profile. Means and variances are averaged over
the scale t and the ratio r by their marginal likelihood times a prior, so intervals allow for all the heterogeneity
that the rows could not rule out. Source: C. E. Rasmussen and C. K. I. Williams (2006), "Gaussian processes for machine
learning", chapters 2 and 5; the prior's scale was set on development populations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from threadpoolctl import threadpool_limits

from pnsight._typing import FloatArray
from pnsight.data.schema import Codes
from pnsight.data.structure import EXPERIMENTAL, Structure
from pnsight.models.response_types.config import RandomEffectsConfig

_MIN_WEIGHT = 1e-3
"""Hyperparameters with less posterior probability are left out of the mean."""

_OVERALL_VARIANCE = 1.0
"""Prior variance, relative to a row, of a deviation that everyone shares: nothing is known of it beforehand."""


@dataclass(frozen=True)
class CenteredCovariates:
    """Covariates as contrasts from their means, and products of up to `order` of them.

    Attributes
    ----------
    shape : categories of each covariate
    frequencies : one array of shape (categories,) a covariate, their means
    order : most covariates that a listed effect has
    """

    shape: tuple[int, ...]
    frequencies: tuple[FloatArray, ...]
    order: int

    @classmethod
    def of(cls, shape: tuple[int, ...], profiles: Codes, rows: FloatArray, max_features: int) -> CenteredCovariates:
        """With as high an order as keeps the products few enough.

        Parameters
        ----------
        shape
            Categories of each covariate.
        profiles, rows
            Distinct profiles, shape (profiles, covariates), and their rows, shape (profiles,).
        max_features
            Products that may be listed.

        Returns
        -------
        The contrasts.
        """
        means = tuple(
            np.bincount(profiles[:, j], rows, categories) / max(rows.sum(), 1e-300)
            for j, categories in enumerate(shape)
        )
        order = 1
        while order < min(3, len(shape)) and _n_products(shape, order + 1) <= max_features:
            order += 1
        return cls(shape, means, order)

    def contrasts(self, codes: Codes) -> list[FloatArray]:
        """Indicators less their means, one array of shape (profiles, categories - 1) a covariate.

        Indicators of all categories add up to one, so one direction is left out, by a rotation that keeps distances.
        """
        return [
            ((codes[:, j, None] == np.arange(categories)) - self.frequencies[j]) @ _sum_zero_basis(categories)
            for j, categories in enumerate(self.shape)
        ]

    def products(self, codes: Codes) -> tuple[FloatArray, FloatArray]:
        """Features of profiles, shape (profiles, features), and how many covariates each is a product of."""
        single = self.contrasts(codes)
        columns, orders = [np.ones((len(codes), 1))], [0]
        for size in range(1, self.order + 1):
            for chosen in combinations(range(len(self.shape)), size):
                product = single[chosen[0]]
                for j in chosen[1:]:
                    width = product.shape[1] * single[j].shape[1]
                    product = (product[:, :, None] * single[j][:, None, :]).reshape(len(codes), width)
                columns.append(product)
                orders += [size] * product.shape[1]
        return np.concatenate(columns, axis=1), np.array(orders, dtype=np.float64)

    def unlisted(self, codes: Codes, ratio: float) -> FloatArray:
        """Prior variance, for scale one, of all effects of more covariates than are listed, shape (profiles,)."""
        squares = [(each**2).sum(axis=1) for each in self.contrasts(codes)]
        listed = np.zeros((self.order + 1, len(codes)))
        listed[0] = 1.0
        every = np.ones(len(codes))
        for square in squares:
            every *= 1 + ratio * square
            for size in range(self.order, 0, -1):
                listed[size] += square * listed[size - 1]
        known = sum((ratio ** (size - 1) * listed[size] for size in range(1, self.order + 1)), np.zeros(len(codes)))
        return np.maximum((every - 1) / ratio - known, 0.0)


def _n_products(shape: tuple[int, ...], order: int) -> int:
    """Products of the contrasts of up to `order` covariates, by elementary symmetric sums."""
    sums = np.zeros(order + 1)
    sums[0] = 1.0
    for categories in shape:
        sums[1:] += (categories - 1) * sums[:-1]
    return int(sums[1:].sum())


@lru_cache
def _sum_zero_basis(categories: int) -> FloatArray:
    """Orthonormal basis of the vectors that add up to zero, shape (categories, categories - 1)."""
    basis = np.zeros((categories, categories - 1))
    for k in range(1, categories):
        basis[:k, k - 1], basis[k, k - 1] = -1.0, k
        basis[:, k - 1] /= np.sqrt(k * (k + 1))
    return basis


class _Solution(NamedTuple):
    """Effects under one pair of hyperparameters: posterior in terms of a Cholesky factor."""

    log_probability: float
    scale: float
    ratio: float
    factor: FloatArray
    prior_sd: FloatArray
    projected: FloatArray


@dataclass(frozen=True)
class RandomEffects:
    """Posterior of the effects on one group of cells.

    Attributes
    ----------
    covariates : the contrasts
    overall : shape (cells,), the share of everyone
    solutions : posterior under the hyperparameters that matter, with the probability of each
    """

    covariates: CenteredCovariates
    overall: FloatArray
    solutions: tuple[tuple[float, _Solution], ...]

    @property
    def log_scale(self) -> float:
        """Posterior mean of the logarithm of the scale."""
        return float(sum(weight * np.log(found.scale) for weight, found in self.solutions))

    def error_covariance(self, codes: Codes) -> FloatArray:
        """Posterior covariance of the shares at pairs of profiles, relative to a row's, shape (profiles, profiles)."""
        features, _ = self.covariates.products(codes)
        found = np.zeros((len(codes), len(codes)))
        for weight, each in self.solutions:
            turned = solve_triangular(each.factor, (features * each.prior_sd).T, lower=True)
            found += weight * (turned.T @ turned)
            found[np.diag_indices(len(codes))] += weight * each.scale * self.covariates.unlisted(codes, each.ratio)
        return found

    def predict(self, codes: Codes) -> tuple[FloatArray, FloatArray]:
        """Shares of the cells at profiles, shape (profiles, cells), and their relative variance, shape (profiles,)."""
        features, _ = self.covariates.products(codes)
        mean, variance, square = np.zeros((len(codes), len(self.overall))), np.zeros(len(codes)), np.zeros(len(codes))
        for weight, found in self.solutions:
            turned = solve_triangular(found.factor, (features * found.prior_sd).T, lower=True)
            here = turned.T @ found.projected
            unlisted = found.scale * self.covariates.unlisted(codes, found.ratio)
            mean += weight * here
            variance += weight * ((turned**2).sum(axis=0) + unlisted)
            square += weight * (here**2).sum(axis=1)
        between = np.maximum(square - (mean**2).sum(axis=1), 0.0)
        return self._shares(mean), variance + between

    def _shares(self, deviation: FloatArray) -> FloatArray:
        """Shares from deviations in standard deviations of a row; what leaves [0, 1] is brought back."""
        spread = np.sqrt((self.overall * (1 - self.overall)).sum())
        found = np.clip(self.overall + spread * deviation, self.overall * _FLOOR, 1.0)
        return np.asarray(found / found.sum(axis=1, keepdims=True))


_FLOOR = 0.02
"""A cell's share at a profile is at least this part of its share of everyone."""


def fit_random_effects(
    profiles: Codes, counts: FloatArray, structure: Structure, shape: tuple[int, ...], config: RandomEffectsConfig
) -> list[RandomEffects]:
    """Effects on every group of cells.

    How much profiles differ in the registry tells what to expect of the arms of the trial, which are smaller: their
    prior is centred there.

    Parameters
    ----------
    profiles : shape (profiles, covariates)
        Distinct profiles.
    counts : shape (profiles, cells)
        Effective rows in each cell.
    structure
        Layout of the cells.
    shape
        Categories of each covariate.
    config
        Hyperparameters and their prior.

    Returns
    -------
    One a group.
    """
    tried = len(structure.groups) * len(config.ratios) * len(config.scales)
    affordable = int(np.sqrt(config.max_work / (tried * max(len(profiles), 1))))
    covariates = CenteredCovariates.of(shape, profiles, counts.sum(axis=1), min(config.max_features, affordable))
    found: dict[int, RandomEffects] = {}
    centre, spread = np.log(config.scale), config.log_scale_sd
    order = sorted(range(len(structure.groups)), key=lambda g: structure.groups[g].table == EXPERIMENTAL)
    with threadpool_limits(1):  # matrices of a few hundred rows: threads would wait for each other
        for number in order:
            group, columns = structure.groups[number], structure.group_slices[number]
            found[number] = _fit_group(covariates, profiles, counts[:, columns], centre, spread, config)
            if group.table != EXPERIMENTAL:
                centre, spread = found[number].log_scale + np.log(config.arm_ratio), config.log_arm_ratio_sd
    return [found[number] for number in range(len(structure.groups))]


def _fit_group(
    covariates: CenteredCovariates,
    profiles: Codes,
    counts: FloatArray,
    centre: float,
    spread: float,
    config: RandomEffectsConfig,
) -> RandomEffects:
    """Effects on the cells of one group, whose counts have shape (profiles, cells)."""
    rows = counts.sum(axis=1)
    total = counts.sum(axis=0)
    overall = (total + 0.5) / (total + 0.5).sum()
    some = rows > 0
    unit = np.sqrt((overall * (1 - overall)).sum())
    deviation = (counts[some] / rows[some, None] - overall) / unit
    solutions = list(_solve(covariates, profiles[some], rows[some], deviation, config))
    logs = np.array([each.log_probability - ((np.log(each.scale) - centre) / spread) ** 2 / 2 for each in solutions])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    kept = [(weight, each) for weight, each in zip(weights, solutions, strict=True) if weight >= _MIN_WEIGHT]
    whole = sum(weight for weight, _ in kept)
    return RandomEffects(covariates, overall, tuple((float(weight / whole), each) for weight, each in kept))


def _solve(
    covariates: CenteredCovariates, codes: Codes, rows: FloatArray, deviation: FloatArray, config: RandomEffectsConfig
) -> Iterator[_Solution]:
    """Posterior and marginal likelihood for each pair of hyperparameters.

    `deviation` (profiles, cells) is in standard deviations of a row, all cells of a row together having variance one.
    """
    features, orders = covariates.products(codes)
    freedom = max(1, deviation.shape[1] - 1)
    for ratio in config.ratios:
        unlisted = covariates.unlisted(codes, ratio)
        for scale in config.scales:
            worth = 1 / (scale * unlisted + 1 / rows)
            prior = np.where(orders == 0, _OVERALL_VARIANCE, scale * ratio ** np.maximum(orders - 1, 0.0))
            prior_sd = np.sqrt(prior)
            inner = (features * worth[:, None]).T @ features
            factor = np.linalg.cholesky(np.eye(len(prior)) + prior_sd[:, None] * inner * prior_sd)
            right = prior_sd[:, None] * (features.T @ (worth[:, None] * deviation))
            projected = solve_triangular(factor, right, lower=True)
            misfit = float((worth[:, None] * deviation**2).sum() - (projected**2).sum())
            log_determinant = 2 * np.log(np.diag(factor)).sum() - np.log(worth).sum()
            likelihood = -0.5 * freedom * float(log_determinant + misfit)
            yield _Solution(likelihood, scale, ratio, np.asarray(factor, np.float64), prior_sd, projected)
