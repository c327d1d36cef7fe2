"""The best of many estimates is too high on average: by how much."""

from __future__ import annotations

from typing import Literal

import numpy as np

from pnsight._typing import FloatArray
from pnsight.notes import Note
from pnsight.queries.bound_table import BoundTable

LEAST_TOLD = 0.0005
"""An overestimation below this is not told: it is 0.000 in the digits that are shown."""

NOT_KNOWN = Note("overestimation_unknown", severity="warning")


def overestimation(answers: BoundTable, end: Literal["lower", "upper"], weights: FloatArray) -> float | None:
    """By how much the estimates of one end that were chosen are too high, on average, because they were chosen.

    `weights` say how much each of the answers was chosen, shape (queries,). If truths vary normally between the
    candidates, and estimates around them with their standard errors, then the truth behind an estimate is expected
    between it and the mean of all, the nearer to the mean the less precise it is. Source: B. Efron (2011), "Tweedie's
    formula and selection bias". None for a model without intervals, which say what the standard errors are.
    """
    if not answers.level:
        return None
    estimate, noise = getattr(answers, end), answers.standard_error(end) ** 2
    known = ~np.isnan(estimate)
    if not weights[known].any():
        return 0.0
    estimate, noise, weights = estimate[known], noise[known], weights[known]
    between = max(0.0, float(estimate.var() - noise.mean()))
    kept = between / np.maximum(between + noise, np.finfo(np.float64).tiny)
    return float(np.average((1 - kept) * (estimate - estimate.mean()), weights=weights))
