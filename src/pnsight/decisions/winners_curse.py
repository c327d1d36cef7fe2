"""The best of many estimates is too high on average: by how much."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from pnsight._typing import BoolArray, FloatArray
from pnsight.notes import Note
from pnsight.queries.bound_table import BoundTable

LEAST_TOLD = 0.0005
"""An overestimation below this is not told: it is 0.000 in the digits that are shown."""

NOT_KNOWN = Note("overestimation_unknown", severity="warning")


_SPREADS, _EM_STEPS = 2.0 ** -np.arange(12), 100
"""Standard deviations of truths that are considered beside 0, as shares of the largest deviation; steps of the fit."""


def overestimation(
    answers: BoundTable, end: Literal["lower", "upper"], weights: FloatArray, unselected: BoolArray | None = None
) -> float | None:
    """By how much the estimates of one end that were chosen are too high, on average, because they were chosen.

    Truths vary around their mean by a mixture of normal distributions, whose shares are fitted to all candidates, and
    estimates around the truths with their standard errors. So the truth behind an estimate is expected between it and
    the mean, the nearer to the mean the less precise it is; but an estimate far beyond what chance and most truths
    explain is one of the few that do differ. Sources: B. Efron (2011), "Tweedie's formula and selection bias"; M.
    Stephens (2017), "False discovery rates: a new deal".

    Parameters
    ----------
    answers
        Estimates of all candidates.
    end
        Which end was chosen by.
    weights : shape (queries,)
        How much each of the answers was chosen.
    unselected : shape (queries,)
        Where candidates were themselves searched for, which of them are here whatever their estimates: these show how
        truths vary.

    Returns
    -------
    The mean overestimation; None for a model without intervals, which say what the standard errors are.
    """
    if not answers.level:
        return None
    estimate, noise = getattr(answers, end), answers.standard_error(end) ** 2
    known = ~np.isnan(estimate)
    if not weights[known].any():
        return 0.0
    plain = known if unselected is None or not (known & unselected).any() else known & unselected
    centre = float(estimate[plain].mean())
    spreads = _fit_spreads(estimate[plain] - centre, noise[plain])
    return float(np.average(spreads.excess(estimate[known] - centre, noise[known]), weights=weights[known]))


class _Spreads(NamedTuple):
    """Variances of truths around their mean, and the share of truths with each, both (components,)."""

    variance: FloatArray
    share: FloatArray

    def responsibilities(self, deviation: FloatArray, noise: FloatArray) -> FloatArray:
        """How probably the truth behind each estimate is of each component, shape (estimates, components)."""
        total = np.maximum(self.variance + noise[:, None], np.finfo(np.float64).tiny)
        with np.errstate(divide="ignore"):
            log_density = np.log(self.share) - (np.log(total) + deviation[:, None] ** 2 / total) / 2
        density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
        return np.asarray(density / density.sum(axis=1, keepdims=True))

    def excess(self, deviation: FloatArray, noise: FloatArray) -> FloatArray:
        """How far each estimate is expected to be from its truth, away from the mean, shape (estimates,)."""
        total = np.maximum(self.variance + noise[:, None], np.finfo(np.float64).tiny)
        lost = (self.responsibilities(deviation, noise) * (noise[:, None] / total)).sum(axis=1)
        return np.asarray(lost * deviation)


def _fit_spreads(deviation: FloatArray, noise: FloatArray) -> _Spreads:
    """Maximum likelihood of the shares, by expectation and maximisation."""
    variance = np.concatenate([[0.0], (np.abs(deviation).max() * _SPREADS) ** 2])
    found = _Spreads(variance, np.full(len(variance), 1 / len(variance)))
    for _ in range(_EM_STEPS):
        found = found._replace(share=found.responsibilities(deviation, noise).mean(axis=0))
    return found
