"""Counting: the groups of all tables as distinct profiles with counts by treatment and outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.profiles import distinct_profiles
from pnsight.data.reading.grouped_table import GroupedTable
from pnsight.data.sampled_rows import SampledRows
from pnsight.data.schema import Codes, Schema
from pnsight.data.study import MAX_ROWS
from pnsight.data.two_by_two import cell_of
from pnsight.errors import TableError

MIN_ROWS = 1e-12
"""Smallest count above zero: less is lost in sums, and its square and inverse in single precision."""


def count_profiles(
    schema: Schema, tables: Sequence[GroupedTable], x_of: Mapping[str, int], y_of: Mapping[str, int]
) -> tuple[Codes, dict[str, SampledRows]]:
    """Find the distinct profiles of all tables, and the rows of each table in them.

    Parameters
    ----------
    schema
        The covariates, with all levels that the tables hold.
    tables
        The tables after their group-by, with nothing missing.
    x_of, y_of
        1 or 0 by label of the treatment and of the outcome.

    Returns
    -------
    profiles : shape (profiles, covariates)
        Codes of the distinct profiles.
    rows : dict of SampledRows
        By the role of the table, its rows by profile and cell.
    """
    coded = [_codes(schema, table) for table in tables]
    profiles, place = distinct_profiles(schema, np.concatenate(coded))
    places = np.split(place, np.cumsum([len(codes) for codes in coded])[:-1])
    numbers = cluster_numbers(tables)
    rows = {}
    for table, at in zip(tables, places, strict=True):
        x = table.x.map_labels(x_of)
        cell = cell_of(x, table.y.map_labels(y_of))
        rows[table.role] = SampledRows(at, cell, table.rows, table.row_weights(x), table.cluster_of(numbers))
    return profiles, rows


def cluster_numbers(tables: Sequence[GroupedTable]) -> dict[str, int]:
    """Number the clusters of all tables together; a cluster of the same name is the same in all.

    Parameters
    ----------
    tables
        The tables after their group-by.

    Returns
    -------
    dict
        The number of each cluster by its label.
    """
    found = {label for table in tables if table.cluster is not None for label in table.cluster.present()}
    return {label: number for number, label in enumerate(sorted(found))}


def _codes(schema: Schema, table: GroupedTable) -> Codes:
    """Codes of each group's levels, shape (groups, covariates)."""
    codes = np.zeros((len(table.rows), len(schema.names)), dtype=np.int32)
    for j, covariate in enumerate(schema.covariates):
        order = {level: code for code, level in enumerate(covariate.levels)}
        codes[:, j] = table.covariates[covariate.name].map_labels(order)
    return codes


def check_exact_counts(role: str, counts: FloatArray) -> None:
    """Check that no weight or probability of assignment makes counts too large or too small to be exact.

    Parameters
    ----------
    role
        Role of the table.
    counts : shape (profiles, cells)
        Its counts.

    Raises
    ------
    TableError
        If they add up to more than `MAX_ROWS`, or one is positive and below `MIN_ROWS`.
    """
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
