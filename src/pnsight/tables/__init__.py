"""From any table to a `Study`, with one group-by a table, done where the data live."""

from __future__ import annotations

from pnsight.tables.count import read_study
from pnsight.tables.databases import sql
from pnsight.tables.read import read_columns
from pnsight.tables.uneven import concerns
from pnsight.tables.write import write_parquet

__all__ = ["concerns", "read_columns", "read_study", "sql", "write_parquet"]
