"""Whether adding up the rows of a query would compare people who differ."""

from __future__ import annotations

import math

from pnsight._typing import FloatArray
from pnsight.data.study import Study

MATERIAL = 0.1
"""Shares that vary by less than this part of themselves do little harm."""

_STANDARD_ERRORS = 5.0


def unevenness(first: FloatArray, second: FloatArray) -> float:
    """By what part of itself the share of the smaller group varies from profile to profile, beyond chance.

    `first` and `second`, of shape (profiles,), are the rows of two groups. Zero where chance may explain it: the
    chi-square statistic of equal shares lies within five standard errors of its mean (Haldane's variance, which
    allows for profiles with few rows).
    """
    rows = first + second
    first, rows = first[rows > 0], rows[rows > 0]
    fewer = min(first.sum(), rows.sum() - first.sum())
    if fewer == 0 or len(rows) < 2:
        return 0.0
    share = fewer / rows.sum()
    spread = share * (1 - share)
    overall = first.sum() / rows.sum()
    excess = float(((first - rows * overall) ** 2 / (rows * spread)).sum()) - (len(rows) - 1)
    variance = 2 * (len(rows) - 1) + max(0.0, 1 / spread - 6) * float((1 / rows).sum())
    if excess <= _STANDARD_ERRORS * math.sqrt(variance):
        return 0.0
    return math.sqrt(excess / float(rows.sum()) * (1 - share) / share)


def pooling_concerns(study: Study, reweighted: bool = False) -> list[str]:
    """Why queries that leave covariates open should not simply add up rows; empty when they may.

    Where the experiment was `reweighted` by known probabilities its arms are even already, and noisier than counts.
    """
    trial, registry = study.experimental, study.observational
    arms = 0.0 if reweighted else unevenness(trial[:, :2].sum(axis=1), trial[:, 2:].sum(axis=1))
    tables = 0.0 if registry is None else unevenness(trial.sum(axis=1), registry.sum(axis=1))
    found = []
    if arms >= MATERIAL:
        found.append(f"the experiment treats some profiles more often than others (shares vary by {arms:.0%})")
    if tables >= MATERIAL:
        found.append(f"the two tables mix the covariates differently (shares vary by {tables:.0%})")
    return found
