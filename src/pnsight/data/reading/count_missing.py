"""Rows that have a treatment but no outcome, counted before they are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pnsight._typing import BoolArray, IndexArray
from pnsight.data.attrition import Arms, LevelAttrition, TableAttrition
from pnsight.data.design_effect import row_worth
from pnsight.data.reading.count_profiles import cluster_numbers
from pnsight.data.reading.grouped_table import GroupedTable
from pnsight.data.reading.numeric_covariates import level_positions
from pnsight.data.reading.row_codes import RowCodes
from pnsight.data.sampled_rows import SampledRows, sum_by
from pnsight.data.schema import MISSING, OTHER, Covariate, Schema
from pnsight.data.structure import Structure


def count_missing_outcomes(
    schema: Schema, tables: Sequence[GroupedTable], codes: RowCodes, structure: Structure
) -> tuple[TableAttrition, ...]:
    """Count the rows of each arm, and those of them without an outcome.

    Parameters
    ----------
    schema
        The covariates with their levels.
    tables
        The tables after their group-by, with whatever is missing.
    codes
        What each row shows.
    structure
        Whose arms they are.

    Returns
    -------
    tuple of TableAttrition
        One a table.
    """
    numbers = cluster_numbers(tables)
    return tuple(
        _attrition(schema, table.take(~codes.without_arm(table)), codes, structure, numbers) for table in tables
    )


def _attrition(
    schema: Schema, table: GroupedTable, codes: RowCodes, structure: Structure, numbers: Mapping[str, int]
) -> TableAttrition:
    arm, missing = codes.randomised(table), codes.without_outcome(table)
    arms = len(codes.arms)
    if structure.is_two_by_two:
        arm = 1 - arm  # the treated first, as its groups are
    rows, lost = _by_arm(table, arm, arms), _by_arm(table, arm, arms, missing)
    if not any(lost):
        return TableAttrition(table.role, rows, lost, (1.0,) * arms)
    once, cluster, cell = np.ones(len(arm)), table.cluster_of(numbers), missing.astype(np.intp)
    sampled = SampledRows(np.zeros_like(arm), cell, table.rows, once, cluster, table.people, once, once / 2)
    return TableAttrition(
        table.role,
        rows,
        lost,
        tuple(_arm_worth(sampled, arm == each) for each in range(arms)),
        row_worth(sampled, sampled.cell, arm),
        tuple(_by_level(covariate, table, arm, arms, missing) for covariate in schema.covariates),
    )


def _by_arm(table: GroupedTable, arm: IndexArray, arms: int, chosen: BoolArray | None = None) -> Arms:
    """Rows of each arm, of all groups or of those chosen."""
    chosen = np.ones(len(arm), dtype=bool) if chosen is None else chosen
    return tuple(sum_by(arm[chosen], table.rows[chosen], arms).tolist())


def _arm_worth(rows: SampledRows, chosen: BoolArray) -> float:
    some = rows.take(chosen)
    return row_worth(some, some.cell) if chosen.any() else 1.0


def _by_level(
    covariate: Covariate, table: GroupedTable, arm: IndexArray, arms: int, missing: BoolArray
) -> LevelAttrition:
    """Rows by level; a level that only rows without an outcome have is none of the study's."""
    merged = dict.fromkeys(covariate.rare_levels, covariate.levels.index(OTHER) if OTHER in covariate.levels else -1)
    code = level_positions(covariate, table.covariates[covariate.name].rename_labels({None: MISSING}), merged)
    size = len(covariate.levels)

    def counted(chosen: BoolArray) -> tuple[Arms, ...]:
        found = sum_by(arms * code[chosen] + arm[chosen], table.rows[chosen], arms * size).reshape(size, arms).tolist()
        return tuple(map(tuple, found))

    known = code >= 0
    return LevelAttrition(covariate.name, counted(known), counted(known & missing))
