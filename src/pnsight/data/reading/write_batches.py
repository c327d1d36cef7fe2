"""Write a table block by block to one Parquet or CSV file, which takes its place when it is complete."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Protocol

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from pnsight._files import replacing
from pnsight._foreign_text import as_spreadsheet_cell
from pnsight.errors import OutputError

FileKind = Literal["csv", "parquet"]

_QUOTED = re.compile(r'[",\r\n]')


class BatchWriter(Protocol):
    """What blocks are written to."""

    def write(self, table: Any) -> None:
        """Write a block, a `pyarrow.Table`."""


@contextmanager
def writing_batches(path: Path, kind: FileKind, schema: Any) -> Iterator[BatchWriter]:
    """Open a file for blocks of one schema.

    Parameters
    ----------
    path
        Where to write; a file that is there is replaced once the new one is complete.
    kind
        Its format.
    schema
        The Arrow schema of all blocks.

    Yields
    ------
    BatchWriter
        What to write to.
    """
    try:
        with replacing(path) as scratch:
            if kind == "parquet":
                recurring = [each.name for each in schema if not pa.types.is_floating(each.type)]
                with pyarrow.parquet.ParquetWriter(str(scratch), schema, use_dictionary=recurring) as writer:
                    yield writer
            else:
                with scratch.open("wb") as file:
                    yield _CsvWriter(file, schema)
    except OSError as error:
        raise OutputError(f"cannot write {str(path)!r}: {error.strerror or error}.") from None


class _CsvWriter:
    """CSV as `pnsight._text.csv_text` writes it: nothing for what is empty, and no text that becomes a formula."""

    def __init__(self, file: Any, schema: Any) -> None:
        self._file = file
        header = io.StringIO()
        csv.writer(header, lineterminator="\n").writerow(map(as_spreadsheet_cell, schema.names))
        file.write(header.getvalue().encode())

    def write(self, table: Any) -> None:
        columns = [_csv_cells(column) for column in table.itercolumns()]
        safe = pa.Table.from_arrays([cells for cells, _ in columns], names=table.schema.names)
        quoting = "needed" if any(quoted for _, quoted in columns) else "none"  # Arrow would quote every text
        options = pyarrow.csv.WriteOptions(include_header=False, quoting_style=quoting)
        pyarrow.csv.write_csv(safe, self._file, options)


def _csv_cells(column: Any) -> tuple[Any, bool]:
    """A column in which no text is empty or acts as a formula, and whether any has to be quoted.

    Each distinct text is looked at once.
    """
    if pa.types.is_nested(column.type) or _is_bytes(column.type):
        column = pa.array([None if value is None else _text(value) for value in column.to_pylist()], pa.string())
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column, False
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = array.dictionary_encode()
    texts = [as_spreadsheet_cell(text) or None for text in encoded.dictionary.to_pylist()]
    quoted = any(_QUOTED.search(text) for text in texts if text)
    return pa.array(texts, pa.string()).take(encoded.indices), quoted


def _is_bytes(kind: Any) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind))


def _text(value: Any) -> str:
    """Bytes as the text that they are, and what is no text in them as escapes; anything else in Python's words."""
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)
