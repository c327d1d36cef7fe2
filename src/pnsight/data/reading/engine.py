"""Engine: what reading asks of a table, whichever library or database holds it and computes the answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy.typing as npt

from pnsight._redact import redact_message
from pnsight._typing import FloatArray
from pnsight.errors import TableError

MAX_GROUPS = 4_000_000
"""Distinct groups that are fetched from a table; with more of them nearly every row would be its own group."""

PEEKED_ROWS = 20_000
"""First rows of a table that show whether nearly every row differs from all others."""

MOSTLY_DISTINCT = 0.5
"""Share of them, counting each combination of values once, from which on a table is drawn from and not counted."""

SAMPLE_SEED = 19
"""What rows are drawn with, so that they are always the same ones."""

HISTOGRAM_BINS = 4096
"""Bins that a range of numbers is cut into to find its quantiles."""

_MAX_READ = 5_000  # characters of an error message; some quote a whole line of a file

ReportShare: TypeAlias = Callable[[float], None]
"""Called with the share of a table that has been read, from 0 to 1."""


@dataclass(frozen=True)
class ColumnRange:
    """Range of a numeric column.

    Attributes
    ----------
    low, high
        Its smallest and largest number, None if it has none.
    missing
        Rows without a number.
    whole
        Whether it has numbers, all of them whole.
    """

    low: float | None
    high: float | None
    missing: int
    whole: bool = False

    @classmethod
    def from_summary(cls, summary: Sequence[Any], rows: int) -> ColumnRange:
        """Make a range from the minimum, the maximum and the number of values of a column, and how whole they are.

        Parameters
        ----------
        summary
            Minimum, maximum, number of values, and how far from a whole number the farthest is, as the engine gives
            them.
        rows
            Rows of the table.

        Returns
        -------
        ColumnRange
            The range.
        """
        low, high, present, apart = summary
        if not present:
            return cls(None, None, rows)
        return cls(float(low), float(high), rows - int(present), float(apart) == 0)


@dataclass(frozen=True)
class Histogram:
    """Histogram of a numeric column; bins with numbers only, in no order.

    Attributes
    ----------
    low, high : shape (bins,)
        Smallest and largest number in each bin.
    rows : shape (bins,)
        Sum of the weights in each bin.
    """

    low: FloatArray
    high: FloatArray
    rows: FloatArray


@dataclass(frozen=True)
class GroupBy:
    """A group-by: how to group the rows of a table, and what to add up in each group.

    Attributes
    ----------
    keys
        Columns, each distinct combination of whose values is a group.
    edges
        For keys to be cut into bands, the edges; the value is then the number of the band, -1 for a missing number.
    weight
        Column that says for how many rows each row stands; one if None.
    """

    keys: Sequence[str]
    edges: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    weight: str | None = None


@dataclass(frozen=True)
class GroupByResult:
    """The groups that a group-by finds in a table.

    Attributes
    ----------
    values
        By key, the value of each group.
    rows : shape (groups,)
        The sum of the weights.
    lines : shape (groups,)
        How many lines of the table that is, those of weight zero left out.
    """

    values: Mapping[str, npt.NDArray[Any]]
    rows: FloatArray
    lines: FloatArray


def nearly_all_differ(first: Iterable[Iterable[Any]], most: int) -> bool:
    """Whether a table is too long, and its rows too different, to be counted as it is.

    Parameters
    ----------
    first
        By column, values of the first `PEEKED_ROWS` rows.
    most
        About how many rows may be counted.

    Returns
    -------
    bool
        False where that many rows were not found, or where many of them are alike.
    """
    rows = list(zip(*first, strict=True))
    return len(rows) >= min(most, PEEKED_ROWS) and len(set(rows)) >= MOSTLY_DISTINCT * len(rows)


class Engine(Protocol):
    """A table behind an engine that can summarise it; implement this to read tables of a new kind."""

    @property
    def role(self) -> str:
        """Role of the table, as messages call it: experimental, observational, ..."""

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns."""

    def with_numeric(self, columns: Sequence[str]) -> Engine:
        """Convert columns to numbers.

        Parameters
        ----------
        columns
            Names of columns.

        Returns
        -------
        Engine
            The same table with these columns as numbers; missing values stay missing.

        Raises
        ------
        TableError
            If a value is not a number.
        """

    def column_ranges(self, columns: Sequence[str]) -> dict[str, ColumnRange]:
        """Find the range of numeric columns.

        Parameters
        ----------
        columns
            Names of numeric columns.

        Returns
        -------
        dict
            The range of each, by name.
        """

    def histogram(self, column: str, low: float, high: float, weight: str | None) -> Histogram:
        """Make a histogram of a numeric column.

        Parameters
        ----------
        column
            Name of the column.
        low, high
            The range that is cut into about `HISTOGRAM_BINS` bins of equal width; numbers below and above it are in one
            bin each.
        weight
            Column of weights; None if rows count once each.

        Returns
        -------
        Histogram
            The bins that hold numbers.
        """

    def group_by(self, grouping: GroupBy, report: ReportShare) -> GroupByResult:
        """Group the rows, and add up their weights.

        Parameters
        ----------
        grouping
            Keys and weights.
        report
            Called with the share of the table that has been read.

        Returns
        -------
        GroupByResult
            Every distinct combination of the keys, at most `MAX_GROUPS` of them.
        """

    def sampled(self, keys: Sequence[str], most: int, alike: bool = False) -> tuple[Engine, int] | None:
        """Draw rows of a table in which nearly every row differs from all others, where it has too many of them.

        Parameters
        ----------
        keys
            Columns that tell rows apart.
        most
            About how many rows to draw at most.
        alike
            Whether to draw also where many rows are alike; an engine with a hash draws those of equal keys together.

        Returns
        -------
        tuple or None
            The table of the rows drawn, always the same ones, and how many rows there are in all. None where there are
            no more than `most`, where the engine cannot, or where many rows are alike, so that counting them is better,
            unless `alike`.
        """

    def columns(self) -> dict[str, list[Any]]:
        """Fetch the whole table, which should be small.

        Returns
        -------
        dict
            Lists of values by column name.
        """

    def batches(self, rows: int) -> Iterator[Any]:
        """Read the table block by block, in its own order.

        Parameters
        ----------
        rows
            The most rows of a block.

        Returns
        -------
        iterator of pyarrow.RecordBatch
            The blocks, all of one schema.
        """


def not_numeric_error(column: str, role: str, found: str) -> TableError:
    """Make the error about a column that should hold numbers.

    Parameters
    ----------
    column, role
        The column, and the role of its table.
    found
        What it holds, in words.

    Returns
    -------
    TableError
        The error to raise.
    """
    return TableError(
        f"column {column!r} of the {role} table holds {found}; expected numbers, and nothing where a number is missing."
    )


def check_unique_names(names: Sequence[str], table: str) -> None:
    """Check that no two columns have the same name, up to case and blanks around it.

    Parameters
    ----------
    names
        Names of the columns.
    table
        What the message calls the table.

    Raises
    ------
    TableError
        If two have.
    """
    seen: dict[str, str] = {}
    for name in names:
        plain = name.strip().casefold()
        if plain in seen:
            written = "" if name == seen[plain] else f", also written {name!r}: case and blanks make no difference"
            raise TableError(
                f"{table} has more than one column called {seen[plain]!r}{written}; give each a name of its own."
            )
        seen[plain] = name


def error_summary(error: object, url: str = "") -> str:
    """Shorten an engine's error message.

    Parameters
    ----------
    error
        What the engine raised, or what it said.
    url
        URL of the database that raised it.

    Returns
    -------
    str
        Its first lines as one, at most 300 characters, without passwords.
    """
    lines = [line.strip() for line in redact_message(str(error)[:_MAX_READ], url).splitlines() if line.strip()]
    return " ".join(lines[:3])[:300]


def unreadable_error(role: str, error: Exception) -> TableError:
    """Make the error about a table that its engine cannot read.

    Parameters
    ----------
    role
        Role of the table.
    error
        What the engine raised.

    Returns
    -------
    TableError
        The error to raise.
    """
    return TableError(f"the {role} table cannot be read: {error_summary(error)}")
