"""Rows of a database as Arrow record batches, whose types the first block settles."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pnsight.errors import TableError


@dataclass
class ArrowBlocks:
    """Converts blocks of rows, one after another, to record batches of one schema.

    Parameters
    ----------
    role, names
        Role of the table, for messages, and its columns.
    """

    role: str
    names: Sequence[str]
    _types: list[Any] = field(default_factory=list, init=False)

    def convert(self, rows: Sequence[Sequence[Any]]) -> Any:
        """Convert a block.

        Parameters
        ----------
        rows
            Tuples of values.

        Returns
        -------
        pyarrow.RecordBatch
            The same, by column.

        Raises
        ------
        TableError
            If a column holds values of another kind than in the first block.
        """
        import pyarrow as pa  # counting does without it

        columns = list(zip(*rows, strict=True))
        if not self._types:
            self._types = [_arrow_type(pa, column) for column in columns]
        arrays = [self._array(pa, *given) for given in zip(self.names, columns, self._types, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, names=list(self.names))

    def _array(self, pa: Any, name: str, values: Sequence[Any], kind: Any) -> Any:
        try:
            if kind == pa.string():
                return pa.array([None if value is None else str(value) for value in values], kind)
            if kind == pa.float64():
                return pa.array([None if value is None else float(value) for value in values], kind)
            return pa.array(values, kind)
        except (pa.ArrowInvalid, TypeError, ValueError, OverflowError):
            odd = next(repr(value) for value in values if value is not None and not isinstance(value, int | float))
            raise TableError(
                f"column {name!r} of the {self.role} table holds {odd} where earlier rows hold values of type {kind}; "
                "give a query that makes one type of it, such as CAST(... AS TEXT)."
            ) from None


def _arrow_type(pa: Any, values: Sequence[Any]) -> Any:
    """The type that the values of a block share; text for anything unusual."""
    kinds = {type(value) for value in values if value is not None}
    for known, kind in (
        ({bool}, pa.bool_()),
        ({int}, pa.int64()),
        ({int, float, Decimal}, pa.float64()),
        ({datetime.date}, pa.date32()),
    ):
        if kinds and kinds <= known:
            return kind
    return pa.string()
