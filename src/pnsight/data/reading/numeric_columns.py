"""Numeric columns: weights and probabilities of assignment in their range, and the edges of bands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pnsight.data.reading.binning import band_edges
from pnsight.data.reading.column_roles import ColumnRoles
from pnsight.data.reading.engine import ColumnRange, Engine
from pnsight.data.reading.time_bands import TimeBands
from pnsight.data.study import MAX_ROWS
from pnsight.errors import TableError


def prepare_numbers(
    tables: Sequence[Engine],
    roles: ColumnRoles,
    bands: Mapping[str, int | tuple[float, ...]],
    horizons: Sequence[float] = (),
) -> tuple[list[Engine], dict[str, tuple[float, ...]], set[str]]:
    """Convert the columns that must hold numbers, check their ranges, and find the edges of the bands.

    Parameters
    ----------
    tables
        The tables, not yet counted.
    roles
        Which columns weigh the rows.
    bands
        By covariate, the edges of its bands, or how many bands to make.
    horizons
        Of times to an event, what cuts them into intervals.

    Returns
    -------
    tables : list of Engine
        The same tables with those columns as numbers.
    edges : dict
        By covariate, the edges of its bands; and those of times.
    whole : set of str
        Covariates with bands that hold nothing but whole numbers, in all tables.
    """
    numbers = {table.role: [*bands, *roles.numeric_columns(table.role)] for table in tables}
    numeric = [table.with_numeric(numbers[table.role]) for table in tables]
    ranges = {table.role: _ranges(table, numbers[table.role], roles) for table in numeric}
    edges = {
        name: band_edges(name, asked, numeric, {role: found[name] for role, found in ranges.items()}, roles.weight)
        for name, asked in bands.items()
    }
    if roles.time is not None:
        _check_times(roles.time, {role: found[roles.time] for role, found in ranges.items()}, horizons)
        edges[roles.time] = TimeBands(tuple(horizons)).edges
    whole = {name for name in bands if all(_holds_whole(found[name]) for found in ranges.values())}
    return numeric, edges, whole


def _holds_whole(found: ColumnRange) -> bool:
    return found.whole or found.low is None


def _check_times(name: str, ranges: Mapping[str, ColumnRange], horizons: Sequence[float]) -> None:
    """Times are not negative, and somebody was followed to the last horizon."""
    for role, found in ranges.items():
        if found.low is not None and found.low < 0:
            raise TableError(
                f"time column {name!r} of the {role} table holds {found.low:.10g}; expected times from 0, since the "
                "treatment began or was assigned."
            )
        longest = -1.0 if found.high is None else found.high
        if longest < horizons[-1]:
            raise TableError(
                f"the last horizon is {horizons[-1]:g}, but in the {role} table nobody was followed for longer than "
                f"{max(longest, 0.0):.10g} (column {name!r}); use --horizons (horizons=) within the follow-up."
            )


def _ranges(table: Engine, numbers: list[str], roles: ColumnRoles) -> dict[str, ColumnRange]:
    """Ranges of the numeric columns, once weights and probabilities are found to be valid in every row."""
    if not numbers:
        return {}
    ranges = table.column_ranges(numbers)
    weights = {"weight": roles.weight[table.role], "survey weight": roles.survey_weight[table.role]}
    for part, weight in weights.items():
        if weight is not None:
            expected = f"zero or more, at most {MAX_ROWS:,}"
            _check_range(table, weight, part, expected, ranges[weight], lambda number: 0 <= number <= MAX_ROWS)
    assignment = roles.assignment_of(table.role)
    if assignment is not None:
        expected = "a probability of being treated, above 0 and below 1"
        _check_range(table, assignment, "assignment", expected, ranges[assignment], lambda number: 0 < number < 1)
    return ranges


def _check_range(
    table: Engine, name: str, part: str, expected: str, found: ColumnRange, valid: Callable[[float], bool]
) -> None:
    column = f"{part} column {name!r} of the {table.role} table"
    if found.missing:
        raise TableError(f"{column} has no number in {found.missing:,} rows; expected {expected} in every row.")
    for number in (found.low, found.high):
        if number is not None and not valid(number):
            raise TableError(f"{column} holds {number:.10g}; expected {expected}.")
