"""Levels of the covariates: missing values, rare levels, and columns that identify people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np

from pnsight._text import count_text
from pnsight._typing import BoolArray
from pnsight.data.number_scale import NumberScale, parse_date
from pnsight.data.reading.grouped_table import GroupedTable
from pnsight.data.reading.likely_meaning import comma_hint, missing_hint
from pnsight.data.schema import MISSING, OTHER, Covariate, Schema, band_labels, is_number, sort_levels
from pnsight.errors import TableError, join_names
from pnsight.notes import Note

Missing: TypeAlias = Literal["error", "drop", "level"]
MISSING_CHOICES: tuple[Missing, ...] = ("error", "drop", "level")

MAX_LEVELS = 500
"""Levels that a covariate can have."""

MIN_IDENTIFIER_LEVELS = 20
"""Up to this many levels a column describes people, however few rows there are."""


def handle_missing(
    tables: Sequence[GroupedTable], blank_rows: Sequence[BoolArray], missing: Missing
) -> tuple[list[GroupedTable], dict[Note, float]]:
    """Leave out rows without treatment or outcome, and treat missing covariates as asked.

    Parameters
    ----------
    tables
        The tables after their group-by.
    blank_rows : one array of shape (groups,) a table
        Which groups lack a treatment, or an outcome that is needed.
    missing
        Whether a missing covariate is an error, its row is dropped, or it becomes a level.

    Returns
    -------
    tables : list of GroupedTable
        The tables with nothing missing.
    dropped : dict
        Rows that were left out, by reason.
    """
    known: list[GroupedTable] = []
    dropped: dict[Note, float] = {}
    for table, blank in zip(tables, blank_rows, strict=True):
        dropped[Note("rows_without_treatment_or_outcome", {"table": table.role})] = _whole(table.rows[blank].sum())
        known.append(_check_some_rows(table.take(~blank), "both treatment and outcome"))
    if missing == "error":
        _check_no_missing(known)
    elif missing == "level":
        known = [_with_missing_level(table) for table in known]
    else:
        known = [_drop_missing(table, dropped) for table in known]
    return known, {reason: rows for reason, rows in dropped.items() if rows}


def _drop_missing(table: GroupedTable, dropped: dict[Note, float]) -> GroupedTable:
    """The groups without a missing covariate; rows of the others are added to `dropped`."""
    gaps = {name: column.missing() for name, column in table.covariates.items() if column.missing().any()}
    blank = np.logical_or.reduce([np.zeros(len(table.rows), dtype=bool), *gaps.values()])
    reason = Note("rows_without_covariates", {"table": table.role, "covariates": list(gaps)})
    dropped[reason] = _whole(table.rows[blank].sum())
    return _check_some_rows(table.take(~blank), "treatment, outcome and all covariates")


def _whole(rows: np.float64) -> float:
    return int(rows) if float(rows).is_integer() else float(rows)


def _check_some_rows(table: GroupedTable, what: str) -> GroupedTable:
    if not len(table.rows):
        raise TableError(f"the {table.role} table has no rows with {what}; nothing to count.")
    return table


def _check_no_missing(tables: Sequence[GroupedTable]) -> None:
    found = [
        f"covariate {name!r} has no value in {count_text(rows)} rows of the {table.role} table"
        for table in tables
        for name, column in table.covariates.items()
        if (rows := float(table.rows[column.missing()].sum()))
    ]
    if found:
        raise TableError(
            f"{join_names(found)}; leave those rows out with --missing drop, make a level of them with --missing level "
            "(missing=), or leave the column out with --exclude (exclude=)."
        )


def _with_missing_level(table: GroupedTable) -> GroupedTable:
    return table.with_covariates(
        {name: column.rename_labels({None: MISSING}) for name, column in table.covariates.items()}
    )


def set_levels(
    tables: Sequence[GroupedTable],
    edges: Mapping[str, tuple[float, ...]],
    merge_rare: int | None,
    numbers: Mapping[str, NumberScale] | None = None,
) -> tuple[Schema, list[GroupedTable]]:
    """Merge rare levels, and make the schema of the levels that are left.

    Parameters
    ----------
    tables
        The tables after their group-by, with nothing missing.
    edges
        By covariate, the edges of its bands; bands are never merged.
    merge_rare
        Levels with fewer rows than this in all tables together become ``other``; None to merge nothing.
    numbers
        By numeric covariate, its scale.

    Returns
    -------
    schema : Schema
        The covariates, with ``other`` and ``missing`` as last levels, and all bands with or without rows.
    tables : list of GroupedTable
        The tables with those levels.

    Raises
    ------
    TableError
        If a covariate has too many levels, so that it identifies people.
    """
    numbers = numbers or {}
    names = [name for name in tables[0].covariates if name not in edges and name not in numbers]
    rare = {} if merge_rare is None else {name: _rare_levels(tables, name, merge_rare) for name in names}
    merged = [_merge_levels(table, rare) for table in tables]
    schema = _build_schema(merged, edges, rare, numbers)
    _check_no_identifiers(schema, merged)
    return schema, merged


def _rare_levels(tables: Sequence[GroupedTable], name: str, min_rows: int) -> tuple[str, ...]:
    rows = _rows_by_level(tables, name)
    return tuple(level for level in rows if rows[level] < min_rows and level not in (OTHER, MISSING))


def _rows_by_level(tables: Sequence[GroupedTable], name: str) -> dict[str, float]:
    rows: dict[str, float] = {}
    for table in tables:
        for level, here in table.covariates[name].rows_by_label(table.rows).items():
            rows[level] = rows.get(level, 0.0) + here
    return rows


def _merge_levels(table: GroupedTable, rare: Mapping[str, Sequence[str]]) -> GroupedTable:
    merged = {
        name: column.rename_labels(dict.fromkeys(rare.get(name, ()), OTHER))
        for name, column in table.covariates.items()
    }
    return table.with_covariates(merged)


def _build_schema(
    tables: Sequence[GroupedTable],
    edges: Mapping[str, tuple[float, ...]],
    rare: Mapping[str, Sequence[str]],
    numbers: Mapping[str, NumberScale],
) -> Schema:
    return Schema(
        tuple(
            Covariate.numeric(name, numbers[name])
            if name in numbers
            else Covariate(
                name, _levels(tables, name, edges.get(name)), edges.get(name), sort_levels(rare.get(name, ()))
            )
            for name in tables[0].covariates
        )
    )


def _levels(tables: Sequence[GroupedTable], name: str, edges: tuple[float, ...] | None) -> tuple[str, ...]:
    found = {level for table in tables for level in table.covariates[name].present()}
    plain = sort_levels(found - {OTHER, MISSING}) if edges is None else band_labels(edges)
    return (*plain, *(level for level in (OTHER, MISSING) if level in found))


def _number_hint(covariate: Covariate) -> str:
    """What to do with levels that are all numbers, or all dates."""
    known = [level for level in covariate.levels if level not in (OTHER, MISSING)]
    if not (all(map(is_number, known)) or all(map(parse_date, known))):
        return ""
    return f" If these describe people, name {covariate.name!r} among those of --numeric (numeric=)."


def _check_no_identifiers(schema: Schema, tables: Sequence[GroupedTable]) -> None:
    """A column with nearly as many levels as rows identifies people rather than describing them."""
    rows = sum(max(float(table.rows.sum()), float(len(table.rows))) for table in tables)  # weights may be tiny
    for covariate in schema.covariates:
        levels = len(covariate.levels)
        if covariate.number is not None:
            continue
        if levels > MAX_LEVELS or (levels > MIN_IDENTIFIER_LEVELS and levels > rows / 2):
            raise TableError(
                f"covariate {covariate.name!r} has {levels:,} levels ({join_names(covariate.levels, most=3)}) in "
                f"{count_text(rows)} rows; expected at most {MAX_LEVELS}, and fewer than half the rows. Leave it out "
                "with --exclude, cut numbers into bands with --bands, or merge rare levels with --merge-rare."
                f"{_number_hint(covariate)}{comma_hint(covariate.levels)}{missing_hint(covariate.levels)}"
            )
