"""Result tables: conversion to data frames, and display in a terminal and in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Container, Mapping, Sequence
from typing import Any

from pnsight import _markup as markup
from pnsight._text import number_of
from pnsight._text_table import format_table
from pnsight.notes import Note

_SHOWN_ROWS = 20

LEFT_OUT_IF_EMPTY = (
    "lower_low",
    "lower_high",
    "upper_low",
    "upper_high",
    "basis",
    "value_low",
    "value_high",
    "trial_lower",
    "trial_upper",
    "low",
    "high",
    "gain_low",
    "gain_high",
    "simulated",
    "within",
    "coverage",
)
"""Columns that a reader is spared where no row has anything in them; files always have them."""


class Tabular(ABC):
    """Something with named columns, a caption, and notes that a reader should know."""

    notes: tuple[Note, ...]

    @property
    @abstractmethod
    def caption(self) -> str:
        """What the table is about, in a line."""

    @abstractmethod
    def columns(self) -> dict[str, list[Any]]:
        """The table as plain lists by column name, None for what is missing."""

    def arrays(self) -> dict[str, Any]:
        """The same, where there are arrays as arrays: for very many rows."""
        return dict(self.columns())

    def to_pandas(self) -> Any:
        """A pandas data frame (pandas must be installed)."""
        import pandas

        return pandas.DataFrame(self.columns())

    def to_polars(self) -> Any:
        """A Polars data frame (polars must be installed)."""
        import polars

        return polars.DataFrame(self.columns(), strict=False)

    def to_arrow(self) -> Any:
        """A PyArrow table (pyarrow must be installed)."""
        import pyarrow

        return pyarrow.table(self.columns())

    def __repr__(self) -> str:
        columns, more = self._head()
        return "\n".join(
            [self.caption, format_table(columns), *([f"... {more}"] if more else []), *map(str, self.notes)]
        )

    def _repr_html_(self) -> str:
        columns, more = self._head()
        return markup.table(columns, self.caption, [*([more] if more else []), *map(str, self.notes)])

    def _head(self) -> tuple[dict[str, Sequence[Any]], str]:
        """The first rows, and how many more there are, in words."""
        columns = drop_empty_columns(self.columns())
        more = len(next(iter(columns.values()))) - _SHOWN_ROWS
        shown = {name: values[:_SHOWN_ROWS] for name, values in columns.items()}
        return shown, number_of(more, "more row") if more > 0 else ""


def drop_empty_columns(columns: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """Leave out columns that are empty in every row, of those that not every model fills.

    Parameters
    ----------
    columns
        Values by column name.

    Returns
    -------
    dict
        The other columns, in their order.
    """
    return {
        name: values
        for name, values in columns.items()
        if name not in LEFT_OUT_IF_EMPTY or any(value not in (None, "") for value in values)
    }


def prepend_columns(columns: dict[str, list[Any]], kept: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Put columns of the caller's own table before those of an answer.

    Parameters
    ----------
    columns
        Columns of the answer, which keep their names.
    kept
        Columns to put before them; one that has the name of an answer's column is renamed, ``name_given``.

    Returns
    -------
    dict
        All columns, those kept first.
    """
    return {**dict(zip(kept_names(kept, columns), kept.values(), strict=True)), **columns}


def kept_names(kept: Collection[str], answers: Collection[str]) -> list[str]:
    """Name the columns of the caller's own table beside those of an answer.

    Parameters
    ----------
    kept
        Names of the caller's columns.
    answers
        Names of the answer's columns, which keep them.

    Returns
    -------
    list of str
        As many as `kept`; one that an answer has too is renamed, ``name_given``.
    """
    taken = {*answers, *kept}
    return [_unused_name(name, answers, taken) for name in kept]


def _unused_name(name: str, answers: Container[str], taken: Container[str]) -> str:
    """The name of a column to keep, changed if an answer has it."""
    if name not in answers:
        return name
    while name in taken:
        name += "_given"
    return name
