"""Rows with their weights and clusters as arrays of a stored model: what it takes to fit again without some of them.

Clusters are numbers; their names are not stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pnsight.data.sampled_rows import INDEPENDENT, SampledRows
from pnsight.data.structure import Structure

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]

_PREFIX = "rows."
_COLUMNS = tuple(column.name for column in fields(SampledRows))
_NUMBERS = {"profile": 0, "cell": 0, "cluster": INDEPENDENT}
"""Columns that hold numbers of something, and the least that they hold."""


def rows_out(tables: Mapping[str, SampledRows] | None) -> dict[str, npt.NDArray[Any]]:
    """Arrays of the rows of tables.

    Parameters
    ----------
    tables
        Rows by table, or None.

    Returns
    -------
    Arrays by name, none where there are no rows.
    """
    return {
        f"{_PREFIX}{table}.{name}": np.asarray(getattr(rows, name), np.int32 if name in _NUMBERS else np.float64)
        for table, rows in (tables or {}).items()
        for name in _COLUMNS
    }


def rows_in(arrays: Arrays, structure: Structure, profiles: int) -> dict[str, SampledRows] | None:
    """The rows that `rows_out` made arrays of.

    Parameters
    ----------
    arrays
        All arrays of a stored model.
    structure, profiles
        The cells of the tables, and how many profiles there are.

    Returns
    -------
    Rows by table; None where there are none.

    Raises
    ------
    ValueError
        If the arrays do not fit the study.
    """
    stored = {name: array for name, array in arrays.items() if name.startswith(_PREFIX)}
    tables = [table for table in structure.tables if f"{_PREFIX}{table}.profile" in stored]
    expected = {f"{_PREFIX}{table}.{name}" for table in tables for name in _COLUMNS}
    if expected != stored.keys():
        raise ValueError(f"the arrays of rows are {sorted(stored)}; expected {sorted(expected)}")
    return {table: _table_in(stored, table, structure, profiles) for table in tables} or None


def _table_in(stored: Arrays, table: str, structure: Structure, profiles: int) -> SampledRows:
    columns = {name: stored[f"{_PREFIX}{table}.{name}"] for name in _COLUMNS}
    cells = structure.columns_of(table)
    limits = {"profile": profiles, "cell": cells.stop - cells.start, "cluster": np.inf}
    entries = len(columns["profile"])
    for name, values in columns.items():
        fits = values >= _NUMBERS[name] if name in _NUMBERS else values > 0
        if values.shape != (entries,) or not (fits & (values < limits.get(name, np.inf))).all():
            raise ValueError(f"the array {_PREFIX}{table}.{name} does not fit the study")
    return SampledRows(
        **{name: values.astype(np.intp if name in _NUMBERS else float) for name, values in columns.items()}
    )
