"""Rows of a table with their weights and clusters: all that matters of how they were sampled."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from pnsight._typing import BoolArray, FloatArray, IndexArray
from pnsight.data.structure import Structure

INDEPENDENT = -1
"""Cluster of a row that belongs to none, as labels that are missing are numbered."""


@dataclass(frozen=True)
class SampledRows:
    """Rows of one table, those that are alike in everything counted together; arrays have shape (entries,).

    Attributes
    ----------
    profile, cell : which profile, and which cell of the table
    rows : how many rows there are
    weight : how many rows each of them counts as, one on average
    cluster : which cluster they belong to, `INDEPENDENT` for none
    """

    profile: IndexArray
    cell: IndexArray
    rows: FloatArray
    weight: FloatArray
    cluster: IndexArray

    def take(self, entries: npt.NDArray[np.generic]) -> SampledRows:
        """Select entries by a mask or by positions."""
        return SampledRows(*(getattr(self, column.name)[entries] for column in fields(self)))

    def in_order(self) -> SampledRows:
        """The same entries in one order, in whichever order the engine gave them."""
        return self.take(np.lexsort((self.rows, self.weight, self.cluster, self.cell, self.profile)))

    @property
    def counted(self) -> FloatArray:
        """How many rows each entry counts as, shape (entries,)."""
        return self.rows * self.weight

    def counts(self, profiles: int, cells: int) -> FloatArray:
        """Weighted rows of each profile and cell, shape (profiles, cells)."""
        return self.summed(self.counted, profiles, cells)

    def summed(self, values: FloatArray, profiles: int, cells: int) -> FloatArray:
        """Values of the entries, shape (entries,), added up by profile and cell, shape (profiles, cells)."""
        return sum_by(self.profile * cells + self.cell, values, profiles * cells).reshape(profiles, cells)

    @property
    def independent(self) -> BoolArray:
        """Which entries belong to no cluster, shape (entries,)."""
        return np.asarray(self.cluster == INDEPENDENT)

    @property
    def is_plain(self) -> bool:
        """Whether rows count once each and are independent."""
        return bool(self.independent.all() and (self.weight == 1).all())


def sum_by(place: IndexArray, values: FloatArray, length: int = 0) -> FloatArray:
    """Values added up by place.

    Parameters
    ----------
    place, values : shape (entries,)
        Where each value goes, and the values.
    length
        At least so many places.

    Returns
    -------
    Shape (places,).
    """
    return np.asarray(np.bincount(place, values, length), dtype=np.float64)


def group_of_cell(structure: Structure, table: str) -> IndexArray:
    """Which group of the structure each cell of a table is in.

    Parameters
    ----------
    structure, table
        The tables' cells, and the name of one of them.

    Returns
    -------
    Shape (cells of the table,).
    """
    sizes = {number: len(structure.groups[number].cells) for number in structure.groups_of(table)}
    return np.repeat(list(sizes), list(sizes.values()))
