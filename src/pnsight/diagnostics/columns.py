"""Columns: covariates with so many values that they need bands, or have rare levels to be merged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnsight.data.schema import MISSING, OTHER, is_number
from pnsight.data.study import Study
from pnsight.diagnostics.verdict import OK, WARNING, Verdict
from pnsight.notes import WARNING as WARNING_NOTE
from pnsight.notes import Note

MANY_LEVELS = 20
"""A column with more values than this is looked at."""

_FEW_ROWS = 10


@dataclass(frozen=True)
class ManyLevels:
    """A covariate with many levels: how many, and how many of them have fewer than ten rows in both tables together."""

    covariate: str
    levels: int
    rare: int


@dataclass(frozen=True)
class Columns:
    """Covariates that should be coarser.

    Attributes
    ----------
    covariates : how many there are
    most_levels : of any of them
    numbers : columns of many distinct numbers, which have no bands
    sparse : columns of many other values, most of which are rare
    """

    covariates: int
    most_levels: int
    numbers: tuple[ManyLevels, ...]
    sparse: tuple[ManyLevels, ...]

    @property
    def verdict(self) -> Verdict:
        """A warning where a column needs bands, or rare levels need merging."""
        notes = tuple(self._notes())
        if notes:
            return Verdict(WARNING, notes)
        return Verdict(OK, (Note("columns", {"covariates": self.covariates, "most_levels": self.most_levels}),))

    def _notes(self) -> Iterator[Note]:
        for kind, found in (("numbers_without_bands", self.numbers), ("levels_are_rare", self.sparse)):
            if found:
                yield Note(kind, {"covariates": [vars(one) for one in found]}, WARNING_NOTE)

    def details(self) -> dict[str, Any]:
        """Everything, as plain data."""
        return {"numbers": [vars(one) for one in self.numbers], "sparse": [vars(one) for one in self.sparse]}


def columns_of(study: Study) -> Columns:
    """Columns of a study that should be coarser.

    Parameters
    ----------
    study
        Both tables, or an experiment alone.

    Returns
    -------
    columns of many numbers without bands, and of many rare levels
    """
    numbers, sparse = [], []
    rows = study.counts.sum(axis=1)
    for j, covariate in enumerate(study.schema.covariates):
        plain = [level for level in covariate.levels if level not in (OTHER, MISSING)]
        if covariate.edges is not None or len(plain) <= MANY_LEVELS:
            continue
        rare = int((np.bincount(study.profiles[:, j], rows, len(covariate.levels)) < _FEW_ROWS).sum())
        found = ManyLevels(covariate.name, len(plain), rare)
        if all(map(is_number, plain)):
            numbers.append(found)
        elif rare > len(plain) / 2:
            sparse.append(found)
    return Columns(len(study.schema.names), max(study.schema.shape, default=0), tuple(numbers), tuple(sparse))
