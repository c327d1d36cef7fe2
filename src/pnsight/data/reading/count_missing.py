"""Rows that have a treatment but no outcome, counted before they are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pnsight._typing import BoolArray, IndexArray
from pnsight.data.attrition import Arms, LevelAttrition, TableAttrition
from pnsight.data.design_effect import row_worth
from pnsight.data.reading.count_profiles import cluster_numbers
from pnsight.data.reading.grouped_table import GroupedTable
from pnsight.data.sampled_rows import SampledRows, sum_by
from pnsight.data.schema import MISSING, OTHER, Covariate, Schema


def count_missing_outcomes(
    schema: Schema, tables: Sequence[GroupedTable], x_of: Mapping[str, int]
) -> tuple[TableAttrition, ...]:
    """Count the rows of either arm, and those of them without an outcome.

    Parameters
    ----------
    schema
        The covariates with their levels.
    tables
        The tables after their group-by, with whatever is missing.
    x_of
        1 or 0 by label of the treatment.

    Returns
    -------
    tuple of TableAttrition
        One a table.
    """
    numbers = cluster_numbers(tables)
    return tuple(_attrition(schema, table.take(~table.x.missing()), x_of, numbers) for table in tables)


def _attrition(
    schema: Schema, table: GroupedTable, x_of: Mapping[str, int], numbers: Mapping[str, int]
) -> TableAttrition:
    arm, missing = 1 - table.x.map_labels(x_of), table.y.missing()
    rows, lost = _by_arm(table, arm), _by_arm(table, arm, missing)
    if not any(lost):
        return TableAttrition(table.role, rows, lost)
    sampled = SampledRows(
        np.zeros_like(arm), missing.astype(np.intp), table.rows, np.ones(len(arm)), table.cluster_of(numbers)
    )
    return TableAttrition(
        table.role,
        rows,
        lost,
        (_arm_worth(sampled, arm == 0), _arm_worth(sampled, arm == 1)),
        row_worth(sampled, sampled.cell, arm),
        tuple(_by_level(covariate, table, arm, missing) for covariate in schema.covariates),
    )


def _by_arm(table: GroupedTable, arm: IndexArray, chosen: BoolArray | None = None) -> Arms:
    """Rows of either arm, of all groups or of those chosen."""
    chosen = np.ones(len(arm), dtype=bool) if chosen is None else chosen
    treated, untreated = sum_by(arm[chosen], table.rows[chosen], 2).tolist()
    return treated, untreated


def _arm_worth(rows: SampledRows, chosen: BoolArray) -> float:
    some = rows.take(chosen)
    return row_worth(some, some.cell) if chosen.any() else 1.0


def _by_level(covariate: Covariate, table: GroupedTable, arm: IndexArray, missing: BoolArray) -> LevelAttrition:
    """Rows by level; a level that only rows without an outcome have is none of the study's."""
    levels = {level: code for code, level in enumerate(covariate.levels)}
    merged = dict.fromkeys(covariate.rare_levels, levels.get(OTHER, -1))
    code = table.covariates[covariate.name].rename_labels({None: MISSING}).map_labels({**merged, **levels})
    size = len(covariate.levels)

    def counted(chosen: BoolArray) -> tuple[Arms, ...]:
        found = sum_by(2 * code[chosen] + arm[chosen], table.rows[chosen], 2 * size).reshape(size, 2).tolist()
        return tuple((treated, untreated) for treated, untreated in found)

    known = code >= 0
    return LevelAttrition(covariate.name, counted(known), counted(known & missing))
