"""Reading: an experimental and an observational table become a `Study` with one group-by each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pnsight._progress import Progress, no_progress
from pnsight.data.reading.binary_columns import binary_codes, check_both_arms, coded_differently, true_label
from pnsight.data.reading.binning import Bands, validate_bands
from pnsight.data.reading.column_roles import ColumnRoles, assign_roles
from pnsight.data.reading.count_missing import count_missing_outcomes
from pnsight.data.reading.count_profiles import check_exact_counts, count_profiles
from pnsight.data.reading.engine import Engine
from pnsight.data.reading.grouped_table import GroupedTable, count_table, keep_raw_labels
from pnsight.data.reading.levels import MISSING_CHOICES, Missing, handle_missing, set_levels
from pnsight.data.reading.numeric_columns import prepare_numbers
from pnsight.data.reading.open_table import Table, open_table
from pnsight.data.sampled_rows import SampledRows
from pnsight.data.sampling import sampling_design
from pnsight.data.schema import Codes, Schema
from pnsight.data.structure import EXPERIMENTAL
from pnsight.data.study import Study
from pnsight.data.two_by_two import TWO_BY_TWO
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
    survey_weight: str | None = None,
    cluster: str | None = None,
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
    survey_weight
        Column that says how many people each row stands for beside others (sampling weight). Weights are divided by
        their mean, and unequal ones make rows worth less (effective sample size). A table without it counts each row
        once. Not together with `weight`.
    cluster
        Column that says which rows belong together: a household, a hospital, a village. What rows are worth follows
        from how alike they are within clusters. A row without a value is a cluster of its own, and rows of a table
        without the column are independent.
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
    roles = assign_roles(opened, treatment, outcome, covariates, weight, assignment, survey_weight, cluster)
    asked = validate_bands(bands or {}, roles.covariates)
    tables, edges = prepare_numbers(opened, roles, asked)
    grouped = _group_tables(tables, roles, edges, progress)
    x_of, y_of = _binary_codes(grouped, roles, treated, success)
    complete, dropped = handle_missing(grouped, missing)
    check_both_arms(complete, x_of, treatment)
    schema, labelled = set_levels(complete, edges, merge_rare)
    counted = _sampled_study(schema, *count_profiles(schema, labelled, x_of, y_of))
    return replace(
        counted,
        treatment=treatment,
        outcome=outcome,
        dropped=dropped,
        ignored=roles.ignored,
        notes=(
            *roles.notes,
            *_coding_notes(grouped, roles),
            *_notes(schema, asked),
            *(counted.design.notes if counted.design else ()),
        ),
        treated=true_label(x_of),
        success=true_label(y_of),
        attrition=count_missing_outcomes(schema, grouped, x_of),
    )


def _sampled_study(schema: Schema, profiles: Codes, rows: Mapping[str, SampledRows]) -> Study:
    """The rows of each table as counts, and what they are worth."""
    structure = TWO_BY_TWO.only([EXPERIMENTAL, *rows])
    if not all(found.is_plain for found in rows.values()):
        rows = {role: found.in_order() for role, found in rows.items()}
    counts = np.zeros((len(profiles), structure.n_cells))
    for role, found in rows.items():
        columns = structure.columns_of(role)
        counts[:, columns] = found.counts(len(profiles), columns.stop - columns.start)
        check_exact_counts(role, counts[:, columns])
    return Study(schema, profiles, counts, structure, design=sampling_design(structure, profiles, rows))


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
    x_of = binary_codes(roles.treatment, "treatment", "treated", treated, {table.role: table.x for table in tables})
    y_of = binary_codes(roles.outcome, "outcome", "success", success, {table.role: table.y for table in tables})
    return x_of, y_of


def _coding_notes(tables: Sequence[GroupedTable], roles: ColumnRoles) -> Iterator[Note]:
    """That 0 and 1 in one table are false and true in the other."""
    for name, columns in (
        (roles.treatment, {table.role: table.x for table in tables}),
        (roles.outcome, {table.role: table.y for table in tables}),
    ):
        if len({label for column in columns.values() for label in column.present()}) > 2 and coded_differently(columns):
            yield Note("coded_differently", {"column": name})


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
