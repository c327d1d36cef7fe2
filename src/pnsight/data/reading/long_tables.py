"""Long tables: of one with more distinct rows than can be counted, a bounded number of rows is drawn where it lives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pnsight.data.reading.column_roles import ColumnRoles
from pnsight.data.reading.engine import MAX_GROUPS, Engine, ReportShare
from pnsight.data.reading.grouped_table import GroupedTable, count_table
from pnsight.errors import LimitError, TableError
from pnsight.notes import Note

MOST_ROWS = 500_000
"""Rows of each table that are drawn where it has too many distinct ones."""


def draw_where_rows_differ(tables: Sequence[Engine], keys: Sequence[str], most: int) -> tuple[list[Engine], list[Note]]:
    """Draw rows of the tables in which nearly every row differs from all others, before they are counted.

    Parameters
    ----------
    tables
        The tables.
    keys
        Columns that tell rows apart.
    most
        About how many rows of each table to draw at most.

    Returns
    -------
    tables : list of Engine
        Those of which nothing is drawn as they are.
    notes : list of Note
        Which share was drawn of the others.
    """
    if most < 1:
        raise TableError(f"most_rows is {most}; expected a number of rows, at least 1.")
    found: list[Engine] = []
    notes = []
    for table in tables:
        sampled = table.sampled(keys, most) if keys else None
        found.append(table if sampled is None else sampled[0])
        if sampled is not None:
            notes.append(Note("table_sampled", {"table": table.role, "drawn": min(most, sampled[1]), "of": sampled[1]}))
    return found, notes


def count_or_draw(
    table: Engine,
    roles: ColumnRoles,
    edges: Mapping[str, tuple[float, ...]],
    most: int,
    report: ReportShare,
    most_groups: int = MAX_GROUPS,
) -> tuple[GroupedTable, list[Note]]:
    """Count a table; where it has too many groups, draw rows of it and count those.

    Clusters are drawn whole, and without clusters people with the same covariates are drawn together, where the engine
    has a hash of values.

    Parameters
    ----------
    table
        The table, with its numeric columns as numbers.
    roles
        Roles of the columns.
    edges
        By covariate, the edges of its bands.
    most
        About how many rows to draw at most.
    report
        Called with the share of the table that has been read.
    most_groups
        Groups at which counting is given up.

    Returns
    -------
    grouped : GroupedTable
    notes : list of Note
        Which share was drawn, if any.

    Raises
    ------
    LimitError
        If there are too many groups, and the engine cannot draw rows.
    """
    try:
        return count_table(table, roles, edges, report, most_groups), []
    except LimitError:
        cluster = roles.cluster[table.role]
        keys = [*roles.covariates, *roles.design_columns(table.role)] if cluster is None else [cluster]
        most = min(most, most_groups // 2)
        sampled = table.sampled(keys, most, alike=True)
        if sampled is None:
            raise
    drawn, rows = sampled
    values = {"table": table.role, "drawn": min(most, rows), "of": rows, "groups": most_groups}
    return count_table(drawn, roles, edges, report, most_groups), [Note("groups_sampled", values)]
