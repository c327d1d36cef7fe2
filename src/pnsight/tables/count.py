"""Counting: two tables become a `Study` with one group-by each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from pnsight import lattice
from pnsight.errors import TableError, did_you_mean, listed
from pnsight.law import FloatArray
from pnsight.schema import Codes, Covariate, Schema, label, level_order
from pnsight.study import Study, cell_counts
from pnsight.tables.read import Table, count_groups, open_table

_ROWS = "rows counted by pnsight"
_TRUTH = {"1": 1, "true": 1, "0": 0, "false": 0}


def read_study(
    experimental: Table,
    observational: Table | None = None,
    *,
    treatment: str,
    outcome: str,
    covariates: Sequence[str] | None = None,
    treated: Any = None,
    success: Any = None,
) -> Study:
    """Count an experimental and an observational table into a `Study`.

    Parameters
    ----------
    experimental, observational
        Paths to CSV or Parquet files, pandas, Polars or Arrow frames, or DuckDB relations. Without an
        observational table the bounds come from the experiment alone.
    treatment, outcome
        Columns with 0/1 or true/false.
    treated, success
        The value of the treatment and outcome column that means true, where it is not 1 or true.
    covariates
        Columns that describe people; by default all other columns that both tables share. An empty list means none.
    """
    sources = {"experimental": experimental, "observational": observational}
    frames = {role: open_table(source, role) for role, source in sources.items() if source is not None}
    shared, ignored = _shared_columns(frames, treatment, outcome, covariates)
    counted = {role: _count(frame, role, treatment, outcome, shared) for role, frame in frames.items()}
    x_of = _truth_table(treatment, "treatment", "treated", treated, [table.x for table in counted.values()])
    y_of = _truth_table(outcome, "outcome", "success", success, [table.y for table in counted.values()])
    usable = {role: table.usable() for role, table in counted.items()}
    _refuse_empty_arm(usable["experimental"], x_of, treatment)
    schema = _schema(shared, list(usable.values()))
    profiles, counts = _profiles(schema, list(usable.values()), x_of, y_of)
    dropped = {f"{role} rows without treatment or outcome": table.unusable_rows() for role, table in counted.items()}
    registry = counts[1] if observational is not None else None
    left_out = {reason: rows for reason, rows in dropped.items() if rows}
    return Study(schema, profiles, counts[0], registry, treatment, outcome, left_out, ignored)


@dataclass(frozen=True)
class _Column:
    """A column after the group-by: its distinct labels, None for missing, and which of them each group has."""

    labels: list[str | None]
    place: npt.NDArray[np.intp]

    @classmethod
    def of(cls, values: npt.NDArray[Any], name: str, role: str) -> _Column:
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
        return cls(_labels(list(seen)), np.array(places, dtype=np.intp))

    def missing(self) -> npt.NDArray[np.bool_]:
        """Groups without a value."""
        return np.array([text is None for text in self.labels], dtype=bool)[self.place]

    def present(self) -> list[str]:
        """Labels that some group has."""
        return [text for i in np.unique(self.place) if (text := self.labels[i]) is not None]

    def take(self, groups: npt.NDArray[np.bool_]) -> _Column:
        """The column of some of the groups."""
        return _Column(self.labels, self.place[groups])

    def mapped(self, number_of: Mapping[str, int]) -> npt.NDArray[np.intp]:
        """The number of each group's label; no label may be missing."""
        numbers = [-1 if text is None else number_of.get(text, -1) for text in self.labels]
        return np.array(numbers, dtype=np.intp)[self.place]


@dataclass(frozen=True)
class _Counted:
    """One table after its group-by."""

    role: str
    x: _Column
    y: _Column
    covariates: dict[str, _Column]
    rows: FloatArray

    def _unusable(self) -> npt.NDArray[np.bool_]:
        return self.x.missing() | self.y.missing()

    def unusable_rows(self) -> int:
        """Rows without treatment or outcome."""
        return int(self.rows[self._unusable()].sum())

    def usable(self) -> _Counted:
        """The groups with treatment and outcome, all of whose covariates must have values."""
        keep = ~self._unusable()
        if not keep.any():
            raise TableError(f"the {self.role} table has no rows with both treatment and outcome; nothing to count.")
        covariates = {name: column.take(keep) for name, column in self.covariates.items()}
        for name, column in covariates.items():
            missing = int(self.rows[keep][column.missing()].sum())
            if missing:
                raise TableError(
                    f"covariate {name!r} has no value in {missing:,} rows of the {self.role} table; "
                    "fill or drop those rows, or leave the column out with --covariates (covariates=)."
                )
        return _Counted(self.role, self.x.take(keep), self.y.take(keep), covariates, self.rows[keep])


def _labels(values: list[Any]) -> list[str | None]:
    """Labels of distinct values; texts that would become one, such as 250 and 250.0, are kept as they are."""
    labels = [label(value) for value in values]
    texts = [value for value in values if isinstance(value, str)]
    if len({label(text) for text in texts}) == len({text.strip() for text in texts}):
        return labels
    return [value.strip() or None if isinstance(value, str) else label(value) for value in values]


def _count(
    frame: nw.LazyFrame[Any] | nw.DataFrame[Any],
    role: str,
    treatment: str,
    outcome: str,
    covariates: Sequence[str],
) -> _Counted:
    names = [*covariates, treatment, outcome]
    groups = count_groups(frame, names, _ROWS, role)
    if not len(groups[_ROWS]):
        raise TableError(f"the {role} table has no rows; it needs at least one below its header.")
    columns = {name: _Column.of(groups[name], name, role) for name in names}
    rows = groups[_ROWS].astype(np.float64)
    return _Counted(role, columns[treatment], columns[outcome], {name: columns[name] for name in covariates}, rows)


def _shared_columns(
    frames: dict[str, Any], treatment: str, outcome: str, covariates: Sequence[str] | None
) -> tuple[list[str], tuple[str, ...]]:
    """The covariates to use, and other columns that are in one table only."""
    columns = {role: list(frame.collect_schema().names()) for role, frame in frames.items()}
    for role, names in columns.items():
        for name in (treatment, outcome, *(covariates or ())):
            _require_column(name, names, role)
    if treatment == outcome:
        raise TableError(f"treatment and outcome are both column {treatment!r}; name two different columns.")
    others = {role: [n for n in names if n not in (treatment, outcome)] for role, names in columns.items()}
    if covariates is not None:
        _refuse_repeats(covariates, treatment, outcome)
        return list(covariates), ()
    shared = [name for name in others["experimental"] if all(name in names for names in others.values())]
    if not shared and any(others.values()):
        found = "; ".join(f"the {role} table has {listed(names) or 'none'}" for role, names in others.items())
        raise TableError(
            f"beside treatment and outcome the tables share no column: {found}. "
            "Rename the covariates to match, or pass --covariates '' (covariates=[]) to use none."
        )
    alone = dict.fromkeys(name for names in others.values() for name in names if name not in shared)
    return shared, tuple(alone)


def _require_column(name: str, names: list[str], role: str) -> None:
    if name not in names:
        raise TableError(
            f"the {role} table has no column {name!r}; its columns are {listed(names)}." + did_you_mean(name, names)
        )


def _refuse_repeats(covariates: Sequence[str], treatment: str, outcome: str) -> None:
    for name in covariates:
        if name in (treatment, outcome):
            raise TableError(f"column {name!r} is treatment or outcome and cannot be a covariate too; leave it out.")
        if list(covariates).count(name) > 1:
            raise TableError(f"covariate {name!r} is named twice; name it once.")


def _truth_table(column: str, what: str, argument: str, true_level: Any, tables: list[_Column]) -> dict[str, int]:
    """Which labels of a binary column mean 1 and which 0."""
    found = level_order(value for table in tables for value in table.present())
    if true_level is None and found and all(value in _TRUTH for value in found):
        return {value: _TRUTH[value] for value in found}
    if len(found) > 2:
        raise TableError(
            f"{what} column {column!r} holds {len(found)} values ({listed(found)}); expected two. "
            "Keep the rows of two values, or make a column that is 0 or 1."
        )
    if true_level is None:
        raise TableError(
            f"{what} column {column!r} holds {listed(found)}; expected 0/1 or true/false. "
            f"Name the value that means {what} with --{argument} ({argument}=)."
        )
    named = label(true_level)
    if named not in found:
        raise TableError(
            f"{what} column {column!r} has no value {named!r} as named by --{argument}; it holds {listed(found)}."
            + did_you_mean(str(named), found)
        )
    return {value: int(value == named) for value in found}


def _refuse_empty_arm(table: _Counted, x_of: Mapping[str, int], treatment: str) -> None:
    x = table.x.mapped(x_of)
    arms = [float(table.rows[x == arm].sum()) for arm in (0, 1)]
    if min(arms) == 0:
        absent = "treated" if arms[1] == 0 else "untreated"
        raise TableError(
            f"the experimental table has {int(max(arms)):,} rows but none is {absent} (column {treatment!r}); "
            "an experiment needs both arms. Check the column and --treated."
        )


def _schema(names: Sequence[str], tables: list[_Counted]) -> Schema:
    return Schema(
        tuple(
            Covariate(name, level_order(level for table in tables for level in table.covariates[name].present()))
            for name in names
        )
    )


def _profiles(
    schema: Schema, tables: list[_Counted], x_of: Mapping[str, int], y_of: Mapping[str, int]
) -> tuple[Codes, list[FloatArray]]:
    """Distinct profiles over all tables, and each table's counts for them."""
    coded = [_codes(schema, table) for table in tables]
    profiles, place = lattice.distinct(schema, np.concatenate(coded))
    places = np.split(place, np.cumsum([len(codes) for codes in coded])[:-1])
    counts = [
        cell_counts(at, len(profiles), table.x.mapped(x_of), table.y.mapped(y_of), table.rows)
        for table, at in zip(tables, places, strict=True)
    ]
    return profiles, counts


def _codes(schema: Schema, table: _Counted) -> Codes:
    """Level codes of each group, shape (groups, covariates)."""
    codes = np.zeros((len(table.rows), len(schema.names)), dtype=np.int32)
    for j, covariate in enumerate(schema.covariates):
        order = {level: code for code, level in enumerate(covariate.levels)}
        codes[:, j] = table.covariates[covariate.name].mapped(order)
    return codes
