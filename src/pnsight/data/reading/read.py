"""Reading: an experimental and an observational table become a `Study` with one group-by each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pnsight._progress import Progress, no_progress
from pnsight.data.reading.binary_columns import binary_codes, check_both_arms, true_label
from pnsight.data.reading.binning import Bands, validate_bands
from pnsight.data.reading.column_roles import ColumnRoles, assign_roles
from pnsight.data.reading.count_profiles import count_profiles
from pnsight.data.reading.engine import Engine
from pnsight.data.reading.grouped_table import GroupedTable, count_table, keep_raw_labels
from pnsight.data.reading.levels import MISSING_CHOICES, Missing, handle_missing, set_levels
from pnsight.data.reading.numeric_columns import prepare_numbers
from pnsight.data.reading.open_table import Table, open_table
from pnsight.data.schema import Schema
from pnsight.data.structure import EXPERIMENTAL, OBSERVATIONAL
from pnsight.data.study import Study
from pnsight.data.two_by_two import EXPERIMENT_ALONE
from pnsight.errors import TableError, join_names
from pnsight.notes import Note


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
        Numeric columns to cut into bands: by name, the edges, or the number of bands with equally many rows.
    merge_rare
        Levels with fewer rows than this in both tables together become one level, ``other``.
    missing
        What to do with a missing covariate: ``"error"`` raises an error, ``"drop"`` leaves the row out and ``"level"``
        makes ``missing`` a level.
    weight
        Column that says for how many rows each row stands; a table without it counts each row once.
    assignment
        Column of the experimental table with each row's probability of being treated (propensity score), where it
        differs between rows; rows are weighted by its inverse, as if a fair coin had decided.
    progress
        Callback for the progress of the counting, in hundredths of a table.

    Returns
    -------
    Study
        The distinct profiles with their counts in both tables, and what was left out.

    Raises
    ------
    TableError
        If a table cannot be read, or does not hold what is asked of it.
    LimitError
        If a table has too many distinct profiles.
    """
    _validate_options(missing, merge_rare)
    opened = _open_tables({"experimental": experimental, "observational": observational}, assignment)
    roles = assign_roles(opened, treatment, outcome, covariates, weight, assignment)
    asked = validate_bands(bands or {}, roles.covariates)
    tables, edges = prepare_numbers(opened, roles, asked)
    grouped = _group_tables(tables, roles, edges, progress)
    x_of, y_of = _binary_codes(grouped, roles, treated, success)
    complete, dropped = handle_missing(grouped, missing)
    check_both_arms(complete, x_of, treatment)
    schema, labelled = set_levels(complete, edges, merge_rare)
    profiles, counts = count_profiles(schema, labelled, x_of, y_of)
    return Study.from_tables(
        schema,
        profiles,
        counts.get(EXPERIMENTAL, np.zeros((len(profiles), EXPERIMENT_ALONE.n_cells))),
        counts.get(OBSERVATIONAL),
        treatment=treatment,
        outcome=outcome,
        dropped=dropped,
        ignored=roles.ignored,
        notes=(*roles.notes, *_notes(schema, asked)),
        treated=true_label(x_of),
        success=true_label(y_of),
    )


def _validate_options(missing: Missing, merge_rare: int | None) -> None:
    if missing not in MISSING_CHOICES:
        raise TableError(f"missing is {missing!r}; expected one of {join_names(map(repr, MISSING_CHOICES))}.")
    if merge_rare is not None and merge_rare < 1:
        raise TableError(f"merge_rare is {merge_rare}; expected a number of rows, at least 1.")


def _open_tables(sources: Mapping[str, Table | None], assignment: str | None) -> list[Engine]:
    """The tables that are given, not yet read."""
    if all(source is None for source in sources.values()):
        raise TableError("neither an experimental nor an observational table is given; give one or both.")
    if sources["experimental"] is None and assignment is not None:
        raise TableError(
            f"assignment is column {assignment!r} of an experimental table, but none is given; leave one of them out."
        )
    return [open_table(source, role) for role, source in sources.items() if source is not None]


def _group_tables(
    tables: Sequence[Engine], roles: ColumnRoles, edges: Mapping[str, tuple[float, ...]], progress: Progress
) -> list[GroupedTable]:
    """Group each table by all columns that have a role, reporting progress in hundredths of a table."""
    grouped, total = [], 100 * len(tables)
    for k, table in enumerate(tables):
        note, start = f"counting the {table.role} table", 100 * k

        def report(share: float, note: str = note, start: int = start) -> None:
            progress(start + int(100 * share), total, note)

        report(0)
        grouped.append(count_table(table, roles, edges, report))
        report(1)
    return keep_raw_labels(grouped)


def _binary_codes(
    tables: Sequence[GroupedTable], roles: ColumnRoles, treated: Any, success: Any
) -> tuple[dict[str, int], dict[str, int]]:
    """1 or 0 by label of the treatment, and of the outcome."""
    x_of = binary_codes(roles.treatment, "treatment", "treated", treated, [table.x for table in tables])
    y_of = binary_codes(roles.outcome, "outcome", "success", success, [table.y for table in tables])
    return x_of, y_of


def _notes(schema: Schema, asked: Mapping[str, int | tuple[float, ...]]) -> list[Note]:
    """What a person should know about how the tables were counted."""
    notes: list[Note] = []
    for covariate in schema.covariates:
        wanted, found = asked.get(covariate.name), len(covariate.edges or ()) - 1
        if isinstance(wanted, int) and found < wanted:
            notes.append(Note("fewer_bands", {"covariate": covariate.name, "found": found, "wanted": wanted}))
        if covariate.rare_levels:
            notes.append(Note("rare_levels_merged", {"covariate": covariate.name, "levels": covariate.rare_levels}))
        if len(covariate.levels) == 1:
            notes.append(Note("single_level", {"covariate": covariate.name, "level": covariate.levels[0]}))
    return notes
