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


class _NumberLabels(Sequence[str | None]):
    """Labels of numbers, each made when it is asked for: those of millions of numbers would take gigabytes."""

    def __init__(self, numbers: npt.NDArray[Any]) -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, place: Any) -> Any:
        return label(self._numbers[place])


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
    numbers : shape (labels,), or None
        For a column of numbers, what the labels say, NaN for a missing value.
    """

    labels: Sequence[str | None]
    place: npt.NDArray[np.intp]
    raw_labels: Sequence[str | None] | None = None
    ambiguous: bool = False
    numbers: npt.NDArray[Any] | None = None

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
            return cls(_NumberLabels(distinct), place, numbers=None if values.dtype.kind == "b" else distinct)
        seen: dict[Any, int] = {}
        try:
            places = [seen.setdefault(value, len(seen)) for value in values]
        except TypeError:
            raise TableError(
                f"column {name!r} of the {role} table holds lists or records; expected one plain value a row. "
                "Leave it out with --exclude (exclude=), or make plain columns of it."
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
        return self._unlabelled[self.place]

    @property
    def _unlabelled(self) -> npt.NDArray[np.bool_]:
        """Which labels are none, shape (labels,)."""
        if self.numbers is not None:
            return np.asarray(np.isnan(self.numbers))
        return np.array([text is None for text in self.labels], dtype=bool)

    def present(self) -> list[str]:
        """Labels that at least one group has."""
        return [text for i in np.unique(self.place) if (text := self.labels[i]) is not None]

    def present_numbers(self) -> npt.NDArray[Any] | None:
        """Numbers that at least one group has, each once; None where the column holds something else."""
        if self.numbers is None:
            return None
        found = self.numbers[np.bincount(self.place, minlength=len(self.numbers)) > 0]
        return np.asarray(found[~np.isnan(found)])

    def take(self, groups: npt.NDArray[np.bool_]) -> LabelColumn:
        """Select groups by a mask of shape (groups,)."""
        return replace(self, place=self.place[groups])

    def rename_labels(self, names: Mapping[str | None, str]) -> LabelColumn:
        """Replace some labels, or None, by others."""
        if not names or (names.keys() == {None} and not self._unlabelled.any()):
            return self
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
        Columns of the treatment, the outcome (or whether the event happened) and, by name, the covariates.
    rows : shape (groups,)
        How many rows each group has: the sum of the weights that count rows.
    people : shape (groups,)
        How many people that is: lines of the table that count at all.
    survey_weight, assignment : shape (groups,), or None
        Survey weight of each of the group's rows, and their probability of being treated.
    cluster
        Column of the cluster that rows belong to; None where there is none.
    assigned
        Column of the arm that was assigned, where it need not be the one that was taken; None otherwise.
    time
        Column of the time of the event, in bands; its place is -1 where it is missing. None for other outcomes.
    """

    role: str
    x: LabelColumn
    y: LabelColumn
    covariates: Mapping[str, LabelColumn]
    rows: FloatArray
    people: FloatArray
    survey_weight: FloatArray | None = None
    assignment: FloatArray | None = None
    cluster: LabelColumn | None = None
    assigned: LabelColumn | None = None
    time: LabelColumn | None = None

    def take(self, groups: npt.NDArray[np.bool_]) -> GroupedTable:
        """Select groups by a mask of shape (groups,)."""
        return replace(
            self,
            x=self.x.take(groups),
            y=self.y.take(groups),
            covariates={name: column.take(groups) for name, column in self.covariates.items()},
            rows=self.rows[groups],
            people=self.people[groups],
            survey_weight=None if self.survey_weight is None else self.survey_weight[groups],
            assignment=None if self.assignment is None else self.assignment[groups],
            cluster=None if self.cluster is None else self.cluster.take(groups),
            assigned=None if self.assigned is None else self.assigned.take(groups),
            time=None if self.time is None else self.time.take(groups),
        )

    def with_covariates(self, covariates: Mapping[str, LabelColumn]) -> GroupedTable:
        """Replace the columns of the covariates."""
        return replace(self, covariates=covariates)

    @property
    def survey_weights(self) -> FloatArray:
        """Survey weights as given, one where the table has none; shape (groups,)."""
        return np.ones(len(self.rows)) if self.survey_weight is None else self.survey_weight

    def propensities(self, x: npt.NDArray[np.intp]) -> FloatArray:
        """Probability of the arm that each group is in.

        Parameters
        ----------
        x : shape (groups,)
            1 for treated groups, 0 for untreated ones.

        Returns
        -------
        array, shape (groups,)
            A half if the table does not say.
        """
        if self.assignment is None:
            return np.full(len(self.rows), 0.5)
        return np.where(x == 1, self.assignment, 1 - self.assignment)

    def cluster_of(self, numbers: Mapping[str, int]) -> npt.NDArray[np.intp]:
        """Number of each group's cluster by the labels' numbers, -1 where it belongs to none; shape (groups,)."""
        return np.full(len(self.rows), -1, np.intp) if self.cluster is None else self.cluster.map_labels(numbers)


def count_table(
    table: Engine,
    roles: ColumnRoles,
    edges: Mapping[str, tuple[float, ...]],
    report: ReportShare,
    most_groups: int = MAX_GROUPS,
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
    most_groups
        Groups at which counting is given up.

    Returns
    -------
    GroupedTable
        The groups with a positive weight.

    Raises
    ------
    TableError
        If no row counts.
    LimitError
        If there are `most_groups` groups or more.
    """
    role = table.role
    keys = [*roles.covariates, *roles.shown_columns(role), *roles.design_columns(role)]
    groups = table.group_by(GroupBy(keys, edges, roles.weight[role]), report)
    if len(groups.rows) >= most_groups:
        raise _too_many_groups(role, groups)
    numbers, cluster = (roles.survey_weight[role], roles.assignment_of(role)), roles.cluster[role]
    survey_weight, assignment = (None if name is None else groups.values[name].astype(np.float64) for name in numbers)
    columns = {name: _labels(role, name, groups, edges) for name in keys if name not in numbers}
    counted = GroupedTable(
        role,
        columns[roles.treatment],
        columns[roles.outcome],
        {name: columns[name] for name in roles.covariates},
        groups.rows,
        groups.lines,
        survey_weight,
        assignment,
        None if cluster is None else columns[cluster],
        None if roles.assigned_of(role) is None else columns[roles.assigned_of(role) or ""],
        None if roles.time is None else columns[roles.time],
    )
    some = groups.rows > 0 if survey_weight is None else (groups.rows > 0) & (survey_weight > 0)
    _check_some_weight(role, some)
    return counted.take(some)


def _labels(role: str, name: str, groups: GroupByResult, edges: Mapping[str, tuple[float, ...]]) -> LabelColumn:
    values = groups.values[name]
    return LabelColumn.from_bands(values, edges[name]) if name in edges else LabelColumn.from_values(values, name, role)


def _check_some_weight(role: str, counts: npt.NDArray[np.bool_]) -> None:
    if not len(counts):
        raise TableError(f"the {role} table has no rows; it needs at least one below its header.")
    if not counts.any():
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


def weights_as_people(table: GroupedTable) -> GroupedTable:
    """Take the weights that count rows for numbers of people.

    Parameters
    ----------
    table
        The table after its group-by.

    Returns
    -------
    GroupedTable
        The same with as many people as rows.

    Raises
    ------
    TableError
        If the weights of a group do not add up to a whole number.
    """
    broken = table.rows[table.rows != np.floor(table.rows)]
    if len(broken):
        raise TableError(
            f"weights of the {table.role} table are said to be numbers of people, but some add up to {broken[0]:.10g}; "
            "expected whole numbers. Leave --weight-is-people (weight_is_people=) out: lines are then counted."
        )
    return replace(table, people=table.rows)


def _too_many_groups(role: str, groups: GroupByResult) -> LimitError:
    levels = {name: len(set(values.tolist())) for name, values in groups.values.items()}
    by_levels = sorted(levels, key=lambda name: levels[name], reverse=True)
    named = join_names([f"{name} ({levels[name]:,})" for name in by_levels[:3]])
    return LimitError(
        f"the {role} table has {len(groups.rows):,} distinct profiles or more; the columns with most levels are "
        f"{named}. Leave columns out with --exclude (exclude=), cut numbers into bands with --bands (bands=), or round "
        "weights and probabilities."
    )
