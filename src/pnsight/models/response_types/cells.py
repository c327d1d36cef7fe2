"""How counts are laid out: which cells there are, which belong together, and which response types show up in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.law import COUNTED_CELLS
from pnsight.data.study import Study


@dataclass(frozen=True, eq=False)
class Cells:
    """Layout of the counts of a profile.

    Attributes
    ----------
    incidence : array of shape (cells, types)
        One where a cell shows a response type.
    groups : tuple of slice
        Cells whose probabilities add up to one: the arms of the experiment, the observational table.
    tables : tuple of slice
        Cells of each table, in the order of `table_names`.
    table_names : tuple of str
    """

    incidence: FloatArray
    groups: tuple[slice, ...]
    tables: tuple[slice, ...]
    table_names: tuple[str, ...]

    @property
    def n_types(self) -> int:
        """Response types."""
        return int(self.incidence.shape[1])

    def probabilities(self, types: FloatArray) -> FloatArray:
        """Probability of each cell within its group, shape (..., cells), from distributions over types (..., types)."""
        return np.asarray(types @ self.incidence.T)

    def counts(self, study: Study) -> FloatArray:
        """Counts of a study in these cells, zero where it lacks a table, shape (profiles, cells)."""
        return study.eight_counts

    def tables_of(self, study: Study) -> int:
        """How many of the tables a study has, with rows or without."""
        return 1 if study.observational is None else 2

    def rows(self, counts: FloatArray, table: int) -> FloatArray:
        """Rows of each profile in a table, shape (profiles,)."""
        return np.asarray(counts[:, self.tables[table]].sum(axis=1))

    def rows_by_table(self, counts: FloatArray) -> Sequence[FloatArray]:
        """Rows of each profile, shape (profiles,), in each table that has any."""
        return [rows for table in range(len(self.tables)) if (rows := self.rows(counts, table)).any()]


TWO_BY_TWO = Cells(
    COUNTED_CELLS,
    groups=(slice(0, 2), slice(2, 4), slice(4, 8)),
    tables=(slice(0, 4), slice(4, 8)),
    table_names=("experimental", "observational"),
)
"""Two arms and two outcomes: treated arm, control arm, observational table."""
