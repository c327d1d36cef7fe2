"""Reading: an experimental and an observational table become a `Study` with one group-by each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pnsight._progress import Progress, no_progress
from pnsight._typing import BoolArray
from pnsight.data.counted_rows import count_rows
from pnsight.data.reading.binary_columns import coded_differently
from pnsight.data.reading.binning import Bands, validate_bands
from pnsight.data.reading.column_roles import ColumnRoles, assign_roles
from pnsight.data.reading.count_missing import count_missing_outcomes
from pnsight.data.reading.count_profiles import check_exact_counts, count_profiles
from pnsight.data.reading.declared import Declared, EventIs, MissingOutcome, declare
from pnsight.data.reading.engine import Engine
from pnsight.data.reading.grouped_table import GroupedTable, keep_raw_labels, weights_as_people
from pnsight.data.reading.levels import MISSING_CHOICES, Missing, handle_missing, set_levels
from pnsight.data.reading.long_tables import MOST_ROWS, count_or_draw, draw_where_rows_differ
from pnsight.data.reading.numeric_columns import prepare_numbers
from pnsight.data.reading.numeric_covariates import (
    AUTO,
    Numeric,
    check_no_numbered_people,
    numeric_scales,
    validate_numeric,
)
from pnsight.data.reading.open_table import Table, open_table, table_sources
from pnsight.data.reading.row_codes import RowCodes
from pnsight.data.reading.time_bands import TimeBands
from pnsight.data.sampled_rows import SampledRows
from pnsight.data.schema import Codes, Schema
from pnsight.data.structure import DROP, Structure
from pnsight.data.study import Study
from pnsight.errors import TableError, join_names
from pnsight.notes import Note


def read_study(
    experimental: Table | None = None,
    observational: Table | None = None,
    *,
    treatment: str,
    outcome: str | None = None,
    covariates: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    treated: Any = None,
    success: Any = None,
    bands: Bands | None = None,
    numeric: Numeric = AUTO,
    merge_rare: int | None = None,
    missing: Missing = "error",
    weight: str | None = None,
    assignment: str | None = None,
    survey_weight: str | None = None,
    cluster: str | None = None,
    weight_is_people: bool = False,
    arms: Sequence[Any] | None = None,
    outcomes: Sequence[Any] | None = None,
    unordered: bool = False,
    time: str | None = None,
    event: str | None = None,
    event_is: EventIs | None = None,
    horizons: Sequence[float] | None = None,
    assigned: str | None = None,
    missing_outcome: MissingOutcome = "drop",
    most_rows: int = MOST_ROWS,
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
        Columns with 0/1 or true/false, or with values that `arms` and `outcomes` name.
    treated, success
        The value of the treatment and outcome column that means true, where it is not 1 or true.
    covariates
        Columns that describe people; by default all other columns that both tables share. An empty list means none.
    exclude
        Columns that both tables share and that do not describe people, such as identifiers; in place of `covariates`.
    bands
        Numeric columns to cut into bands: by name, the edges, or the number of bands with equally many rows.
    numeric
        Covariates that are left as numbers: ``"auto"`` for columns of more than 20 distinct numbers that `bands` does
        not cut, ``"none"``, or names. A column of dates or times that is named becomes days since its earliest day.
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
    weight_is_people
        Whether each `weight` is a number of people, as in a table of counts. `pnsight.suppress` counts people by it;
        otherwise a line of a table is a person, whatever it weighs.
    arms, outcomes
        Names of all treatments, the reference first, and of all outcomes, the lowest first, where they are not two that
        are 0/1. The experiment may lack an arm that people choose.
    unordered
        Whether the order of `outcomes` means nothing.
    time, event, event_is, horizons
        In place of `outcome`: columns with the time of an event or, where it did not happen, the time until which a row
        was followed, and with whether it happened; whether it is ``"good"`` or ``"bad"``; and increasing times that cut
        time into intervals. That a row was followed no longer is taken to say nothing about it, given its covariates.
    assigned
        Column of the experimental table with the arm that each row was assigned, where `treatment` says what it took.
    missing_outcome
        What to do with a row without an outcome: ``"drop"`` leaves it out, ``"set"`` keeps it as one that may have any
        outcome, as others like it have, and ``"worst-case"`` as one that may have any at all, which widens the bounds.
    most_rows
        Rows of each table that are drawn where it has more and nearly every row differs from all others, as rows with
        numbers do. A table in which many rows are alike is counted whole, however long it is.
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
    _validate_options(missing, merge_rare, weight, weight_is_people)
    declared = declare(
        outcome=outcome,
        time=time,
        event=event,
        treated=treated,
        success=success,
        arms=arms,
        outcomes=outcomes,
        unordered=unordered,
        event_is=event_is,
        horizons=horizons,
        missing_outcome=missing_outcome,
    )
    shown = outcome or event or ""
    opened = _open_tables({"experimental": experimental, "observational": observational}, assignment, assigned)
    roles = assign_roles(
        opened, treatment, shown, covariates, weight, assignment, survey_weight, cluster, assigned, time, exclude
    )
    asked = validate_bands(bands or {}, roles.covariates)
    wanted = validate_numeric(numeric, roles.covariates, asked)
    tables, edges, whole = prepare_numbers(opened, roles, asked, declared.horizons)
    keys = [name for name in roles.covariates if name not in edges]
    drawn, sampling = draw_where_rows_differ(tables, keys, most_rows)
    grouped, drawing = _group_tables(drawn, roles, edges, most_rows, progress)
    if weight_is_people:
        grouped = [weights_as_people(table) for table in grouped]
    codes = RowCodes.of(grouped, roles, declared)
    complete, dropped = handle_missing(grouped, [_blank(codes, table) for table in grouped], missing)
    structure = codes.structure(complete)
    _check_assignment(assignment, structure)
    numbers = numeric_scales(complete, wanted, asked)
    schema, labelled = set_levels(complete, edges, merge_rare, numbers)
    check_no_numbered_people(complete, numbers, wanted)
    counted = _counted(schema, structure, *count_profiles(schema, labelled, codes, structure))
    attrition = count_missing_outcomes(schema, grouped, codes, structure)
    named = _name_whole_bands(schema, whole)  # by now labels are codes, which stay what they are
    return replace(
        counted,
        schema=named,
        treatment=treatment,
        outcome=time or shown,
        dropped=dropped,
        ignored=roles.ignored,
        notes=(
            *roles.notes,
            *sampling,
            *drawing,
            *_coding_notes(grouped, roles, declared),
            *_kept_notes(complete, codes),
            *_notes(named, asked),
            *(counted.design.notes if counted.design else ()),
        ),
        treated=codes.treated,
        success=codes.success,
        attrition=attrition,
        sources=table_sources({"experimental": experimental, "observational": observational}),
    )


def _name_whole_bands(schema: Schema, whole: Collection[str]) -> Schema:
    """Call the bands of these covariates by the whole numbers that they hold."""
    return Schema(tuple(each.with_whole_bands() if each.name in whole else each for each in schema.covariates))


def _blank(codes: RowCodes, table: GroupedTable) -> BoolArray:
    """Which groups of rows are left out, as they lack a treatment or an outcome that is needed."""
    missing = codes.without_arm(table)
    return missing | codes.without_outcome(table) if codes.declared.missing == DROP else missing


def _kept_notes(tables: Sequence[GroupedTable], codes: RowCodes) -> Iterator[Note]:
    """How many rows without an outcome are kept, and what is made of them; and of rows that were censored."""
    for table in tables:
        rows = float(table.rows[codes.without_outcome(table)].sum())
        if rows:
            yield Note("outcomes_kept", {"table": table.role, "rows": rows, "how": codes.declared.missing})
        if table.time is not None:
            short = TimeBands(codes.declared.horizons).event_intervals(table.time.place) < len(codes.declared.horizons)
            censored = (table.y.map_labels(codes.outcome_of) == 0) & short & (table.time.place >= 0)
            if censored.any():
                yield Note("rows_censored", {"table": table.role, "rows": float(table.rows[censored].sum())})


def _check_assignment(assignment: str | None, structure: Structure) -> None:
    if assignment is not None and not structure.is_two_by_two:
        raise TableError(
            f"--assignment {assignment} (assignment=) is the probability of being treated, which works with two arms "
            "and two outcomes only; leave it out, and compare people of the same probability with --covariates."
        )


def _counted(schema: Schema, structure: Structure, profiles: Codes, rows: Mapping[str, SampledRows]) -> Study:
    """The rows of each table as counts, which must be exact, and what they are worth."""
    for role, found in rows.items():
        check_exact_counts(role, found.counts(len(profiles), len(structure.all_columns_of(role))))
    return count_rows(schema, structure, profiles, rows)


def _validate_options(missing: Missing, merge_rare: int | None, weight: str | None, weight_is_people: bool) -> None:
    if missing not in MISSING_CHOICES:
        raise TableError(f"missing is {missing!r}; expected one of {join_names(map(repr, MISSING_CHOICES))}.")
    if merge_rare is not None and merge_rare < 1:
        raise TableError(f"merge_rare is {merge_rare}; expected a number of rows, at least 1.")
    if weight_is_people and weight is None:
        raise TableError(
            "the weight is said to be a number of people, but no weight is given; name its column with --weight "
            "(weight=), or leave --weight-is-people (weight_is_people=) out."
        )


def _open_tables(sources: Mapping[str, Table | None], assignment: str | None, assigned: str | None) -> list[Engine]:
    """The tables that are given, not yet read."""
    if all(source is None for source in sources.values()):
        raise TableError("neither an experimental nor an observational table is given; give one or both.")
    for name, column in (("assignment", assignment), ("assigned", assigned)):
        if sources["experimental"] is None and column is not None:
            raise TableError(
                f"{name} is column {column!r} of an experimental table, but none is given; leave one of them out."
            )
    return [open_table(source, role) for role, source in sources.items() if source is not None]


def _group_tables(
    tables: Sequence[Engine],
    roles: ColumnRoles,
    edges: Mapping[str, tuple[float, ...]],
    most_rows: int,
    progress: Progress,
) -> tuple[list[GroupedTable], list[Note]]:
    """Group each table by all columns that have a role, reporting progress in hundredths of a table."""
    grouped: list[GroupedTable] = []
    notes: list[Note] = []
    total = 100 * len(tables)
    for k, table in enumerate(tables):
        note, start = f"counting the {table.role} table", 100 * k

        def report(share: float, note: str = note, start: int = start) -> None:
            progress(start + int(100 * share), total, note)

        report(0)
        counted, drawing = count_or_draw(table, roles, edges, most_rows, report)
        grouped.append(counted)
        notes += drawing
        report(1)
    return keep_raw_labels(grouped), notes


def _coding_notes(tables: Sequence[GroupedTable], roles: ColumnRoles, declared: Declared) -> Iterator[Note]:
    """That 0 and 1 in one table are false and true in the other."""
    for name, names, columns in (
        (roles.treatment, declared.arms, {table.role: table.x for table in tables}),
        (roles.outcome, declared.outcomes, {table.role: table.y for table in tables}),
    ):
        if names is not None:
            continue
        if len({label for column in columns.values() for label in column.present()}) > 2 and coded_differently(columns):
            yield Note("coded_differently", {"column": name})


def _notes(schema: Schema, asked: Mapping[str, int | tuple[float, ...]]) -> list[Note]:
    """What a person should know about how the tables were counted."""
    notes: list[Note] = []
    if schema.numeric:
        named = [schema.names[j] for j in schema.numeric]
        origins = {schema.names[j]: each.origin for j, each in schema.numeric.items() if each.origin}
        notes.append(Note("numeric_covariates", {"covariates": named, "origins": origins}))
    for covariate in schema.covariates:
        wanted, found = asked.get(covariate.name), len(covariate.edges or ()) - 1
        if isinstance(wanted, int) and found < wanted:
            notes.append(Note("fewer_bands", {"covariate": covariate.name, "found": found, "wanted": wanted}))
        if covariate.rare_levels:
            notes.append(Note("rare_levels_merged", {"covariate": covariate.name, "levels": covariate.rare_levels}))
        if len(covariate.levels) == 1:
            notes.append(Note("single_level", {"covariate": covariate.name, "level": covariate.levels[0]}))
    return notes
