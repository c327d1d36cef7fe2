"""Counting: two tables become a `Study` with one group-by each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from pnsight.errors import TableError, did_you_mean, listed
from pnsight.law import FloatArray
from pnsight.schema import Codes, Covariate, Schema, label, level_order
from pnsight.study import Study
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
    x_of = _truth_table(treatment, "treatment", "treated", treated, [t.treatment for t in counted.values()])
    y_of = _truth_table(outcome, "outcome", "success", success, [t.outcome for t in counted.values()])
    tables = {role: table.binary(x_of, y_of) for role, table in counted.items()}
    _refuse_empty_arm(tables["experimental"], treatment)
    schema = _schema(shared, [table.covariates for table in tables.values()])
    profiles, counts = _profiles(schema, list(tables.values()))
    dropped = {reason: rows for table in counted.values() for reason, rows in table.dropped().items()}
    registry = counts[1] if observational is not None else None
    return Study(schema, profiles, counts[0], registry, treatment, outcome, dropped, ignored)


@dataclass(frozen=True)
class _Counted:
    """One table after its group-by: labels by column and the rows of each group."""

    role: str
    treatment: list[str | None]
    outcome: list[str | None]
    covariates: dict[str, list[str | None]]
    rows: FloatArray

    def _unusable(self) -> npt.NDArray[np.bool_]:
        pairs = zip(self.treatment, self.outcome, strict=True)
        return np.array([x is None or y is None for x, y in pairs], dtype=bool)

    def dropped(self) -> dict[str, int]:
        """Rows without treatment or outcome, by reason."""
        rows = int(self.rows[self._unusable()].sum())
        return {f"{self.role} rows without treatment or outcome": rows} if rows else {}

    def binary(self, x_of: dict[str, int], y_of: dict[str, int]) -> _Binary:
        """The groups with treatment and outcome as 0 and 1, unusable rows left out."""
        keep = np.flatnonzero(~self._unusable())
        if not len(keep):
            raise TableError(f"the {self.role} table has no rows with both treatment and outcome; nothing to count.")
        covariates = {name: [values[i] for i in keep] for name, values in self.covariates.items()}
        x = np.array([x_of[self.treatment[i] or ""] for i in keep])
        y = np.array([y_of[self.outcome[i] or ""] for i in keep])
        return _Binary(self.role, x, y, self._complete(covariates, self.rows[keep]), self.rows[keep])

    def _complete(self, covariates: dict[str, list[str | None]], rows: FloatArray) -> dict[str, list[str]]:
        complete: dict[str, list[str]] = {}
        for name, values in covariates.items():
            missing = sum(rows[i] for i, value in enumerate(values) if value is None)
            if missing:
                raise TableError(
                    f"covariate {name!r} has no value in {int(missing):,} rows of the {self.role} table; "
                    "fill or drop those rows, or leave the column out with --covariates (covariates=)."
                )
            complete[name] = [value for value in values if value is not None]
        return complete


@dataclass(frozen=True)
class _Binary:
    """One table's groups with treatment and outcome as 0 and 1."""

    role: str
    x: npt.NDArray[np.intp]
    y: npt.NDArray[np.intp]
    covariates: dict[str, list[str]]
    rows: FloatArray


def _count(
    frame: nw.LazyFrame[Any] | nw.DataFrame[Any],
    role: str,
    treatment: str,
    outcome: str,
    covariates: Sequence[str],
) -> _Counted:
    columns = [*covariates, treatment, outcome]
    groups = count_groups(frame, columns, _ROWS, role)
    if not groups[_ROWS]:
        raise TableError(f"the {role} table has no rows; it needs at least one below its header.")
    labels = {name: _labels(groups[name]) for name in columns}
    rows = np.array(groups[_ROWS], dtype=np.float64)
    return _Counted(role, labels[treatment], labels[outcome], {name: labels[name] for name in covariates}, rows)


def _labels(values: Iterable[Any]) -> list[str | None]:
    """Labels of a column, each distinct value translated once."""
    values = list(values)
    known = {value: label(value) for value in set(values)}
    return [known[value] for value in values]


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


def _truth_table(
    column: str, what: str, argument: str, true_level: Any, tables: list[list[str | None]]
) -> dict[str, int]:
    """Which labels of a binary column mean 1 and which 0."""
    found = level_order(value for table in tables for value in table if value is not None)
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


def _refuse_empty_arm(table: _Binary, treatment: str) -> None:
    arms = [float(table.rows[table.x == x].sum()) for x in (0, 1)]
    if min(arms) == 0:
        absent = "treated" if arms[1] == 0 else "untreated"
        raise TableError(
            f"the experimental table has {int(max(arms)):,} rows but none is {absent} (column {treatment!r}); "
            "an experiment needs both arms. Check the column and --treated."
        )


def _schema(names: Sequence[str], tables: list[dict[str, list[str]]]) -> Schema:
    return Schema(
        tuple(Covariate(name, level_order(level for table in tables for level in table[name])) for name in names)
    )


def _profiles(schema: Schema, tables: list[_Binary]) -> tuple[Codes, list[FloatArray]]:
    """Distinct profiles over all tables, and each table's counts for them."""
    coded = [
        schema.encode_columns(t.covariates) if schema.names else np.zeros((len(t.rows), 0), np.int32) for t in tables
    ]
    profiles, place = np.unique(np.concatenate(coded), axis=0, return_inverse=True)
    places = np.split(place.ravel(), np.cumsum([len(codes) for codes in coded])[:-1])
    return profiles, [_cell_counts(table, at, len(profiles)) for table, at in zip(tables, places, strict=True)]


def _cell_counts(table: _Binary, place: npt.NDArray[np.intp], profiles: int) -> FloatArray:
    cell = 4 * place + 2 * (1 - table.x) + (1 - table.y)
    counts: FloatArray = np.bincount(cell, weights=table.rows, minlength=4 * profiles).astype(np.float64)
    return counts.reshape(profiles, 4)
