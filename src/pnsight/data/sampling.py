"""Sampling design of a study: what its counts are worth where rows weigh unequally or come in clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray, IndexArray
from pnsight.data.design_effect import row_worth
from pnsight.data.folds import deal_folds
from pnsight.data.sampled_rows import INDEPENDENT, SampledRows, group_of_cell, sum_by
from pnsight.data.schema import Codes
from pnsight.data.structure import EXPERIMENTAL, Structure
from pnsight.notes import Note


@dataclass(frozen=True)
class TableSampling:
    """How the rows of one table were sampled.

    Attributes
    ----------
    table : its name
    rows, effective_rows : how many there are, and how many independent rows of equal weight they are worth
    unequal : whether rows of one group weigh unequally
    largest_weight : as how many rows one row counts at most; None where that is not to be known
    clusters, fewest_clusters : how many there are in all, and in the group that has fewest; None without clusters
    largest_cluster : rows of the largest cluster
    split_clusters : clusters that have rows in several groups, such as in both arms
    unclustered : rows that belong to no cluster
    """

    table: str
    rows: float
    effective_rows: float
    unequal: bool = False
    largest_weight: float | None = 1.0
    clusters: int | None = None
    fewest_clusters: int | None = None
    largest_cluster: float = 1.0
    split_clusters: int = 0
    unclustered: float = 0.0

    @property
    def design_effect(self) -> float:
        """How many rows carry the information of one independent row."""
        return self.rows / self.effective_rows if self.effective_rows else 1.0

    def without_small_counts(self, min_cell: int) -> TableSampling:
        """The same without one row's weight, and numbers below `min_cell`: a largest cluster has at least so many."""
        return replace(
            self,
            largest_weight=None,
            largest_cluster=max(self.largest_cluster, float(min_cell)) if self.clusters else self.largest_cluster,
            unclustered=self.unclustered if self.unclustered >= min_cell else 0.0,
        )

    @property
    def note(self) -> Note:
        """What the rows are worth, and why."""
        values = {"rows": self.rows, "worth": self.effective_rows, "unequal": self.unequal}
        return Note(
            "rows_worth",
            {"table": self.table, **values, "clusters": self.clusters, "unclustered": self.unclustered},
        )


@dataclass(frozen=True)
class SamplingDesign:
    """What the counts of a study are worth where rows weigh unequally or come in clusters.

    Attributes
    ----------
    row_worth : for each group of the structure, how many independent rows one counted row is worth. No row that was
        read is worth more than one; a counted row can be where rows of a group count for less than one each
    tables : how each table was sampled
    arm_worth : what a counted row is worth when the arms of the experiment are compared: for each covariate, and last
        for whole profiles; empty for one each
    mix_worth : the same when the two tables are compared
    folds : shape (folds, profiles, cells), or None
        Counts of parts into which whole clusters, or whole rows where there are none, were dealt at random; they add up
        to the study's counts. None where they are not known, as in a stored model.
    """

    row_worth: tuple[float, ...]
    tables: tuple[TableSampling, ...] = ()
    arm_worth: tuple[float, ...] = ()
    mix_worth: tuple[float, ...] = ()
    folds: FloatArray | None = field(default=None, compare=False, repr=False)

    def sampling_of(self, table: str) -> TableSampling | None:
        """How a table was sampled, None where its rows count once each."""
        return next((one for one in self.tables if one.table == table), None)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the rows of each table are worth, where that is not one each."""
        return tuple(one.note for one in self.tables if one.unequal or one.clusters is not None)

    def cell_worth(self, structure: Structure) -> FloatArray:
        """What a counted row of each cell and set is worth, shape (cells + sets,)."""
        return structure.for_columns(np.array(self.row_worth))

    def without_folds(self) -> SamplingDesign:
        """The same design of other counts."""
        return replace(self, folds=None)

    def without_small_counts(self, min_cell: int) -> SamplingDesign:
        """The same design without numbers of rows below `min_cell`."""
        return replace(self, tables=tuple(one.without_small_counts(min_cell) for one in self.tables))

    def of_profiles(self, chosen: npt.NDArray[np.bool_]) -> SamplingDesign:
        """The same design of some of the profiles, by a mask of shape (profiles,)."""
        return self if self.folds is None else replace(self, folds=self.folds[:, chosen])

    def of_tables(self, before: Structure, after: Structure) -> SamplingDesign:
        """The same design of some of the tables, from the structure of all of them to that of those that are left."""
        kept = [number for number, group in enumerate(before.groups) if group.table in after.tables]
        cells = [np.arange(before.n_cells)[before.group_slices[number]] for number in kept]
        sets = [before.n_cells + number for number, each in enumerate(before.sets) if each.table in after.tables]
        columns = np.concatenate([*cells, np.array(sets, dtype=np.intp)])
        return replace(
            self,
            row_worth=tuple(self.row_worth[number] for number in kept),
            tables=tuple(one for one in self.tables if one.table in after.tables),
            mix_worth=self.mix_worth if set(before.tables) <= set(after.tables) else (),
            folds=None if self.folds is None else self.folds[:, :, columns],
        )


def sampling_design(structure: Structure, profiles: Codes, tables: Mapping[str, SampledRows]) -> SamplingDesign | None:
    """The sampling design of tables.

    Parameters
    ----------
    structure
        The cells of both tables.
    profiles : shape (profiles, covariates)
        Codes of the profiles.
    tables
        By name, rows in the order of `SampledRows.in_order`; clusters are numbered for all tables together.

    Returns
    -------
    The design; None where every row counts once and is independent.
    """
    if all(rows.is_plain for rows in tables.values()):
        return None
    worth = tuple(_group_worth(structure, number, tables) for number in range(len(structure.groups)))
    arms = [group_of_cell(structure, name)[rows.cell] for name, rows in tables.items() if name == EXPERIMENTAL]
    ours = [np.full(len(rows.rows), number, dtype=np.intp) for number, rows in enumerate(tables.values())]
    return SamplingDesign(
        worth,
        tuple(_table_sampling(structure, name, rows, worth) for name, rows in tables.items()),
        _comparison_worth(profiles, [tables[EXPERIMENTAL]], arms) if arms else (),
        _comparison_worth(profiles, list(tables.values()), ours) if len(tables) > 1 else (),
        deal_folds(structure, len(profiles), tables),
    )


def _group_worth(structure: Structure, number: int, tables: Mapping[str, SampledRows]) -> float:
    """What a counted row of a group is worth, for the shares of the group's cells."""
    table = structure.groups[number].table
    if table not in tables:
        return 1.0
    rows = tables[table].take(group_of_cell(structure, table)[tables[table].cell] == number)
    return row_worth(rows, rows.cell) if len(rows.rows) else 1.0


def _comparison_worth(profiles: Codes, tables: Sequence[SampledRows], sides: Sequence[IndexArray]) -> tuple[float, ...]:
    """What counted rows are worth when sides are compared: by covariate, and last by whole profile."""
    rows, side = _joined(tables), np.concatenate(sides)
    covariates = (profiles[:, j].astype(np.intp) for j in range(profiles.shape[1]))
    return tuple(
        row_worth(rows, level[rows.profile], side) for level in (*covariates, np.arange(len(profiles), dtype=np.intp))
    )


def _joined(tables: Sequence[SampledRows]) -> SampledRows:
    """All entries, with clusters of their own in each table: tables are sampled independently."""
    start, apart = 0, []
    for rows in tables:
        apart.append(replace(rows, cluster=np.where(rows.independent, INDEPENDENT, rows.cluster + start)))
        start += int(rows.cluster.max(initial=INDEPENDENT)) + 1
    return SampledRows(
        *(np.concatenate([getattr(rows, column.name) for rows in apart]) for column in fields(SampledRows))
    )


def _table_sampling(structure: Structure, name: str, rows: SampledRows, worth: Sequence[float]) -> TableSampling:
    group = group_of_cell(structure, name)[rows.cell]
    counted = sum_by(group, rows.counted, len(structure.groups))
    return TableSampling(
        name,
        float(rows.rows.sum()),
        float(counted @ np.array(worth)),
        any(len(np.unique(rows.weight[group == number])) > 1 for number in structure.groups_of(name)),
        float(rows.weight.max()),
        *_cluster_numbers(rows, group),
    )


def _cluster_numbers(rows: SampledRows, group: IndexArray) -> tuple[int | None, int | None, float, int, float]:
    """Clusters in all and in the group with fewest, the largest one's rows, how many are split, rows without one."""
    free = rows.independent
    if free.all():
        return None, None, 1.0, 0, 0.0
    number, where = np.unique(rows.cluster[~free], return_inverse=True)
    present = np.zeros((len(number), int(group.max()) + 1), dtype=bool)
    present[where, group[~free]] = True
    in_group = present.sum(axis=0) + sum_by(group[free], rows.rows[free], present.shape[1])
    return (
        len(number),
        int(in_group[np.unique(group)].min()),
        float(sum_by(where, rows.rows[~free]).max()),
        int((present.sum(axis=1) > 1).sum()),
        float(rows.rows[free].sum()),
    )
