"""Whether treatment in the experiment was drawn by lot, so that who people are says nothing about it.

A trial may draw with another chance in another stratum. So where treatment is predictable, covariates that explain it
are sought one after the other, and what is left is tested within their levels: a few that explain everything are
taken for an allocation by them, and more than a few for treatment that was chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pnsight._text import as_records, percent
from pnsight._typing import FloatArray
from pnsight.data.profiles import distinct_profiles
from pnsight.data.schema import Codes, Schema
from pnsight.data.study import Study
from pnsight.diagnostics.covariate_differences import Contrast, combined, contrast, place
from pnsight.diagnostics.stratified_chi2 import Association, Places, association
from pnsight.diagnostics.verdict import FAILED, FALSE_ALARMS, OK, WARNING, Verdict
from pnsight.errors import join_names

MOST_ALLOCATING = 3
"""A trial is taken to be stratified by no more covariates than this."""

_MOST_PREDICTABLE = 0.1  # correlation of treatment with its best prediction from the whole profile
_LEAST_ROWS = 20
_MOST_ONE_ARMED = 0.5


@dataclass(frozen=True)
class Balance:
    """What predicts treatment in the experiment.

    Attributes
    ----------
    contrast : treated against untreated, covariate by covariate
    least_treated, most_treated : shape (covariates,)
        The smallest and largest share treated at any level.
    allocating : covariates that allocation differs by
    unexplained : covariates that predict treatment also within the levels of those
    combinations : adjusted p-value of combinations of covariates predicting treatment within those levels
    one_armed : share of people at levels of those covariates where all have the same treatment
    """

    contrast: Contrast
    least_treated: FloatArray
    most_treated: FloatArray
    allocating: tuple[str, ...]
    unexplained: tuple[str, ...]
    combinations: float
    one_armed: float

    @property
    def verdict(self) -> Verdict:
        """Failed if treatment looks chosen, or is all the same at most levels it is allocated by."""
        if not self.contrast.covariates:
            return Verdict(OK, "no covariates, so nothing that could predict treatment.")
        if not self.allocating and self.combinations >= FALSE_ALARMS:
            return Verdict(OK, f"covariates do not predict treatment ({self.contrast.evidence}).")
        if self.unexplained and self.contrast.together.size >= _MOST_PREDICTABLE:
            return Verdict(FAILED, self._chosen())
        if self.one_armed > _MOST_ONE_ARMED:
            levels = f"{percent(self.one_armed)} of people are at levels of {join_names(self.allocating)}"
            return Verdict(FAILED, f"{levels} where all have the same treatment: it was not drawn by lot.")
        return Verdict(WARNING, self._differs())

    def _chosen(self) -> str:
        return (
            f"treatment depends on {join_names(self.allocating)} and, among people alike in those, on "
            f"{join_names(self.unexplained)}: it looks chosen, not drawn by lot. Are the tables in the right order?"
        )

    def _differs(self) -> str:
        if not self.allocating:
            return (
                f"allocation seems to differ between combinations of covariates (p = {self.combinations:.2g}, "
                "corrected), though by none alone."
            )
        shares = [
            f"{name} (share treated {self.least_treated[j]:.2f} to {self.most_treated[j]:.2f})"
            for j, name in enumerate(self.contrast.covariates)
            if name in self.allocating
        ]
        text = f"allocation differs by {join_names(shares)}"
        if self.unexplained:
            text += f", and a little by {join_names(self.unexplained)}"
        if not self.unexplained and self.combinations >= FALSE_ALARMS:
            text += "; given that, covariates do not predict treatment"
        if self.one_armed:
            text += f"; {percent(self.one_armed)} of people are at levels where all have the same treatment"
        return f"{text}. Fix {join_names(self.allocating)} in queries: rows pooled over it mislead."

    def columns(self) -> dict[str, list[Any]]:
        """One row a covariate."""
        roles = {**dict.fromkeys(self.allocating, "allocating"), **dict.fromkeys(self.unexplained, "unexplained")}
        return {
            **self.contrast.columns(),
            "least_treated": self.least_treated.tolist(),
            "most_treated": self.most_treated.tolist(),
            "role": [roles.get(name, "") for name in self.contrast.covariates],
        }

    def details(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return {
            **self.contrast.details(),
            "covariates": as_records(self.columns()),
            "allocating": list(self.allocating),
            "unexplained": list(self.unexplained),
            "combinations": self.combinations,
            "one_armed": self.one_armed,
        }


def balance_of(study: Study) -> Balance:
    """Look for what predicts treatment in the experiment."""
    schema, profiles = study.schema, study.profiles
    arms = study.experimental.reshape(-1, 2, 2).sum(axis=2)
    found = contrast(schema, profiles, arms)
    allocating, left = _explain(schema, profiles, arms, found.tests)
    strata = _strata(schema, profiles, allocating)
    treated = np.array([_treated_range(arms, profiles[:, j]) for j in range(len(schema.names))]).reshape(-1, 2)
    return Balance(
        contrast=found,
        least_treated=treated[:, 0],
        most_treated=treated[:, 1],
        allocating=tuple(schema.names[j] for j in allocating),
        unexplained=tuple(schema.names[j] for j in left),
        combinations=min(1.0, combined(schema, profiles, arms, strata).p_value * found.tests),
        one_armed=_one_armed(arms, strata) if allocating else 0.0,
    )


def _explain(schema: Schema, profiles: Codes, arms: FloatArray, looks: int) -> tuple[list[int], dict[int, Association]]:
    """Covariates that allocation differs by, and those that predict treatment even so."""
    chosen: list[int] = []
    while True:
        left = _predictors(schema, profiles, arms, looks, chosen)
        if not left or len(chosen) == MOST_ALLOCATING:
            return (chosen if left else _needed(schema, profiles, arms, looks, chosen)), left
        chosen.append(max(left, key=lambda j: left[j].excess))


def _predictors(
    schema: Schema, profiles: Codes, arms: FloatArray, looks: int, given: list[int]
) -> dict[int, Association]:
    """Covariates that predict treatment among people who are alike in the given ones."""
    strata = _strata(schema, profiles, given)
    others = [j for j in range(len(schema.names)) if j not in given]
    found = {j: association(arms, place(profiles[:, j]), strata) for j in others}
    return {j: one for j, one in found.items() if _surprising(one, looks)}


def _needed(schema: Schema, profiles: Codes, arms: FloatArray, looks: int, chosen: list[int]) -> list[int]:
    """Without those that a covariate chosen later has made idle."""
    for j in chosen:
        rest = [other for other in chosen if other != j]
        if j not in _predictors(schema, profiles, arms, looks, rest):
            return _needed(schema, profiles, arms, looks, rest)
    return chosen


def _surprising(one: Association, looks: int) -> bool:
    return one.p_value * looks < FALSE_ALARMS


def _strata(schema: Schema, profiles: Codes, given: list[int]) -> Places:
    """People who are alike in the given covariates have the same number."""
    part = Schema(tuple(schema.covariates[j] for j in given))
    return distinct_profiles(part, profiles[:, given])[1]


def _treated_range(arms: FloatArray, codes: Codes) -> tuple[float, float]:
    """The smallest and largest share treated at any level that has rows."""
    treated, untreated = (np.bincount(codes, weights=arm) for arm in arms.T)
    rows = treated + untreated
    shares = treated[rows > 0] / rows[rows > 0]
    return (float(shares.min()), float(shares.max())) if len(shares) else (np.nan, np.nan)


def _one_armed(arms: FloatArray, strata: Places) -> float:
    """Share of people in strata of some size where all have the same treatment."""
    treated, untreated = (np.bincount(strata, weights=arm) for arm in arms.T)
    rows = treated + untreated
    alike = (np.minimum(treated, untreated) == 0) & (rows >= _LEAST_ROWS)
    return float(rows[alike].sum() / max(rows.sum(), 1.0))
