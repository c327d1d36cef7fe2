"""From any table to a `Study`, with one group-by a table, done where the data live."""

from __future__ import annotations

from pnsight.data.reading.count_files import read_counts, write_counts
from pnsight.data.reading.open_table import read_columns
from pnsight.data.reading.propose import ProposedReading, propose_reading
from pnsight.data.reading.read import read_study
from pnsight.data.reading.sql_engine import sql
from pnsight.data.reading.write import write_parquet, write_tables

__all__ = [
    "ProposedReading",
    "propose_reading",
    "read_columns",
    "read_counts",
    "read_study",
    "sql",
    "write_counts",
    "write_parquet",
    "write_tables",
]
