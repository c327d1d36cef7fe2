"""Balance: whether treatment in the experiment was randomised, so that who people are says nothing about it.

A trial may randomise with another probability in another stratum. So where treatment is predictable, covariates that
explain it are sought one after the other, and what is left is tested within their levels: a few that explain everything
are taken for an allocation by them, and more than a few for treatment that was chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnsight._text import as_records
from pnsight._typing import FloatArray
from pnsight.data.profiles import distinct_profiles
from pnsight.data.schema import Codes, Schema
from pnsight.data.structure import EXPERIMENTAL, Structure
from pnsight.data.study import Study
from pnsight.data.two_by_two import CONTROL
from pnsight.diagnostics.covariate_differences import Contrast, cell_index, combined, contrast
from pnsight.diagnostics.stratified_chi2 import Association, CellIndex, association
from pnsight.diagnostics.verdict import FAILED, FAMILYWISE_ALPHA, OK, WARNING, Verdict, verdict

MAX_STRATIFICATION_COVARIATES = 3
"""A trial is taken to be stratified by no more covariates than this."""

_MAX_PREDICTABLE = 0.1  # correlation of treatment with its best prediction from the whole profile
_MIN_ROWS = 20
_MAX_POSITIVITY_VIOLATION = 0.5


@dataclass(frozen=True)
class Balance:
    """What predicts treatment in the experiment.

    Attributes
    ----------
    contrast : the arms against each other, covariate by covariate
    least_treated, most_treated : shape (covariates,)
        The smallest and largest share treated at any level.
    stratification_covariates : covariates that allocation differs by
    unexplained : covariates that predict treatment also within the levels of those
    combinations : adjusted p-value of combinations of covariates predicting treatment within those levels
    positivity_violation : share of people at levels of those covariates where all have the same treatment
    """

    contrast: Contrast
    least_treated: FloatArray
    most_treated: FloatArray
    stratification_covariates: tuple[str, ...]
    unexplained: tuple[str, ...]
    combinations: float
    positivity_violation: float

    @property
    def verdict(self) -> Verdict:
        """Failed if treatment looks chosen, or is all the same at most levels it is allocated by."""
        found, strata = self.contrast, self.stratification_covariates
        if not found.covariates:
            return verdict(OK, "balance_without_covariates")
        if not strata and self.combinations >= FAMILYWISE_ALPHA:
            return verdict(OK, "treatment_unpredictable", tests=found.tests, smallest=found.smallest)
        if self.unexplained and found.together.size >= _MAX_PREDICTABLE:
            return verdict(FAILED, "treatment_chosen", stratification=strata, unexplained=self.unexplained)
        if self.positivity_violation > _MAX_POSITIVITY_VIOLATION:
            return verdict(FAILED, "positivity_violated", share=self.positivity_violation, stratification=strata)
        if not strata:
            return verdict(WARNING, "allocation_by_combinations", p_value=self.combinations)
        return self._allocation_differs()

    def _allocation_differs(self) -> Verdict:
        shares = zip(self.contrast.covariates, self.least_treated, self.most_treated, strict=True)
        return verdict(
            WARNING,
            "allocation_differs",
            stratification=[
                {"covariate": name, "least": least, "most": most}
                for name, least, most in shares
                if name in self.stratification_covariates
            ],
            unexplained=self.unexplained,
            explained=not self.unexplained and self.combinations >= FAMILYWISE_ALPHA,
            one_armed=self.positivity_violation,
        )

    def columns(self) -> dict[str, list[Any]]:
        """One row a covariate."""
        roles = {
            **dict.fromkeys(self.stratification_covariates, "allocating"),
            **dict.fromkeys(self.unexplained, "unexplained"),
        }
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
            "allocating": list(self.stratification_covariates),
            "unexplained": list(self.unexplained),
            "combinations": self.combinations,
            "one_armed": self.positivity_violation,
        }


def balance_of(study: Study) -> Balance:
    """Balance of a study: what predicts treatment in its experiment.

    Parameters
    ----------
    study
        The experiment, with an observational table or without.

    Returns
    -------
    differences between the arms, and the covariates that allocation differs by
    """
    schema, profiles = study.schema, study.profiles
    arms = study.arm_rows
    reference = _reference(study.structure)
    worth = study.comparison_worth("arms")
    found = contrast(schema, profiles, arms, worth)
    allocating, left = _Allocation(schema, profiles, arms, worth, found.tests).explain()
    strata = _strata(schema, profiles, allocating)
    treated = np.array([_treated_range(arms, reference, profiles[:, j]) for j in range(len(schema.names))]).reshape(
        -1, 2
    )
    return Balance(
        contrast=found,
        least_treated=treated[:, 0],
        most_treated=treated[:, 1],
        stratification_covariates=tuple(schema.names[j] for j in allocating),
        unexplained=tuple(schema.names[j] for j in left),
        combinations=min(1.0, combined(schema, profiles, arms, worth[-1], strata).p_value * found.tests),
        positivity_violation=_positivity_violation(arms, strata) if allocating else 0.0,
    )


@dataclass(frozen=True)
class _Allocation:
    """The search for what treatment was allocated by.

    Attributes
    ----------
    schema, profiles : the covariates, and the profiles' codes
    arms : rows of each profile in each arm, shape (profiles, arms)
    worth : how many independent rows a row is worth in comparing each covariate
    tests : how many looks p-values allow for
    """

    schema: Schema
    profiles: Codes
    arms: FloatArray
    worth: Sequence[float]
    tests: int

    def explain(self) -> tuple[list[int], dict[int, Association]]:
        """Covariates that allocation differs by, and those that predict treatment even so."""
        chosen: list[int] = []
        while True:
            left = self._predictors(chosen)
            if not left or len(chosen) == MAX_STRATIFICATION_COVARIATES:
                return (chosen if left else self._backward_eliminate(chosen)), left
            chosen.append(max(left, key=lambda j: left[j].excess))

    def _predictors(self, given: list[int]) -> dict[int, Association]:
        """Covariates that predict treatment among people who are alike in the given ones."""
        strata = _strata(self.schema, self.profiles, given)
        others = [j for j in range(len(self.schema.names)) if j not in given]
        found = {j: association(self.arms, cell_index(self.profiles[:, j]), strata, self.worth[j]) for j in others}
        return {j: one for j, one in found.items() if _surprising(one, self.tests)}

    def _backward_eliminate(self, chosen: list[int]) -> list[int]:
        """Without those that a covariate chosen later has made idle."""
        for j in chosen:
            rest = [other for other in chosen if other != j]
            if j not in self._predictors(rest):
                return self._backward_eliminate(rest)
        return chosen


def _surprising(one: Association, tests: int) -> bool:
    return one.p_value * tests < FAMILYWISE_ALPHA


def _strata(schema: Schema, profiles: Codes, given: list[int]) -> CellIndex:
    """People who are alike in the given covariates have the same number."""
    part = Schema(tuple(schema.covariates[j] for j in given))
    return distinct_profiles(part, profiles[:, given])[1]


def _reference(structure: Structure) -> int:
    """Position, among the arms of the experiment, of the one that others are compared with."""
    names = [structure.groups[number].name for number in structure.groups_of(EXPERIMENTAL)]
    wanted = CONTROL if structure.is_two_by_two else structure.description.arms[0]
    return names.index(wanted) if wanted in names else 0


def _treated_range(arms: FloatArray, reference: int, codes: Codes) -> tuple[float, float]:
    """The smallest and largest share treated at any level that has rows."""
    by_arm = [np.bincount(codes, weights=arm) for arm in arms.T]
    treated = sum((rows for arm, rows in enumerate(by_arm) if arm != reference), np.zeros(len(by_arm[0])))
    rows = treated + by_arm[reference]
    shares = treated[rows > 0] / rows[rows > 0]
    return (float(shares.min()), float(shares.max())) if len(shares) else (np.nan, np.nan)


def _positivity_violation(arms: FloatArray, strata: CellIndex) -> float:
    """Share of people in strata of some size where all have the same treatment."""
    by_arm = np.stack([np.bincount(strata, weights=arm) for arm in arms.T])
    rows = by_arm.sum(axis=0)
    alike = ((by_arm > 0).sum(axis=0) <= 1) & (rows >= _MIN_ROWS)
    return float(rows[alike].sum() / max(rows.sum(), 1.0))
