"""A table after its group-by: the label of each group in each column, and the rows that it stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.reading.column_roles import ColumnRoles
from pnsight.data.reading.engine import MAX_GROUPS, Engine, GroupBy, GroupByResult, ReportShare
from pnsight.data.schema import band_labels, label
from pnsight.errors import LimitError, TableError, join_names


@dataclass(frozen=True)
class LabelColumn:
    """A column after the group-by: its distinct labels, and which of them each group has.

    Attributes
    ----------
    labels
        Names of levels, None for a missing value.
    place : shape (groups,)
        Position of each group's label.
    raw_labels
        For a column of text, the labels as they are in the table.
    ambiguous
        Whether some of those, such as 250 and 250.0, have become one label: see `keep_raw_labels`.
    """

    labels: Sequence[str | None]
    place: npt.NDArray[np.intp]
    raw_labels: Sequence[str | None] | None = None
    ambiguous: bool = False

    @classmethod
    def from_values(cls, values: npt.NDArray[Any], name: str, role: str) -> LabelColumn:
        """Make a column of the groups' values, each distinct one labelled once.

        Parameters
        ----------
        values : shape (groups,)
            The value of each group.
        name, role
            The column, and the role of its table, for messages.

        Returns
        -------
        LabelColumn
            The labels.
        """
        if values.dtype.kind in "biuf":
            distinct, place = np.unique(values, return_inverse=True)
            return cls([label(value) for value in distinct], place)
        seen: dict[Any, int] = {}
        try:
            places = [seen.setdefault(value, len(seen)) for value in values]
        except TypeError:
            raise TableError(
                f"column {name!r} of the {role} table holds lists or records; expected one plain value a row. "
                "Leave it out with --covariates (covariates=), or make plain columns of it."
            ) from None
        texts = {value.strip() for value in seen if isinstance(value, str)}
        raw = [value.strip() or None if isinstance(value, str) else label(value) for value in seen]
        return cls(
            [label(value) for value in seen],
            np.array(places, dtype=np.intp),
            raw,
            len({label(text) for text in texts}) < len(texts),
        )

    @classmethod
    def from_bands(cls, places: npt.NDArray[Any], edges: tuple[float, ...]) -> LabelColumn:
        """Make a column of the groups' bands.

        Parameters
        ----------
        places : shape (groups,)
            The number of each group's band, -1 for a missing value.
        edges
            Edges of the bands.

        Returns
        -------
        LabelColumn
            The names of the bands.
        """
        return cls([*band_labels(edges), None], places.astype(np.intp))

    def missing(self) -> npt.NDArray[np.bool_]:
        """Which groups have no value, shape (groups,)."""
        return np.array([text is None for text in self.labels], dtype=bool)[self.place]

    def present(self) -> list[str]:
        """Labels that at least one group has."""
        return [text for i in np.unique(self.place) if (text := self.labels[i]) is not None]

    def take(self, groups: npt.NDArray[np.bool_]) -> LabelColumn:
        """Select groups by a mask of shape (groups,)."""
        return replace(self, place=self.place[groups])

    def rename_labels(self, names: Mapping[str | None, str]) -> LabelColumn:
        """Replace some labels, or None, by others."""
        return LabelColumn([names.get(text, text) for text in self.labels], self.place)

    def rows_by_label(self, rows: FloatArray) -> dict[str, float]:
        """Add up `rows`, shape (groups,), by label."""
        totals = np.bincount(self.place, weights=rows, minlength=len(self.labels))
        found: dict[str, float] = {}
        for i in np.unique(self.place):
            if (text := self.labels[i]) is not None:
                found[text] = found.get(text, 0.0) + float(totals[i])
        return found

    def map_labels(self, number_of: Mapping[str, int]) -> npt.NDArray[np.intp]:
        """Translate each group's label to a number, -1 if it has none; shape (groups,)."""
        numbers = [-1 if text is None else number_of.get(text, -1) for text in self.labels]
        return np.array(numbers, dtype=np.intp)[self.place]


@dataclass(frozen=True)
class GroupedTable:
    """One table after its group-by.

    Attributes
    ----------
    role
        Role of the table.
    x, y, covariates
        Columns of the treatment, the outcome and, by name, the covariates.
    rows : shape (groups,)
        Sum of the weights of each group's rows.
    treated, untreated : shape (groups,), or None
        The same with each weight divided by the probability of being treated, or of being untreated.
    """

    role: str
    x: LabelColumn
    y: LabelColumn
    covariates: Mapping[str, LabelColumn]
    rows: FloatArray
    treated: FloatArray | None
    untreated: FloatArray | None

    def take(self, groups: npt.NDArray[np.bool_]) -> GroupedTable:
        """Select groups by a mask of shape (groups,)."""
        sums = [None if part is None else part[groups] for part in (self.treated, self.untreated)]
        columns = {name: column.take(groups) for name, column in self.covariates.items()}
        return GroupedTable(self.role, self.x.take(groups), self.y.take(groups), columns, self.rows[groups], *sums)

    def with_covariates(self, covariates: Mapping[str, LabelColumn]) -> GroupedTable:
        """Replace the columns of the covariates."""
        return replace(self, covariates=covariates)

    def reweighted_rows(self, x: npt.NDArray[np.intp]) -> FloatArray:
        """Inverse probability weighting: rows of each group, had a fair coin decided who is treated.

        A row with probability p of its arm stands for 1 / (2 p) rows, so that both arms represent all participants.

        Parameters
        ----------
        x : shape (groups,)
            1 for treated groups, 0 for untreated ones.

        Returns
        -------
        array, shape (groups,)
            The reweighted rows; `rows` if the table has no column of probabilities.
        """
        if self.treated is None or self.untreated is None:
            return self.rows
        return np.asarray(np.where(x == 1, self.treated, self.untreated) / 2)


def count_table(
    table: Engine, roles: ColumnRoles, edges: Mapping[str, tuple[float, ...]], report: ReportShare
) -> GroupedTable:
    """Group a table by all columns that have a role, and label its groups.

    Parameters
    ----------
    table
        The table, with its numeric columns as numbers.
    roles
        Roles of the columns.
    edges
        By covariate, the edges of its bands.
    report
        Called with the share of the table that has been read.

    Returns
    -------
    GroupedTable
        The groups with a positive weight.

    Raises
    ------
    TableError
        If no row counts.
    LimitError
        If there are `MAX_GROUPS` groups or more.
    """
    keys = [*roles.covariates, roles.treatment, roles.outcome]
    weight, assignment = roles.weight[table.role], roles.assignment_of(table.role)
    groups = table.group_by(GroupBy(keys, edges, weight, assignment), report)
    _check_some_weight(table.role, groups.rows)
    columns = _label_columns(table.role, groups, edges)
    covariates = {name: columns[name] for name in roles.covariates}
    x, y = columns[roles.treatment], columns[roles.outcome]
    counted = GroupedTable(table.role, x, y, covariates, groups.rows, groups.treated, groups.untreated)
    return counted.take(groups.rows > 0)


def _label_columns(role: str, groups: GroupByResult, edges: Mapping[str, tuple[float, ...]]) -> dict[str, LabelColumn]:
    columns = {
        name: LabelColumn.from_bands(values, edges[name])
        if name in edges
        else LabelColumn.from_values(values, name, role)
        for name, values in groups.values.items()
    }
    if len(groups.rows) >= MAX_GROUPS:
        raise _too_many_groups(role, columns)
    return columns


def _check_some_weight(role: str, rows: FloatArray) -> None:
    if not len(rows):
        raise TableError(f"the {role} table has no rows; it needs at least one below its header.")
    if not rows.any():
        raise TableError(f"all rows of the {role} table have weight zero; nothing to count.")


def keep_raw_labels(tables: Sequence[GroupedTable]) -> list[GroupedTable]:
    """Restore the raw labels of covariates in which different texts, such as 250 and 250.0, became one label.

    Parameters
    ----------
    tables
        The tables; a covariate that is ambiguous in one of them is restored in all.

    Returns
    -------
    list of GroupedTable
        The tables with unambiguous labels.
    """
    names = {name for table in tables for name, column in table.covariates.items() if column.ambiguous}
    return [
        table.with_covariates(
            {
                name: replace(column, labels=column.raw_labels) if name in names and column.raw_labels else column
                for name, column in table.covariates.items()
            }
        )
        for table in tables
    ]


def _too_many_groups(role: str, columns: Mapping[str, LabelColumn]) -> LimitError:
    by_levels = sorted(columns, key=lambda name: len(columns[name].labels), reverse=True)
    named = join_names([f"{name} ({len(columns[name].labels):,})" for name in by_levels[:3]])
    return LimitError(
        f"the {role} table has {MAX_GROUPS:,} distinct profiles or more; the columns with most levels are {named}. "
        "Leave columns out with --covariates (covariates=), or cut numbers into bands with --bands (bands=)."
    )
