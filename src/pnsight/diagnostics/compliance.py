"""Compliance: how many did not take the arm that they were assigned, and with which covariates that goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.noncompliance import KIND as NONCOMPLIANCE
from pnsight.data.structure import EXPERIMENTAL
from pnsight.data.study import Study
from pnsight.diagnostics.covariate_differences import cell_index
from pnsight.diagnostics.stratified_chi2 import association
from pnsight.diagnostics.verdict import FAMILYWISE_ALPHA, OK, Verdict
from pnsight.notes import Note

_MIN_ROWS = 20


@dataclass(frozen=True)
class LevelCompliance:
    """Share that did not take an assigned arm, by level of a covariate: the smallest and largest of any, with names."""

    arm: str
    covariate: str
    least: float
    least_level: str
    most: float
    most_level: str
    p_value: float


@dataclass(frozen=True)
class Compliance:
    """Who did not do as assigned.

    Attributes
    ----------
    arms, rows, other : arms that were assigned, rows of each, and those of them that took another
    levels : for each arm and covariate, how that differs between levels
    """

    arms: tuple[str, ...]
    rows: tuple[float, ...]
    other: tuple[float, ...]
    levels: tuple[LevelCompliance, ...]

    @property
    def differing(self) -> tuple[LevelCompliance, ...]:
        """Covariates that noncompliance goes with by more than chance explains."""
        tests = max(1, len(self.levels))
        return tuple(one for one in self.levels if one.p_value * tests < FAMILYWISE_ALPHA)

    @property
    def verdict(self) -> Verdict:
        """How many did not comply; that is no fault of the tables, as bounds allow for it."""
        shares = [
            {"arm": arm, "share": few / (rows or 1.0)}
            for arm, few, rows in zip(self.arms, self.other, self.rows, strict=True)
        ]
        found = [Note("compliance", {"arms": shares})]
        if self.differing:
            found.append(Note("compliance_by_covariate", {"covariates": [vars(one) for one in self.differing]}))
        return Verdict(OK, tuple(found))

    def details(self) -> dict[str, Any]:
        """Everything, as plain data."""
        arms = [
            {"arm": arm, "rows": rows, "other": other}
            for arm, rows, other in zip(self.arms, self.rows, self.other, strict=True)
        ]
        return {"arms": arms, "covariates": [vars(one) for one in self.levels]}


def compliance_of(study: Study) -> Compliance | None:
    """Compliance in a study's experiment.

    Parameters
    ----------
    study
        Tables of any structure.

    Returns
    -------
    who did not take the arm they were assigned; None where nobody was assigned one
    """
    if study.structure.description.kind != NONCOMPLIANCE:
        return None
    took = dict(_took(study))
    return Compliance(
        tuple(took),
        tuple(float(each.sum()) for each in took.values()),
        tuple(float(each[:, 0].sum()) for each in took.values()),
        tuple(look for arm, each in took.items() for look in _by_level(study, arm, each)),
    )


def _took(study: Study) -> Iterator[tuple[str, FloatArray]]:
    """By the arm assigned, rows of each profile that took another and that took it, shape (profiles, 2)."""
    structure = study.structure
    arms = structure.description.arms
    for number in structure.groups_of(EXPERIMENTAL):
        group = structure.groups[number]
        own = [*range(structure.n_cells)[structure.group_slices[number]]]
        own += [structure.n_cells + k for k, of in enumerate(structure.group_of_set) if of == number]
        assigned = arms.index(group.name)
        taken = structure.people[f"D{assigned}"]
        follows = np.array([(taken[structure.observed_incidence[k] > 0] == assigned).all() for k in own])
        counts = study.counts[:, own]
        yield group.name, np.stack([counts[:, ~follows].sum(axis=1), counts[:, follows].sum(axis=1)], axis=1)


def _by_level(study: Study, arm: str, took: FloatArray) -> Iterator[LevelCompliance]:
    for j, covariate in enumerate(study.schema.covariates):
        other, rows = (
            np.bincount(study.profiles[:, j], each, len(covariate.levels)) for each in (took[:, 0], took.sum(axis=1))
        )
        some = np.flatnonzero(rows >= _MIN_ROWS)
        if len(some) > 1 and took[:, 0].any():
            shares = other[some] / rows[some]
            least, most = int(shares.argmin()), int(shares.argmax())
            found = association(took, cell_index(study.profiles[:, j]), None, study.comparison_worth("arms")[j])
            yield LevelCompliance(
                arm,
                covariate.name,
                float(shares[least]),
                covariate.levels[some[least]],
                float(shares[most]),
                covariate.levels[some[most]],
                found.p_value,
            )
