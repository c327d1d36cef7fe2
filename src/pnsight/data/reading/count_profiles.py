"""Counting: the groups of all tables as distinct profiles with counts by treatment and outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.profiles import distinct_profiles
from pnsight.data.reading.grouped_table import GroupedTable
from pnsight.data.schema import Codes, Schema
from pnsight.data.study import MAX_ROWS
from pnsight.data.two_by_two import cell_counts
from pnsight.errors import TableError

MIN_ROWS = 1e-12
"""Smallest count above zero: less is lost in sums, and its square and inverse in single precision."""


def count_profiles(
    schema: Schema, tables: Sequence[GroupedTable], x_of: Mapping[str, int], y_of: Mapping[str, int]
) -> tuple[Codes, dict[str, FloatArray]]:
    """Find the distinct profiles of all tables, and count each table's rows in them.

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
    counts : dict of arrays of shape (profiles, 4)
        By the role of the table, its rows in the order of `law.COUNT_CELLS`.
    """
    coded = [_codes(schema, table) for table in tables]
    profiles, place = distinct_profiles(schema, np.concatenate(coded))
    places = np.split(place, np.cumsum([len(codes) for codes in coded])[:-1])
    counts = {}
    for table, at in zip(tables, places, strict=True):
        x = table.x.map_labels(x_of)
        found = cell_counts(at, len(profiles), x, table.y.map_labels(y_of), table.reweighted_rows(x))
        _check_exact_counts(table.role, found)
        counts[table.role] = found
    return profiles, counts


def _codes(schema: Schema, table: GroupedTable) -> Codes:
    """Codes of each group's levels, shape (groups, covariates)."""
    codes = np.zeros((len(table.rows), len(schema.names)), dtype=np.int32)
    for j, covariate in enumerate(schema.covariates):
        order = {level: code for code, level in enumerate(covariate.levels)}
        codes[:, j] = table.covariates[covariate.name].map_labels(order)
    return codes


def _check_exact_counts(role: str, counts: FloatArray) -> None:
    """Check that no weight or probability of assignment makes counts too large or too small to be exact."""
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
