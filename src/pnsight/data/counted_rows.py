"""From rows with weights and clusters to a study: counts, what they are worth, and how many people they are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pnsight.data.sampled_rows import SampledRows
from pnsight.data.sampling import sampling_design
from pnsight.data.schema import Codes, Schema
from pnsight.data.structure import Structure
from pnsight.data.study import Study


def count_rows(schema: Schema, structure: Structure, profiles: Codes, rows: Mapping[str, SampledRows]) -> Study:
    """Count the rows of tables in the structure's cells and sets.

    Parameters
    ----------
    schema, structure
        The covariates, and the cells of the tables.
    profiles : shape (profiles, covariates)
        Codes of the profiles.
    rows
        By table, its rows; a table without rows may be left out.

    Returns
    -------
    The study. It keeps the rows where counts alone do not say how many people there are or how they were sampled.
    """
    plain = all(found.is_plain for found in rows.values())
    if not plain:
        rows = {table: found.in_order() for table, found in rows.items()}
    counts = np.zeros((len(profiles), structure.n_columns))
    for table, found in rows.items():
        columns = structure.all_columns_of(table)
        counts[:, columns] = found.counts(len(profiles), len(columns))
    design = sampling_design(structure, schema.positions(profiles), rows)
    people = plain and all(found.rows_are_people for found in rows.values())
    return Study(schema, profiles, counts, structure, design=design, sampled=None if people else rows)
