"""What counting asks of a table, whatever engine holds it: three small questions, answered where the data live."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy.typing as npt

from pnsight.data.law import FloatArray
from pnsight.errors import TableError

MAX_GROUPS = 4_000_000
"""Distinct groups that are fetched from a table; with more of them nearly every row would be alone."""

HISTOGRAM_BINS = 4096
"""Cells that a range of numbers is cut into to find its quantiles."""

ReportShare: TypeAlias = Callable[[float], None]
"""Called with the share of a table that has been read, from 0 to 1."""


@dataclass(frozen=True)
class ColumnRange:
    """Smallest and largest number of a column, None if it has none, and how many rows have no number."""

    low: float | None
    high: float | None
    missing: int

    @classmethod
    def of(cls, said: Sequence[Any], rows: int) -> ColumnRange:
        """From what an engine says of a column of that many rows: smallest, largest, and how many numbers there are."""
        low, high, present = said
        if not present:
            return cls(None, None, rows)
        return cls(float(low), float(high), rows - int(present))


@dataclass(frozen=True)
class Histogram:
    """Neighbouring numbers of a column taken together; arrays of shape (cells,), in no order.

    `low` and `high` are the smallest and largest number in a cell and `rows` is its weight.
    """

    low: FloatArray
    high: FloatArray
    rows: FloatArray


@dataclass(frozen=True)
class GroupBy:
    """How to group the rows of a table, and what to add up in each group.

    Attributes
    ----------
    keys
        Columns, each distinct combination of whose values is a group.
    edges
        For keys to be cut into bands, the edges; the value is then the number of the band, -1 for no number.
    weight
        Column that says for how many rows each row stands; one if None.
    assignment
        Column with the probability of being treated, by which rows are to be reweighted.
    """

    keys: Sequence[str]
    edges: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    weight: str | None = None
    assignment: str | None = None


@dataclass(frozen=True)
class GroupByResult:
    """The groups of a table.

    Attributes
    ----------
    values
        By key, the value of each group.
    rows : shape (groups,)
        The sum of the weights.
    treated, untreated : shape (groups,), or None
        Sums of weight / p and of weight / (1 - p), where p is the probability of being treated.
    """

    values: Mapping[str, npt.NDArray[Any]]
    rows: FloatArray
    treated: FloatArray | None = None
    untreated: FloatArray | None = None


class Engine(Protocol):
    """A table that can be counted."""

    @property
    def role(self) -> str:
        """What messages call it: experimental, observational, ..."""

    @property
    def names(self) -> Sequence[str]:
        """Its columns."""

    def with_numeric(self, columns: Sequence[str]) -> Engine:
        """The same table with these columns as numbers; refuses what is no number."""

    def column_ranges(self, columns: Sequence[str]) -> dict[str, ColumnRange]:
        """The range of each of these numeric columns."""

    def histogram(self, column: str, low: float, high: float, weight: str | None) -> Histogram:
        """Count the numbers from `low` to `high` in bins of equal width, and those on either side in one bin each."""

    def group_by(self, grouping: GroupBy, report: ReportShare) -> GroupByResult:
        """Every distinct combination of the keys, at most `MAX_GROUPS` of them."""

    def columns(self) -> dict[str, list[Any]]:
        """The whole table, if it is small."""


def not_numeric_error(column: str, role: str, found: str) -> TableError:
    """The complaint about a column that should hold numbers."""
    return TableError(
        f"column {column!r} of the {role} table holds {found}; expected numbers, and nothing where a number is missing."
    )


def check_unique_names(names: Sequence[str], table: str) -> None:
    """Two columns of one name, also but for case, cannot be told apart."""
    seen: dict[str, str] = {}
    for name in names:
        plain = name.strip().casefold()
        if plain in seen:
            written = "" if name == seen[plain] else f", also written {name!r}: case and blanks do not tell them apart"
            raise TableError(
                f"{table} has more than one column called {seen[plain]!r}{written}; give each a name of its own."
            )
        seen[plain] = name


def error_summary(error: Exception) -> str:
    """The telling lines of an engine's message, as one."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:3])[:300]


def unreadable_error(role: str, error: Exception) -> TableError:
    """The complaint about a table whose engine gave up."""
    return TableError(f"the {role} table cannot be read: {error_summary(error)}")
