"""A table after its group-by: which label each group has in each column, and how many rows it stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pnsight.data.law import FloatArray
from pnsight.data.reading.column_roles import ColumnRoles
from pnsight.data.reading.engine import MAX_GROUPS, Engine, GroupBy, ReportShare
from pnsight.data.schema import band_labels, label
from pnsight.errors import LimitError, TableError, join_names


@dataclass(frozen=True)
class LabelColumn:
    """A column after the group-by: its distinct labels, None for missing, and which of them each group has.

    Of a column of texts, `written` are the labels as they stand, and `alike` says whether some of them, such as 250 and
    250.0, have become one label: see `keep_raw_labels`.
    """

    labels: Sequence[str | None]
    place: npt.NDArray[np.intp]
    written: Sequence[str | None] | None = None
    alike: bool = False

    @classmethod
    def of(cls, values: npt.NDArray[Any], name: str, role: str) -> LabelColumn:
        """Each distinct value is translated once."""
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
        written = [value.strip() or None if isinstance(value, str) else label(value) for value in seen]
        return cls(
            [label(value) for value in seen],
            np.array(places, dtype=np.intp),
            written,
            len({label(text) for text in texts}) < len(texts),
        )

    @classmethod
    def of_bands(cls, places: npt.NDArray[Any], edges: tuple[float, ...]) -> LabelColumn:
        """The column of bands, by their number; -1 is missing."""
        return cls([*band_labels(edges), None], places.astype(np.intp))

    def missing(self) -> npt.NDArray[np.bool_]:
        """Groups without a value."""
        return np.array([text is None for text in self.labels], dtype=bool)[self.place]

    def present(self) -> list[str]:
        """Labels that some group has."""
        return [text for i in np.unique(self.place) if (text := self.labels[i]) is not None]

    def take(self, groups: npt.NDArray[np.bool_]) -> LabelColumn:
        """The column of some of the groups."""
        return replace(self, place=self.place[groups])

    def rename_labels(self, names: Mapping[str | None, str]) -> LabelColumn:
        """The column with some labels, or None, replaced."""
        return LabelColumn([names.get(text, text) for text in self.labels], self.place)

    def rows_by_label(self, rows: FloatArray) -> dict[str, float]:
        """How many rows have each label."""
        totals = np.bincount(self.place, weights=rows, minlength=len(self.labels))
        found: dict[str, float] = {}
        for i in np.unique(self.place):
            if (text := self.labels[i]) is not None:
                found[text] = found.get(text, 0.0) + float(totals[i])
        return found

    def map_labels(self, number_of: Mapping[str, int]) -> npt.NDArray[np.intp]:
        """The number of each group's label; no label may be missing."""
        numbers = [-1 if text is None else number_of.get(text, -1) for text in self.labels]
        return np.array(numbers, dtype=np.intp)[self.place]


@dataclass(frozen=True)
class GroupedTable:
    """One table after its group-by; arrays have shape (groups,).

    `rows` is what a group weighs; `treated` and `untreated` are what its rows weigh once they are reweighted by the
    probability of their arm, or None.
    """

    role: str
    x: LabelColumn
    y: LabelColumn
    covariates: Mapping[str, LabelColumn]
    rows: FloatArray
    treated: FloatArray | None
    untreated: FloatArray | None

    def take(self, groups: npt.NDArray[np.bool_]) -> GroupedTable:
        """Some of the groups."""
        sums = [None if part is None else part[groups] for part in (self.treated, self.untreated)]
        columns = {name: column.take(groups) for name, column in self.covariates.items()}
        return GroupedTable(self.role, self.x.take(groups), self.y.take(groups), columns, self.rows[groups], *sums)

    def with_covariates(self, covariates: Mapping[str, LabelColumn]) -> GroupedTable:
        """The same groups with other labels."""
        return replace(self, covariates=covariates)

    def reweighted_rows(self, x: npt.NDArray[np.intp]) -> FloatArray:
        """What each group weighs, had a fair coin decided who is treated.

        A row with probability p of its arm stands for 1 / (2 p) rows, so that both arms look like all who took part.
        """
        if self.treated is None or self.untreated is None:
            return self.rows
        return np.asarray(np.where(x == 1, self.treated, self.untreated) / 2)


def count_table(
    table: Engine, parts: ColumnRoles, edges: Mapping[str, tuple[float, ...]], report: ReportShare
) -> GroupedTable:
    """Group a table by all columns that matter, and translate what comes back."""
    keys = [*parts.covariates, parts.treatment, parts.outcome]
    weight, assignment = parts.weight[table.role], parts.assignment_of(table.role)
    groups = table.group_by(GroupBy(keys, edges, weight, assignment), report)
    if not len(groups.rows):
        raise TableError(f"the {table.role} table has no rows; it needs at least one below its header.")
    if not groups.rows.any():
        raise TableError(f"all rows of the {table.role} table have weight zero; nothing to count.")
    columns = {
        name: LabelColumn.of_bands(values, edges[name]) if name in edges else LabelColumn.of(values, name, table.role)
        for name, values in groups.values.items()
    }
    if len(groups.rows) >= MAX_GROUPS:
        raise _too_many_groups(table.role, columns)
    covariates = {name: columns[name] for name in parts.covariates}
    x, y = columns[parts.treatment], columns[parts.outcome]
    counted = GroupedTable(table.role, x, y, covariates, groups.rows, groups.treated, groups.untreated)
    return counted.take(groups.rows > 0)


def keep_raw_labels(tables: Sequence[GroupedTable]) -> list[GroupedTable]:
    """The tables with the texts of a covariate as they stand, in all of them, if in any some became one label."""
    names = {name for table in tables for name, column in table.covariates.items() if column.alike}
    return [
        table.with_covariates(
            {
                name: replace(column, labels=column.written) if name in names and column.written else column
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
