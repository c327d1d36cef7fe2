"""What becomes of missing values, of rare levels and of columns that name people rather than describe them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np

from pnsight._text import count_text
from pnsight.data.reading.grouped_table import GroupedTable
from pnsight.data.schema import MISSING, OTHER, Covariate, Schema, band_labels, sort_levels
from pnsight.errors import TableError, join_names

Missing: TypeAlias = Literal["error", "drop", "level"]
MISSING_CHOICES: tuple[Missing, ...] = ("error", "drop", "level")

MAX_LEVELS = 500
MIN_IDENTIFIER_LEVELS = 20
"""A column with fewer levels than this describes people, however few there are of them."""


def handle_missing(tables: Sequence[GroupedTable], missing: Missing) -> tuple[list[GroupedTable], dict[str, float]]:
    """Tables in which nothing is missing, and the rows that were left out to that end, by reason."""
    known, dropped = [], {}
    for table in tables:
        blank = table.x.missing() | table.y.missing()
        dropped[f"{table.role} rows without treatment or outcome"] = _plain(table.rows[blank].sum())
        known.append(_some_rows(table.take(~blank), "both treatment and outcome"))
    if missing == "error":
        _check_no_missing(known)
    elif missing == "level":
        known = [_with_level(table) for table in known]
    else:
        for i, table in enumerate(known):
            gaps = {name: column.missing() for name, column in table.covariates.items() if column.missing().any()}
            blank = np.logical_or.reduce([np.zeros(len(table.rows), dtype=bool), *gaps.values()])
            dropped[f"{table.role} rows without {join_names(gaps)}"] = _plain(table.rows[blank].sum())
            known[i] = _some_rows(table.take(~blank), "treatment, outcome and all covariates")
    return known, {reason: rows for reason, rows in dropped.items() if rows}


def _plain(rows: np.float64) -> float:
    return int(rows) if float(rows).is_integer() else float(rows)


def _some_rows(table: GroupedTable, what: str) -> GroupedTable:
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
            "(missing=), or leave the column out with --covariates (covariates=)."
        )


def _with_level(table: GroupedTable) -> GroupedTable:
    return table.with_covariates(
        {name: column.rename_labels({None: MISSING}) for name, column in table.covariates.items()}
    )


def find_rare_levels(tables: Sequence[GroupedTable], names: Sequence[str], fewest: int) -> dict[str, tuple[str, ...]]:
    """By covariate, the levels that have fewer rows than that in all tables together."""
    return {
        name: tuple(
            level
            for level, rows in _rows_by_level(tables, name).items()
            if rows < fewest and level not in (OTHER, MISSING)
        )
        for name in names
    }


def _rows_by_level(tables: Sequence[GroupedTable], name: str) -> dict[str, float]:
    rows: dict[str, float] = {}
    for table in tables:
        for level, here in table.covariates[name].rows_by_label(table.rows).items():
            rows[level] = rows.get(level, 0.0) + here
    return rows


def merge_rare_levels(table: GroupedTable, rare: Mapping[str, Sequence[str]]) -> GroupedTable:
    """The table with its rare levels called ``other``."""
    return table.with_covariates(
        {
            name: column.rename_labels(dict.fromkeys(rare.get(name, ()), OTHER))
            for name, column in table.covariates.items()
        }
    )


def build_schema(
    tables: Sequence[GroupedTable], edges: Mapping[str, tuple[float, ...]], rare: Mapping[str, Sequence[str]]
) -> Schema:
    """Levels in order, with ``other`` and ``missing`` last; bands are all there, with or without rows."""
    return Schema(
        tuple(
            Covariate(name, _levels(tables, name, edges.get(name)), edges.get(name), sort_levels(rare.get(name, ())))
            for name in tables[0].covariates
        )
    )


def _levels(tables: Sequence[GroupedTable], name: str, edges: tuple[float, ...] | None) -> tuple[str, ...]:
    found = {level for table in tables for level in table.covariates[name].present()}
    plain = sort_levels(found - {OTHER, MISSING}) if edges is None else band_labels(edges)
    return (*plain, *(level for level in (OTHER, MISSING) if level in found))


def check_no_identifiers(schema: Schema, tables: Sequence[GroupedTable]) -> None:
    """A column with nearly a level a row names people; groups of one tell nothing."""
    rows = sum(max(float(table.rows.sum()), float(len(table.rows))) for table in tables)  # weights may be tiny
    for covariate in schema.covariates:
        levels = len(covariate.levels)
        if levels > MAX_LEVELS or (levels > MIN_IDENTIFIER_LEVELS and levels > rows / 2):
            raise TableError(
                f"covariate {covariate.name!r} has {levels:,} levels ({join_names(covariate.levels, most=3)}) in "
                f"{count_text(rows)} rows; expected at most {MAX_LEVELS}, and fewer than half the rows. Leave it out "
                "with --covariates, cut numbers into bands with --bands, or merge rare levels with --merge-rare."
            )
