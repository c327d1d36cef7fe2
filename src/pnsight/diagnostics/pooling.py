"""Pooling: whether adding up the rows of a query would compare people who differ."""

from __future__ import annotations

import math

from pnsight._typing import FloatArray
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL
from pnsight.data.study import Study
from pnsight.notes import WARNING, Note

MATERIAL = 0.1
"""Shares that vary by less than this part of themselves do little harm."""

_STANDARD_ERRORS = 5.0


def unevenness(first: FloatArray, second: FloatArray, worth: float = 1.0) -> float:
    """Overdispersion: by what part of itself the share of the smaller group varies between profiles, beyond chance.

    Parameters
    ----------
    first, second : shape (profiles,)
        Rows of two groups.
    worth
        How many independent rows a row is worth in comparing them.

    Returns
    -------
    zero where chance may explain it: the chi-square statistic of equal shares lies within five standard errors of its
    mean (Haldane's variance, which allows for profiles with few rows)
    """
    rows = first + second
    first, rows = first[rows > 0], rows[rows > 0]
    fewer = min(first.sum(), rows.sum() - first.sum())
    if fewer == 0 or len(rows) < 2:
        return 0.0
    share = fewer / rows.sum()
    spread = share * (1 - share)
    overall = first.sum() / rows.sum()
    excess = worth * float(((first - rows * overall) ** 2 / (rows * spread)).sum()) - (len(rows) - 1)
    variance = 2 * (len(rows) - 1) + max(0.0, 1 / spread - 6) * float((1 / rows).sum())
    if excess <= _STANDARD_ERRORS * math.sqrt(variance):
        return 0.0
    return math.sqrt(excess / (worth * float(rows.sum())) * (1 - share) / share)


def _uneven_arms(arms: FloatArray, worth: float) -> float:
    """Unevenness of the arm, of rows (arms, profiles), whose share varies most."""
    if len(arms) == 2:
        return unevenness(arms[0], arms[1], worth)
    rest = arms.sum(axis=0)
    return max(unevenness(own, rest - own, worth) for own in arms)


def pooling_concerns(study: Study) -> list[Note]:
    """Why queries that leave covariates open should not simply add up rows.

    Parameters
    ----------
    study
        Both tables, or an experiment alone. Where it was reweighted by known probabilities of treatment its arms are
        even already, and noisier than counts, so that they are not compared.

    Returns
    -------
    notes of kind ``assignment_varies`` and ``mix_varies`` with the `variation`; empty where rows may be added up
    """
    trial, registry = study.rows_of(EXPERIMENTAL), study.observational
    reweighted = any(note.kind == "rows_reweighted" for note in study.notes)
    arms = study.arm_rows.T
    arms_worth, tables_worth = (study.comparison_worth(of)[-1] for of in ("arms", "tables"))
    found = {
        "assignment_varies": 0.0 if reweighted else _uneven_arms(arms, arms_worth),
        "mix_varies": 0.0 if registry is None else unevenness(trial, study.rows_of(OBSERVATIONAL), tables_worth),
    }
    return [Note(kind, {"variation": size}, WARNING) for kind, size in found.items() if size >= MATERIAL]
