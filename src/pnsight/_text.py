"""Plain text: CSV, and numbers as text."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from pnsight._foreign_text import as_spreadsheet_cell

_ROUNDING = 1e-9  # sums of shares miss 1 by less
_MAX_WRITTEN = 10**24


def cell_text(value: Any) -> str:
    """Format one value: six decimals for probabilities, nothing for a missing value."""
    if value is None:
        return ""
    if isinstance(value, float):
        return _number_text(value)
    return str(value)


def _number_text(value: float) -> str:
    if math.isnan(value):
        return ""
    if math.isinf(value):
        return str(value)
    if value == int(value) and abs(value) >= 2:
        return str(int(value))
    return f"{value:.6f}" if value == 0 or abs(value) >= 1e-4 else f"{value:.5e}"


def count_text(rows: float) -> str:
    """Format a number of rows: whole, or to a tenth where weights are not whole."""
    return f"{rows:,.1f}".removesuffix(".0")


def large_number(number: int) -> str:
    """Format a whole number: in full, or as a power of ten where nobody would read it, as in ``about 10^954``."""
    return f"{number:,}" if number < _MAX_WRITTEN else f"about 10^{round(math.log10(number))}"


def csv_text(columns: Mapping[str, Sequence[Any]]) -> str:
    """Format columns as comma-separated values, with a line of names first; no text in it becomes a formula."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(map(as_spreadsheet_cell, columns))
    writer.writerows(map(as_spreadsheet_cell, row) for row in zip(*columns.values(), strict=True))
    return buffer.getvalue()


def in_utf8(text: str) -> bool:
    """Whether a text can be encoded in UTF-8: file names and arguments may hold bytes that are not valid text."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def number_of(number: int, what: str) -> str:
    """``1 row`` or ``2,000 rows``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def percent(share: float) -> str:
    """Format a proportion for a sentence: 0% and 100% only if it is exactly that, up to rounding errors."""
    if 0 < share < 0.005 or 0.995 < share < 1 - _ROUNDING:
        return "less than 1%" if share < 0.5 else "more than 99%"
    return f"{share:.0%}"


def share_text(share: float) -> str:
    """Format a proportion for a table, to a tenth of a percent: 0.0% and 100.0% only if it is exactly that."""
    if 0 < share < 0.0005 or 0.9995 <= share < 1 - _ROUNDING:
        return "<0.1%" if share < 0.5 else ">99.9%"
    return f"{share:.1%}"


def as_records(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Convert lists by column name to one dictionary for each row."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
