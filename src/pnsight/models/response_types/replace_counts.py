"""Replacing the counts of a fitted model by others of the same profiles, its networks as they are.

Counts enter a response-type model twice: each profile's types are shrunk to them, and a part of the covariate
distribution is the profiles as counted. Both are undone and done again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pnsight._typing import BoolArray, FloatArray
from pnsight.data.structure import Structure
from pnsight.models.response_types.config import ShrinkageConfig
from pnsight.models.response_types.shrinkage import map_estimate, prior_mode_from_map


@dataclass(frozen=True)
class EmpiricalPart:
    """What part of a table's covariate distribution is empirical: its weight, and whether all tables were pooled."""

    empirical_weight: float
    pooled: bool


@dataclass(frozen=True)
class CountReplacement:
    """Counts before and after, and what the model chose.

    Attributes
    ----------
    before, after : array of shape (profiles, structure)
    prior_rows : float
        Rows that the networks are worth as a prior.
    empirical_parts : sequence of EmpiricalPart
        One a table.
    structure : Structure
    config : ShrinkageConfig
    """

    before: FloatArray
    after: FloatArray
    prior_rows: float
    empirical_parts: Sequence[EmpiricalPart]
    structure: Structure
    config: ShrinkageConfig = field(default_factory=ShrinkageConfig)

    @property
    def changed(self) -> BoolArray:
        """Profiles whose counts are others than before, shape (profiles,)."""
        return np.asarray((self.before != self.after).any(axis=1))

    @property
    def empirical_parts_after(self) -> list[EmpiricalPart]:
        """What is no longer counted is left to the smooth part of the covariate distribution."""
        return [
            replace(part, empirical_weight=part.empirical_weight * after.sum() / (before.sum() or 1.0))
            for part, (before, after) in zip(self.empirical_parts, self.rows(), strict=True)
        ]

    def rows(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """For each table, the rows of each profile in its empirical distribution, before and after."""
        for table, part in enumerate(self.empirical_parts):
            cells = slice(None) if part.pooled else self.structure.columns_of(self.structure.tables[table])
            yield self.before[:, cells].sum(axis=1), self.after[:, cells].sum(axis=1)

    def shrink(self, prior_mode: FloatArray, some: BoolArray) -> FloatArray:
        """Types of some profiles, shape (some, types), shrunk from the prior mode to the counts after."""
        return map_estimate(prior_mode, self.after[some], self.prior_rows, self.structure, self.config)

    def prior_mode(self, types: FloatArray, some: BoolArray) -> FloatArray:
        """What the types of some profiles, shape (some, types), were before they were shrunk to the counts before."""
        return prior_mode_from_map(types, self.before[some], self.prior_rows, self.structure)
