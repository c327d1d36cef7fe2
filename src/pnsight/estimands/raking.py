"""Raking: weights of profiles that give a sample the covariate mix of other people.

The weights are exp(b.h), with h the covariates as indicators, and b such that the weighted means of h are those wanted:
of all weights that do that, they are nearest to equal ones in relative entropy. If the sample differs from those people
by such a factor only, they are the ratio of the two distributions; where it does not differ they are one.

Sources: W. E. Deming and F. F. Stephan (1940), "On a least squares adjustment of a sampled frequency table when the
expected marginal totals are known"; J.-C. Deville and C.-E. Särndal (1992), "Calibration estimators in survey
sampling"; J. Hainmueller (2012), "Entropy balancing for causal effects".
"""

from __future__ import annotations

import numpy as np

from pnsight._typing import FloatArray

_ROUNDS = 100
_TOLERANCE = 1e-8
"""By how much means may miss those wanted."""
_SMALLEST_STEP = 1e-6
_ROUNDING = 1e-14


def rake(rows: FloatArray, features: FloatArray, wanted: FloatArray) -> FloatArray | None:
    """Weights that give rows the wanted means, by Newton's method.

    Parameters
    ----------
    rows : shape (profiles,)
        Rows of each profile, at least one in all.
    features : shape (profiles, features)
        What the profiles are like.
    wanted : shape (features,)
        Their means among the people wanted.

    Returns
    -------
    Shape (profiles,): the weight of a row of each profile, one on average over the rows; None where no weights do it.
    """
    centred, share = features - wanted, rows / rows.sum()
    chosen, value = np.zeros(features.shape[1]), 0.0
    for _ in range(_ROUNDS):
        weights = _tilted(centred, share, chosen)
        gradient = (share * weights) @ centred
        if np.abs(gradient).max(initial=0.0) < _TOLERANCE:
            return weights
        spread = (centred * (share * weights)[:, None]).T @ centred - np.outer(gradient, gradient)
        step, length = np.linalg.lstsq(spread, gradient, rcond=None)[0], 1.0
        while (found := _log_mean(centred, share, chosen - length * step)) > value + _ROUNDING:
            length /= 2
            if length < _SMALLEST_STEP:
                return None
        chosen, value = chosen - length * step, found
    return None


def _log_mean(centred: FloatArray, share: FloatArray, chosen: FloatArray) -> float:
    """What is least at the right weights: the logarithm of the mean of exp(b.h)."""
    exponent = np.where(share > 0, centred @ chosen, -np.inf)
    top = exponent.max()
    return float(top + np.log(share @ np.exp(exponent - top)))


def _tilted(centred: FloatArray, share: FloatArray, chosen: FloatArray) -> FloatArray:
    """exp(b.h), one on average; zero where there are no rows."""
    exponent = np.where(share > 0, centred @ chosen, -np.inf)
    found = np.exp(exponent - exponent.max())
    return np.asarray(found / (share @ found))
