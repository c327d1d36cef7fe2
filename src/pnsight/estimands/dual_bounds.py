"""Dual bounds: inference on refined bounds that stays valid when the model of the law is wrong.

The refined lower end of a group is the mean over its people's profiles z of the largest, over the dual vertices k, of
c_k . law(z). Take ANY vertex k(z) for each profile: by weak duality c_k(z) . law(z) is not above the largest, so its
mean is a lower bound too, valid if less tight; it is the refined end itself if k(z) is the best vertex everywhere. So
the vertices can be read off a model. If that was fitted to other rows (cross-fitting) they are fixed numbers as far as
the rows at hand are concerned, and what is left to estimate is a mean with a normal error, whatever the model is worth.

The rows of a table of the people asked about are averaged as they are. Those of an arm of the trial are weighted to the
covariate mix of these people (`raking`), and only what they show beyond the model's law, whose own mean over the people
asked about is known, is averaged so (augmentation): a good model makes the error small, and no model makes it wrong.

Sources: W. Ji, L. Lei and A. Spector (2023), "Model-agnostic covariate-assisted inference on partially identified
causal effects", for dual bounds with cross-fitting; J. M. Robins, A. Rotnitzky and L. P. Zhao (1994), "Estimation of
regression coefficients when some regressors are not always observed", for augmentation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnsight._typing import BoolArray, FloatArray
from pnsight.data.law import Law
from pnsight.data.structure import Structure
from pnsight.estimands.compiled_ratio import IMPOSSIBLE, CompiledRatio
from pnsight.estimands.raking import rake

MIN_WEIGHTED_ROWS = 100
"""Rows of equal weight that an arm has to be worth after weighting (Kish), so that a mean over it is about normal."""


@dataclass(frozen=True)
class CrossFit:
    """Rows of a group in folds, and for each fold the law that other folds taught.

    Attributes
    ----------
    structure : which cells there are
    counts, laws : shape (folds, profiles, cells)
        Rows, and the probability of each cell within its group; any law will do, and a good one gives tight bounds.
    asked : shape (cells,)
        Whether the rows of each cell are people of the population asked about, whose covariate mix counts.
    features : shape (profiles, features)
        What arms of the trial are raked to that population by.
    worth : shape (cells,)
        How many independent rows a row of each cell is worth.
    """

    structure: Structure
    counts: FloatArray
    laws: FloatArray
    asked: BoolArray
    features: FloatArray
    worth: FloatArray


@dataclass(frozen=True)
class DualBounds:
    """Both ends, and the standard error of each."""

    lower: float
    upper: float
    lower_error: float
    upper_error: float


def dual_bounds(compiled: CompiledRatio, given: CrossFit) -> DualBounds | None:
    """Valid bounds on a refined quantity, from rows and from laws that other rows taught.

    Parameters
    ----------
    compiled
        The quantity's bounds as linear functions of the law.
    given
        Rows of the group asked about.

    Returns
    -------
    Bounds that hold on average, with their errors; None where an arm cannot be weighted to the people asked about, or
    nobody shows the event that the quantity conditions on.
    """
    found = _mean_terms(*_vertices(compiled, given), given)
    if found is None:
        return None
    value, moves = found
    if compiled.event is not None:
        event = value[2]
        if not event > IMPOSSIBLE:
            return None
        moves = (moves[..., :2] - value[:2] / event * moves[..., 2:]) / event
        value = value[:2] / event
    variance = np.einsum("fzc,fzct->t", given.counts / given.worth, moves**2)
    (lower, upper), (lower_error, upper_error) = value[:2].tolist(), np.sqrt(variance).tolist()
    return DualBounds(lower, upper, lower_error, upper_error)


def _vertices(compiled: CompiledRatio, given: CrossFit) -> tuple[FloatArray, FloatArray]:
    """The terms that the laws choose for both ends, and then the event's: coefficients and constants.

    Shapes (folds, profiles, cells, terms) and (folds, profiles, terms).
    """
    folds, profiles, cells = given.laws.shape
    law = Law(given.structure, given.laws.reshape(folds * profiles, cells))
    ends = compiled.numerator.lower, compiled.numerator.upper
    chosen = ends[0](law).argmax(axis=0), ends[1](law).argmin(axis=0)
    coefficients = [end.coefficients[which] for end, which in zip(ends, chosen, strict=True)]
    constants = [end.constant[which] for end, which in zip(ends, chosen, strict=True)]
    if compiled.event is not None:
        coefficients.append(np.broadcast_to(compiled.event.coefficients[0], law.cells.shape))
        constants.append(np.full(len(law), compiled.event.constant[0]))
    return (
        np.stack(coefficients, axis=-1).reshape(folds, profiles, cells, -1),
        np.stack(constants, axis=-1).reshape(folds, profiles, -1),
    )


def _mean_terms(
    coefficients: FloatArray, constants: FloatArray, given: CrossFit
) -> tuple[FloatArray, FloatArray] | None:
    """Mean of each term over the people asked about, and by how much one row of each cell moves it.

    Shapes (terms,) and (folds, profiles, cells, terms).
    """
    people = given.counts[..., given.asked].sum(axis=-1)
    if not people.sum(axis=1).all():
        return None
    away = given.features - people.sum(axis=0) @ given.features / people.sum()
    expected, moves = constants.copy(), np.zeros(coefficients.shape)
    beyond = np.zeros((len(people), constants.shape[-1]))
    slopes = np.zeros((given.features.shape[1], constants.shape[-1]))
    for some in given.structure.group_slices:
        own = coefficients[:, :, some]
        if not own.any():
            continue
        predicted = np.einsum("fzct,fzc->fzt", own, given.laws[:, :, some])
        arm = _weighted_residuals(own - predicted[:, :, None], given.counts[:, :, some], away, people)
        if arm is None:
            return None
        expected += predicted
        beyond += arm.mean
        moves[:, :, some] += arm.moves
        slopes += arm.slopes
    mean = np.einsum("fz,fzt->ft", people, expected) / people.sum(axis=1, keepdims=True)
    own_moves = (expected - mean[:, None] + away @ slopes) / people.sum()
    moves[:, :, given.asked] += own_moves[:, :, None]
    share = people.sum(axis=1) / people.sum()
    return share @ (mean + beyond), moves


@dataclass(frozen=True)
class _Residuals:
    """What the rows of a group of cells show beyond the model, averaged over the people asked about.

    Attributes
    ----------
    mean : shape (folds, terms)
    moves : shape (folds, profiles, cells, terms)
        By how much one row of each cell moves the mean over folds.
    slopes : shape (features, terms)
        By how much the mean moves with the covariate mix of the people asked about.
    """

    mean: FloatArray
    moves: FloatArray
    slopes: FloatArray


def _weighted_residuals(
    residuals: FloatArray, counts: FloatArray, away: FloatArray, people: FloatArray
) -> _Residuals | None:
    """Residuals of a group of cells, raked to the people asked about; None where that cannot be done.

    Weights were estimated, and move with the covariate mixes of both sides: the residuals' regression on the features
    is what they take out of one error and bring into the other.
    """
    rows = counts.sum(axis=-1)
    if not rows.sum(axis=1).all():
        return None
    weights = rake(rows.sum(axis=0), away, np.zeros(away.shape[1]))
    if weights is None or _worth(rows.sum(axis=0), weights) < MIN_WEIGHTED_ROWS:
        return None
    weighted = counts * weights[:, None]
    total = weighted.sum(axis=(1, 2))
    mean = np.einsum("fzc,fzct->ft", weighted, residuals) / total[:, None]
    centred = residuals - mean[:, None, None]
    spread = (away * (rows.sum(axis=0) * weights)[:, None]).T @ away
    shared = away.T @ np.einsum("fzc,fzct->zt", weighted, centred)
    slopes = np.linalg.lstsq(spread, shared, rcond=None)[0]
    scale = people.sum(axis=1) / people.sum() / total
    moves = (centred - (away @ slopes)[:, None]) * weights[:, None, None] * scale[:, None, None, None]
    return _Residuals(mean, moves, slopes)


def _worth(rows: FloatArray, weights: FloatArray) -> float:
    """How many rows of equal weight the rows are worth, by Kish."""
    return float((rows @ weights) ** 2 / (rows @ weights**2))
