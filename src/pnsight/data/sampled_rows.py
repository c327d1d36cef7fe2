"""Rows of a table with their weights and clusters: all that matters of how they were sampled."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

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
    rows : how many rows there are, by the weights that count rows
    weight : how many rows each of them counts as, one on average
    cluster : which cluster they belong to, `INDEPENDENT` for none
    people : how many people that is: lines of the table, whatever they weigh
    survey, propensity : what the weight is made of: the survey weight as given, and the probability of the row's arm;
        one and a half where there is no such column
    """

    profile: IndexArray
    cell: IndexArray
    rows: FloatArray
    weight: FloatArray
    cluster: IndexArray
    people: FloatArray
    survey: FloatArray
    propensity: FloatArray

    def take(self, entries: npt.NDArray[np.generic]) -> SampledRows:
        """Select entries by a mask or by positions."""
        return SampledRows(*(getattr(self, column.name)[entries] for column in fields(self)))

    def in_order(self) -> SampledRows:
        """The same entries in one order, in whichever order the engine gave them."""
        return self.take(np.lexsort((self.rows, self.weight, self.cluster, self.cell, self.profile)))

    def with_profiles(self, place: IndexArray) -> SampledRows:
        """The same entries where profiles are numbered otherwise, from their numbers now, shape (profiles,)."""
        return replace(self, profile=place[self.profile])

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

    @property
    def rows_are_people(self) -> bool:
        """Whether a row is a person."""
        return bool((self.people == self.rows).all())


def row_weights(survey: FloatArray, propensity: FloatArray, rows: FloatArray) -> FloatArray:
    """How many rows each row of an entry counts as.

    Survey weights have no scale of their own: they are divided by their mean over the rows. Inverse probability
    weighting: a row with probability p of its arm stands for 1 / (2 p) rows, as if a fair coin had decided who is
    treated, so that both arms represent all participants.

    Parameters
    ----------
    survey, propensity, rows : shape (entries,)
        Survey weights, probabilities of the arms that rows are in, and how many rows there are.

    Returns
    -------
    Shape (entries,).
    """
    with np.errstate(over="ignore"):  # counts that are too large are refused, whatever made them so
        return np.asarray(_over_mean(survey, rows) / (2 * propensity))


def _over_mean(weights: FloatArray, rows: FloatArray) -> FloatArray:
    if not len(weights) or weights.min() == weights.max():  # whatever rounding would make of their mean
        return np.ones(len(weights))
    scaled = weights / weights.max()
    mean = math.fsum(scaled * rows) / float(rows.sum())  # exact, in whichever order entries come
    return np.asarray(scaled / mean)


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
    """Which group of the structure each cell of a table, and then each of its sets, is in.

    Parameters
    ----------
    structure, table
        The tables' cells, and the name of one of them.

    Returns
    -------
    Shape (cells of the table and its sets,).
    """
    sizes = {number: len(structure.groups[number].cells) for number in structure.groups_of(table)}
    sets = [structure.group_of_set[number] for number in structure.sets_of(table)]
    return np.concatenate([np.repeat(list(sizes), list(sizes.values())), np.array(sets, dtype=np.intp)])
