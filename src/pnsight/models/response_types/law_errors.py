"""Errors of the estimated law: how far the share of a cell strays, profile by profile, and how that averages out.

Errors are relative to what one row tells. A share p that was counted in n independent rows has the variance
p (1 - p) / n, so an estimate whose error has the variance p (1 - p) e^2 is as good as 1/e^2 rows of the group itself:
its effective rows. Errors at two profiles are alike the more the fewer covariates differ, by a factor `decay` for each;
numbers differ by three times the share of people between them, which is one on average.
The mean over the people of a query that leaves covariates open then has the mean error of their profiles times the
square root of the mean correlation of two of them, which is a product over the open covariates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.number_codes import high_ends, low_ends
from pnsight.data.number_scale import NumberScale
from pnsight.data.schema import OPEN, Codes, Schema
from pnsight.data.structure import Structure

MIN_SPREAD = 0.02
"""Least sum of p (1 - p) over the cells of a group by which errors are divided: rare cells are hardly ever certain."""

ERROR_FLOOR = 1e-6
"""Least relative error of a law that is believed."""

_APART = 3.0
"""Two numbers drawn at random differ by a third of the people on average, and then by as much as two levels do."""

_MIN_DECAY, _MAX_DECAY = 0.05, 0.99
_FITTED_DISTANCES = 4


def relative_errors(errors: FloatArray, law: FloatArray, structure: Structure) -> FloatArray:
    """Mean squared errors of cells as relative variances, one a group.

    Parameters
    ----------
    errors : shape (..., cells)
        Mean squared error of each cell.
    law : shape (..., cells)
        Probability of each cell within its group.
    structure
        Layout of the cells.

    Returns
    -------
    Shape (..., groups).
    """
    spread = structure.by_group(law * (1 - law))
    return np.asarray(structure.by_group(errors) / np.maximum(spread, MIN_SPREAD))


def mean_correlation(
    codes: Codes, frequencies: Sequence[FloatArray], decay: FloatArray, schema: Schema | None = None
) -> FloatArray:
    """Correlation of the errors at the profiles of two people of each query, on average.

    Parameters
    ----------
    codes : shape (queries, covariates)
        Queries.
    frequencies : one array of shape (categories,) a covariate
        How common each category is; of numeric covariates nothing is asked.
    decay : shape (groups,)
        By what one covariate more that differs lowers the correlation.
    schema
        The covariates, where some are numeric.

    Returns
    -------
    Shape (queries, groups).
    """
    found = np.ones((len(codes), len(decay)))
    for j, shares in enumerate(frequencies):
        if schema is not None and j in schema.numeric:
            found *= _correlation_within(_width(schema.numeric[j], codes[:, j]), decay)
            continue
        alike = float((shares**2).sum())
        found *= np.where((codes[:, j] == OPEN)[:, None], decay + (1 - decay) * alike, 1.0)
    return found


def _width(scale: NumberScale, codes: npt.NDArray[Any]) -> FloatArray:
    """Share of people within each number or range, all of them where it is open, shape (queries,)."""
    width = scale.rank(high_ends(codes)) - scale.rank(low_ends(codes))
    return np.where(codes == OPEN, 1.0, np.nan_to_num(width))


def _correlation_within(width: FloatArray, decay: FloatArray) -> FloatArray:
    """Mean of ``decay`` to the power of the distance of two people within a range, shape (queries, groups).

    Their distance u, as a share of the width, has the density 2 (1 - u).
    """
    rate = -np.log(decay) * _APART * np.maximum(width, 1e-6)[:, None]
    return np.asarray(2 * (rate + np.expm1(-rate)) / rate**2)


def fit_decay(covariance: FloatArray, codes: Codes, schema: Schema | None = None) -> float:
    """How fast the correlation of errors falls with the number of covariates that differ.

    Parameters
    ----------
    covariance : shape (profiles, profiles)
        Of the errors of one group's cells at pairs of profiles, up to a factor.
    codes : shape (profiles, covariates)
        The profiles.
    schema
        The covariates, where some are numeric; distances are then rounded.

    Returns
    -------
    The factor for each covariate that differs, by least squares on the logarithms of the mean correlations.
    """
    size = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    apart = (codes[:, None, :] != codes[None]).sum(axis=2)
    if schema is not None and schema.numeric:
        apart = np.rint(distances(schema, codes, codes)).astype(np.intp)
    number = np.bincount(apart.ravel())
    near = np.flatnonzero(number > 0)[:_FITTED_DISTANCES]
    if len(near) < 2:
        return _MAX_DECAY
    correlation = np.bincount(apart.ravel(), (covariance / np.outer(size, size)).ravel())[near] / number[near]
    slope = np.polyfit(near, np.log(np.maximum(correlation, _MIN_DECAY)), 1)[0]
    return float(np.clip(np.exp(slope), _MIN_DECAY, _MAX_DECAY))


def error_covariance(errors: FloatArray) -> FloatArray:
    """Covariance, up to a factor, of errors at pairs of profiles.

    Parameters
    ----------
    errors : shape (fits, profiles, cells)
        Errors of one group's cells.

    Returns
    -------
    Shape (profiles, profiles).
    """
    return np.asarray(np.einsum("szc,swc->zw", errors, errors, optimize=True))


def smooth_over_neighbours(values: FloatArray, codes: Codes) -> FloatArray:
    """Mean of each profile's value and of those that differ in one covariate, which few fits show more steadily.

    Parameters
    ----------
    values : shape (profiles, k)
        One row a profile of `codes`.
    codes : shape (profiles, covariates)
        All profiles that the covariates allow, the last covariate changing fastest.

    Returns
    -------
    Shape (profiles, k).
    """
    if not codes.shape[1]:
        return values
    shape = tuple(codes.max(axis=0) + 1)
    grid = values.reshape(*shape, -1)
    total, number = grid.copy(), 1
    for axis, categories in enumerate(shape):
        total += grid.sum(axis=axis, keepdims=True) - grid
        number += categories - 1
    return np.asarray(total / number).reshape(values.shape)


def hamming(queries: Codes, profiles: Codes) -> npt.NDArray[np.intp]:
    """In how many of the covariates that a query fixes each profile differs from it.

    Parameters
    ----------
    queries : shape (queries, covariates)
        Codes, some of them open.
    profiles : shape (profiles, covariates)
        Codes of profiles.

    Returns
    -------
    Shape (queries, profiles).
    """
    found = np.zeros((len(queries), len(profiles)), dtype=np.intp)
    for j in range(queries.shape[1]):
        found += (queries[:, j, None] != profiles[:, j]) & (queries[:, j, None] != OPEN)
    return found


def distances(schema: Schema, queries: Codes, people: Codes, another_level: float = 1.0) -> FloatArray:
    """How far people are from what queries fix: levels that differ, and shares of people between numbers.

    Parameters
    ----------
    schema
        The covariates.
    queries : shape (queries, covariates)
        Codes, some of them open; whoever is within a range is not far from it.
    people : shape (people, covariates)
        Codes of single people.
    another_level
        The distance of one level from another.

    Returns
    -------
    Shape (queries, people).
    """
    found = np.zeros((len(queries), len(people)))
    for j in range(queries.shape[1]):
        asked = queries[:, j]
        if (asked == OPEN).all():
            continue
        if j in schema.numeric:
            gap = _gap(schema.numeric[j], asked, people[:, j], another_level)
            found += np.where((asked == OPEN)[:, None], 0.0, gap)
        else:
            found += another_level * ((asked[:, None] != people[:, j]) & (asked[:, None] != OPEN))
    return found


def _gap(scale: NumberScale, asked: npt.NDArray[Any], own: npt.NDArray[Any], unknown: float) -> FloatArray:
    """Three times the share of people between each number and each range, shape (queries, people)."""
    low, high, rank = (scale.rank(ends) for ends in (low_ends(asked), high_ends(asked), low_ends(own)))
    below, above = low[:, None] - rank, rank - high[:, None]
    gap = _APART * np.maximum(np.maximum(below, above), 0.0)
    missing = np.isinf(low_ends(asked))[:, None] != np.isinf(low_ends(own))
    return np.where(missing, unknown, gap)


def draw_errors(
    law: FloatArray,
    error: FloatArray,
    codes: Codes,
    decay: FloatArray,
    structure: Structure,
    draws: int,
    schema: Schema | None = None,
) -> FloatArray:
    """Errors of laws as large and as alike as expected, drawn with a fixed seed.

    Parameters
    ----------
    law : shape (profiles, cells)
        Estimated laws.
    error : shape (profiles, groups)
        Relative error of each.
    codes : shape (profiles, covariates)
        The profiles.
    decay : shape (groups,)
        By what one covariate more that differs lowers the correlation.
    structure
        Layout of the cells.
    draws
        How many.
    schema
        The covariates, where some are numeric.

    Returns
    -------
    Shape (draws, profiles, cells); the errors of a group's cells add up to zero.
    """
    rng = np.random.default_rng(0)
    apart = hamming(codes, codes) if schema is None or not schema.numeric else distances(schema, codes, codes)
    found = np.zeros((draws, *law.shape))
    for number, columns in enumerate(structure.group_slices):
        kernel = decay[number] ** apart + 1e-9 * np.eye(len(codes))
        cells = law[:, columns]
        normal = np.einsum("zw,dwc->dzc", np.linalg.cholesky(kernel), rng.standard_normal((draws, *cells.shape)))
        spread = np.sqrt(cells) * normal
        found[..., columns] = error[:, number, None] * (spread - cells * spread.sum(axis=2, keepdims=True))
    return found
