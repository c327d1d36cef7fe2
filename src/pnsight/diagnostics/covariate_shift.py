"""Whether the two tables describe people in the same mix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnsight.data.study import Study
from pnsight.diagnostics.covariate_differences import MATERIAL_DIFFERENCE, MATERIAL_SIZE, Contrast, contrast
from pnsight.diagnostics.verdict import FALSE_ALARMS, OK, WARNING, Verdict
from pnsight.errors import join_names


@dataclass(frozen=True)
class Shift:
    """The experimental against the observational table, covariate by covariate."""

    contrast: Contrast

    @property
    def verdict(self) -> Verdict:
        """A warning where the mix differs enough to matter for queries that leave covariates open."""
        found = self.contrast
        if not found.covariates:
            return Verdict(OK, "no covariates, so nothing the tables could mix differently.")
        if found.smallest >= FALSE_ALARMS:
            return Verdict(OK, f"both tables have the same mix of covariates ({found.evidence}).")
        names = [f"{found.covariates[j]} ({found.difference[j]:.2f})" for j in found.differing]
        what = f"in {join_names(names)}" if names else "in combinations of covariates, though in none alone"
        if max([0.0, *found.difference[found.differing]]) < MATERIAL_DIFFERENCE and found.together.size < MATERIAL_SIZE:
            return Verdict(OK, f"the tables differ {what}, but by little.")
        return Verdict(
            WARNING,
            f"the tables differ {what}. Answers that leave these open depend on whose mix of people is meant.",
        )


def shift_of(study: Study) -> Shift | None:
    """Compare the tables' mixes; None for an experiment alone."""
    if study.observational is None:
        return None
    groups = np.stack([study.experimental.sum(axis=1), study.observational.sum(axis=1)], axis=1)
    return Shift(contrast(study.schema, study.profiles, groups))
