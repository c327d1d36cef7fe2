"""Answers: one row a query, with its bounds, how sure they are, the support behind them and a status."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pnsight.law import FloatArray
from pnsight.text import aligned, cell_text

ROUNDING = 1e-9
"""Ends that cross by less than this crossed in floating point only."""

OK, INCOHERENT, UNDEFINED, CROSSED = "ok", "incoherent", "undefined", "crossed"

_SHOWN_ROWS = 20


def settle(
    lower: FloatArray,
    upper: FloatArray,
    when_crossed: str = INCOHERENT,
    within: tuple[float, float] = (0.0, 1.0),
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.str_]]:
    """Ends that never cross and a status a row: where there is no answer both ends are NaN.

    `within` are the least and the largest value that the quantity can have.
    """
    undefined = np.isnan(lower) | np.isnan(upper)
    crossed = ~undefined & (lower > upper + ROUNDING * max(1.0, *map(abs, within)))
    status = np.where(undefined, UNDEFINED, np.where(crossed, when_crossed, OK))
    upper = np.clip(upper, *within)
    lower = np.minimum(np.clip(lower, *within), upper)
    blank = status != OK
    return np.where(blank, np.nan, lower), np.where(blank, np.nan, upper), status


@dataclass(frozen=True)
class BoundTable:
    """Bounds of one quantity for many queries; lower <= upper wherever `status` is ok, NaN elsewhere.

    All arrays have shape (queries,). The four interval columns are NaN for models that give no intervals.
    `kept` holds columns of the caller's own table of queries, shown before the answers, and `notes` what a reader
    of the table should know.
    """

    quantity: str
    queries: Sequence[str]
    lower: FloatArray
    upper: FloatArray
    support_experimental: FloatArray
    support_observational: FloatArray
    status: npt.NDArray[np.str_]
    lower_low: FloatArray | None = None
    lower_high: FloatArray | None = None
    upper_low: FloatArray | None = None
    upper_high: FloatArray | None = None
    level: float | None = None
    kept: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.queries)

    def interval(self, end: Literal["lower", "upper"]) -> tuple[FloatArray, FloatArray]:
        """Where the interval of one end begins and stops, shape (queries,) each; NaN for a model without intervals."""
        low, high = (self.lower_low, self.lower_high) if end == "lower" else (self.upper_low, self.upper_high)
        blank = np.full(len(self), np.nan)
        return blank if low is None else low, blank if high is None else high

    def columns(self) -> dict[str, list[Any]]:
        """The table as plain lists by column name, in the order of the command line's contract."""
        lower_low, lower_high = self.interval("lower")
        upper_low, upper_high = self.interval("upper")
        numbers = {
            "lower": self.lower,
            "upper": self.upper,
            "lower_low": lower_low,
            "lower_high": lower_high,
            "upper_low": upper_low,
            "upper_high": upper_high,
        }
        plain: dict[str, list[Any]] = {
            **{name: _numbers(values) for name, values in numbers.items()},
            "support_experimental": plain_counts(self.support_experimental),
            "support_observational": plain_counts(self.support_observational),
        }
        kept = {name: list(values) for name, values in self.kept.items()}
        return {**kept, "query": list(self.queries), **plain, "status": [str(text) for text in self.status]}

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
        columns = {name: values[:_SHOWN_ROWS] for name, values in self.columns().items()}
        more = f"\n... {len(self) - _SHOWN_ROWS:,} more rows" if len(self) > _SHOWN_ROWS else ""
        notes = "".join(f"\n{note}" for note in self.notes)
        return f"bounds on {self.quantity}\n{aligned(columns)}{more}{notes}"

    def _repr_html_(self) -> str:
        columns = {name: values[:_SHOWN_ROWS] for name, values in self.columns().items()}
        head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        rows = zip(*columns.values(), strict=True)
        body = "".join("<tr>" + "".join(map(_html_cell, row)) + "</tr>" for row in rows)
        more = f"<p>{len(self) - _SHOWN_ROWS:,} more rows</p>" if len(self) > _SHOWN_ROWS else ""
        caption = f"<caption>bounds on {html.escape(self.quantity)}</caption>"
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}{notes}"


def _html_cell(value: Any) -> str:
    side = "right" if isinstance(value, int | float) else "left"
    return f'<td style="text-align:{side}">{html.escape(cell_text(value))}</td>'


def _numbers(values: FloatArray) -> list[float | None]:
    """Python numbers, None for what is missing."""
    plain = values.astype(object)
    plain[np.isnan(values)] = None
    return list(plain)


def plain_counts(values: FloatArray) -> list[float | int]:
    """Whole numbers as integers; weighted counts stay as they are."""
    whole = np.isfinite(values).all() and (values == np.floor(values)).all()
    return list((values.astype(np.int64) if whole else values).tolist())
