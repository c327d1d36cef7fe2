"""Covariate shift: whether the two tables describe people in the same mix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL
from pnsight.data.study import Study
from pnsight.diagnostics.covariate_differences import MATERIAL_DIFFERENCE, MATERIAL_SIZE, Contrast, contrast
from pnsight.diagnostics.verdict import FAMILYWISE_ALPHA, OK, WARNING, Verdict, verdict


@dataclass(frozen=True)
class Shift:
    """The experimental against the observational table, covariate by covariate."""

    contrast: Contrast

    @property
    def verdict(self) -> Verdict:
        """A warning where the mix differs enough to matter for queries that leave covariates open."""
        found = self.contrast
        if not found.covariates:
            return verdict(OK, "shift_without_covariates")
        if found.smallest >= FAMILYWISE_ALPHA:
            return verdict(OK, "same_mix", tests=found.tests, smallest=found.smallest)
        covariates = [{"covariate": found.covariates[j], "difference": found.difference[j]} for j in found.differing]
        if max([0.0, *found.difference[found.differing]]) < MATERIAL_DIFFERENCE and found.together.size < MATERIAL_SIZE:
            return verdict(OK, "small_covariate_shift", covariates=covariates)
        return verdict(WARNING, "covariate_shift", covariates=covariates)


def shift_of(study: Study) -> Shift | None:
    """Covariate shift between the tables of a study.

    Parameters
    ----------
    study
        Both tables, or an experiment alone.

    Returns
    -------
    how their mixes of covariates differ; None for an experiment alone
    """
    if study.observational is None:
        return None
    groups = np.stack([study.rows_of(table) for table in (EXPERIMENTAL, OBSERVATIONAL)], axis=1)
    return Shift(contrast(study.schema, study.profiles, groups, study.comparison_worth("tables")))
