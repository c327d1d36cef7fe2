"""Counting: the groups of all tables as distinct profiles with counts by treatment and outcome."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.profiles import distinct_profiles
from pnsight.data.reading.grouped_table import GroupedTable
from pnsight.data.reading.numeric_covariates import level_positions, number_codes
from pnsight.data.reading.row_codes import RowCodes
from pnsight.data.sampled_rows import SampledRows, row_weights
from pnsight.data.schema import Codes, Schema
from pnsight.data.structure import Structure
from pnsight.data.study import MAX_ROWS
from pnsight.errors import TableError

MIN_ROWS = 1e-12
"""Smallest count above zero: less is lost in sums, and its square and inverse in single precision."""


def count_profiles(
    schema: Schema, tables: Sequence[GroupedTable], row_codes: RowCodes, structure: Structure
) -> tuple[Codes, dict[str, SampledRows]]:
    """Find the distinct profiles of all tables, and the rows of each table in them.

    Parameters
    ----------
    schema
        The covariates, with all levels that the tables hold.
    tables
        The tables after their group-by, with nothing missing.
    row_codes
        What each row shows.
    structure
        The cells and sets of the tables.

    Returns
    -------
    profiles : shape (profiles, covariates)
        Codes of the distinct profiles.
    rows : dict of SampledRows
        By the role of the table, its rows by profile and cell or set.
    """
    coded = [_codes(schema, table) for table in tables]
    profiles, place = distinct_profiles(schema, np.concatenate(coded))
    places = np.split(place, np.cumsum([len(codes) for codes in coded])[:-1])
    numbers = cluster_numbers(tables)
    rows = {}
    for table, at in zip(tables, places, strict=True):
        group, place, part = row_codes.entries(table, structure)
        survey, propensity = table.survey_weights, table.propensities(row_codes.randomised(table))
        weights, clusters = row_weights(survey, propensity, table.rows), table.cluster_of(numbers)
        rows[table.role] = SampledRows(
            at[group],
            place,
            table.rows[group] * part,
            weights[group],
            clusters[group],
            table.people[group] * part,
            survey[group],
            propensity[group],
        )
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
    """Codes of each group's levels and numbers, shape (groups, covariates)."""
    codes = np.zeros((len(table.rows), len(schema.names)), dtype=schema.code_type)
    for j, covariate in enumerate(schema.covariates):
        column = table.covariates[covariate.name]
        coded = level_positions if covariate.number is None else number_codes
        codes[:, j] = coded(covariate, column)
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
