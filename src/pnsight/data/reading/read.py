"""Counting: two tables become a `Study` with one group-by each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pnsight._progress import Progress, no_progress
from pnsight._text import count_text
from pnsight.data.law import FloatArray
from pnsight.data.profiles import distinct_profiles
from pnsight.data.reading.binning import Bands, band_edges, validate_bands
from pnsight.data.reading.column_roles import ColumnRoles, assign_roles
from pnsight.data.reading.engine import ColumnRange, Engine
from pnsight.data.reading.grouped_table import GroupedTable, LabelColumn, count_table, keep_raw_labels
from pnsight.data.reading.levels import (
    MISSING_CHOICES,
    Missing,
    build_schema,
    check_no_identifiers,
    find_rare_levels,
    handle_missing,
    merge_rare_levels,
)
from pnsight.data.reading.open_table import Table, open_table
from pnsight.data.schema import Codes, Schema, label, sort_levels
from pnsight.data.study import MAX_ROWS, Study, cell_counts
from pnsight.errors import TableError, did_you_mean, join_names

MIN_ROWS = 1e-12
"""Fewer rows, but not none, are lost beside others in sums, and their squares and inverses in single precision."""

_TRUTH = {"1": 1, "true": 1, "0": 0, "false": 0}


def read_study(
    experimental: Table | None = None,
    observational: Table | None = None,
    *,
    treatment: str,
    outcome: str,
    covariates: Sequence[str] | None = None,
    treated: Any = None,
    success: Any = None,
    bands: Bands | None = None,
    merge_rare: int | None = None,
    missing: Missing = "error",
    weight: str | None = None,
    assignment: str | None = None,
    progress: Progress = no_progress,
) -> Study:
    """Count an experimental and an observational table into a `Study`.

    Parameters
    ----------
    experimental, observational
        Paths to CSV or Parquet files, or a pattern for many; tables of SQL databases (`pnsight.data.reading.sql`, or
        ``URL::table``); pandas, Polars, Arrow, Dask, Spark or Ibis tables, or DuckDB relations. Without an
        observational table the bounds come from the experiment alone. Without an experimental one the plug-in can
        answer under ``assume="exogenous"``, and nothing else can.
    treatment, outcome
        Columns with 0/1 or true/false.
    treated, success
        The value of the treatment and outcome column that means true, where it is not 1 or true.
    covariates
        Columns that describe people; by default all other columns that both tables share. An empty list means none.
    bands
        Columns of numbers to cut into bands: by name, the edges, or how many bands to make of equally many rows.
    merge_rare
        Levels with fewer rows than this in both tables together become one level, ``other``.
    missing
        What to do with a missing covariate: ``"error"`` refuses it, ``"drop"`` leaves the row out and ``"level"``
        makes ``missing`` a level.
    weight
        Column that says for how many rows each row stands; a table without it counts each row once.
    assignment
        Column of the experimental table with each row's probability of being treated, where it was not one and the
        same for all; rows are reweighted as if a fair coin had decided.
    progress
        Told how far the counting has come, in hundredths of a table.
    """
    _validate_options(missing, merge_rare)
    sources = {"experimental": experimental, "observational": observational}
    _validate_sources(sources, assignment)
    opened = [open_table(source, role) for role, source in sources.items() if source is not None]
    parts = assign_roles(opened, treatment, outcome, covariates, weight, assignment)
    asked = validate_bands(bands or {}, parts.covariates)
    numbers = {table.role: [*asked, *parts.numeric_columns(table.role)] for table in opened}
    tables = [table.with_numeric(numbers[table.role]) for table in opened]
    spans = {table.role: _spans(table, numbers[table.role], parts) for table in tables}
    edges = {
        name: band_edges(name, how, tables, {role: found[name] for role, found in spans.items()}, parts.weight)
        for name, how in asked.items()
    }
    counted = keep_raw_labels(
        [_counted(table, i, len(tables), parts, edges, progress) for i, table in enumerate(tables)]
    )
    x_of = _truth_table(treatment, "treatment", "treated", treated, [table.x for table in counted])
    y_of = _truth_table(outcome, "outcome", "success", success, [table.y for table in counted])
    known, dropped = handle_missing(counted, missing)
    if experimental is not None:
        _check_both_arms(known[0], x_of, treatment)
    plain = [name for name in parts.covariates if name not in edges]
    rare = {} if merge_rare is None else find_rare_levels(known, plain, merge_rare)
    merged = [merge_rare_levels(table, rare) for table in known]
    schema = build_schema(merged, edges, rare)
    check_no_identifiers(schema, merged)
    profiles, counts = _profiles(schema, merged, x_of, y_of)
    trial = counts[0] if experimental is not None else np.zeros_like(counts[0])
    registry = counts[-1] if observational is not None else None
    notes = (*parts.notes, *_notes(schema, asked))
    return Study(
        schema,
        profiles,
        trial,
        registry,
        treatment,
        outcome,
        dropped,
        parts.ignored,
        notes,
        treated=_meaning_true(x_of),
        success=_meaning_true(y_of),
    )


def _validate_options(missing: Missing, merge_rare: int | None) -> None:
    if missing not in MISSING_CHOICES:
        raise TableError(f"missing is {missing!r}; expected one of {join_names(map(repr, MISSING_CHOICES))}.")
    if merge_rare is not None and merge_rare < 1:
        raise TableError(f"merge_rare is {merge_rare}; expected a number of rows, at least 1.")


def _validate_sources(sources: Mapping[str, Table | None], assignment: str | None) -> None:
    if all(source is None for source in sources.values()):
        raise TableError("neither an experimental nor an observational table is given; give one or both.")
    if sources["experimental"] is None and assignment is not None:
        raise TableError(
            f"assignment is column {assignment!r} of an experimental table, but none is given; leave one of them out."
        )


def _spans(table: Engine, numbers: list[str], parts: ColumnRoles) -> dict[str, ColumnRange]:
    """Ranges of the columns that must hold numbers; weights and probabilities must be in every row, and make sense."""
    if not numbers:
        return {}
    spans = table.column_ranges(numbers)
    weight, assignment = parts.weight[table.role], parts.assignment_of(table.role)
    if weight is not None:
        expected = f"zero or more, at most {MAX_ROWS:,}"
        _check_range(table, weight, "weight", expected, spans[weight], lambda number: 0 <= number <= MAX_ROWS)
    if assignment is not None:
        expected = "a probability of being treated, above 0 and below 1"
        _check_range(table, assignment, "assignment", expected, spans[assignment], lambda number: 0 < number < 1)
    return spans


def _check_range(
    table: Engine, name: str, part: str, expected: str, span: ColumnRange, fits: Callable[[float], bool]
) -> None:
    column = f"{part} column {name!r} of the {table.role} table"
    if span.missing:
        raise TableError(f"{column} has no number in {span.missing:,} rows; expected {expected} in every row.")
    for number in (span.low, span.high):
        if number is not None and not fits(number):
            raise TableError(f"{column} holds {number:.10g}; expected {expected}.")


def _counted(
    table: Engine,
    k: int,
    tables: int,
    parts: ColumnRoles,
    edges: Mapping[str, tuple[float, ...]],
    progress: Progress,
) -> GroupedTable:
    """Count the k-th of the tables, and tell how far it is."""
    note = f"counting the {table.role} table"
    progress(100 * k, 100 * tables, note)
    found = count_table(table, parts, edges, lambda share: progress(int(100 * (k + share)), 100 * tables, note))
    progress(100 * (k + 1), 100 * tables, note)
    return found


def _truth_table(column: str, what: str, argument: str, true_level: Any, tables: list[LabelColumn]) -> dict[str, int]:
    """Which labels of a binary column mean 1 and which 0."""
    found = sort_levels(value for table in tables for value in table.present())
    if not found:
        raise TableError(f"{what} column {column!r} has no value in any row; name the column that says it.")
    if true_level is None and found and all(value in _TRUTH for value in found):
        return {value: _TRUTH[value] for value in found}
    if len(found) > 2:
        raise TableError(
            f"{what} column {column!r} holds {len(found)} values ({join_names(found)}); expected two. "
            "Keep the rows of two values, or make a column that is 0 or 1."
        )
    if true_level is None:
        raise TableError(
            f"{what} column {column!r} holds {join_names(found)}; expected 0/1 or true/false. "
            f"Name the value that means {what} with --{argument} ({argument}=)."
        )
    named = label(true_level)
    if named not in found:
        raise TableError(
            f"{what} column {column!r} has no value {true_level!r} as named by --{argument}; "
            f"it holds {join_names(found)}." + did_you_mean(str(named), found)
        )
    return {value: int(value == named) for value in found}


def _meaning_true(meanings: Mapping[str, int]) -> str:
    """The label that means true; a column that is false throughout does not show it."""
    return next((text for text, meaning in meanings.items() if meaning), "1")


def _check_both_arms(table: GroupedTable, x_of: Mapping[str, int], treatment: str) -> None:
    x = table.x.map_labels(x_of)
    arms = [float(table.rows[x == arm].sum()) for arm in (0, 1)]
    if min(arms) == 0:
        absent = "treated" if arms[1] == 0 else "untreated"
        raise TableError(
            f"the experimental table has {count_text(max(arms))} rows but none is {absent} (column {treatment!r}); "
            "an experiment needs both arms. Check the column and --treated."
        )


def _profiles(
    schema: Schema, tables: list[GroupedTable], x_of: Mapping[str, int], y_of: Mapping[str, int]
) -> tuple[Codes, list[FloatArray]]:
    """Distinct profiles over all tables, and each table's counts for them."""
    coded = [_codes(schema, table) for table in tables]
    profiles, place = distinct_profiles(schema, np.concatenate(coded))
    places = np.split(place, np.cumsum([len(codes) for codes in coded])[:-1])
    counts = []
    for table, at in zip(tables, places, strict=True):
        x = table.x.map_labels(x_of)
        counts.append(cell_counts(at, len(profiles), x, table.y.map_labels(y_of), table.reweighted_rows(x)))
        _check_exact_counts(table.role, counts[-1])
    return profiles, counts


def _check_exact_counts(role: str, counts: FloatArray) -> None:
    """Weights, or probabilities of assignment, that make counts too large or too small to reckon with."""
    share = float((counts / MAX_ROWS).sum())  # whose sum cannot overflow
    if share > 1:
        raise TableError(
            f"the rows of the {role} table stand for {share * MAX_ROWS:.3g} rows in all; expected at most "
            f"{MAX_ROWS:,}, up to which counts are exact. Check the columns that weigh them."
        )
    least = float(counts[counts > 0].min())
    if least < MIN_ROWS:
        raise TableError(
            f"some rows of the {role} table stand for {least:.3g} rows together; expected none, or at least "
            f"{MIN_ROWS:g}. Multiply all weights by the same number, or give those rows weight zero."
        )


def _codes(schema: Schema, table: GroupedTable) -> Codes:
    """Level codes of each group, shape (groups, covariates)."""
    codes = np.zeros((len(table.rows), len(schema.names)), dtype=np.int32)
    for j, covariate in enumerate(schema.covariates):
        order = {level: code for code, level in enumerate(covariate.levels)}
        codes[:, j] = table.covariates[covariate.name].map_labels(order)
    return codes


def _notes(schema: Schema, asked: Mapping[str, int | tuple[float, ...]]) -> list[str]:
    """What a person should know of how the tables were counted."""
    notes = []
    for covariate in schema.covariates:
        wanted, found = asked.get(covariate.name), len(covariate.edges or ()) - 1
        if isinstance(wanted, int) and found < wanted:
            notes.append(f"{covariate.name} has {found} bands, not {wanted}: many rows share a number")
        if covariate.rare_levels:
            notes.append(f"{covariate.name}: rare levels that became 'other': {join_names(covariate.rare_levels)}")
        if len(covariate.levels) == 1:
            notes.append(f"{covariate.name} is {covariate.levels[0]} in every row; it is kept, but tells no one apart")
    return notes
