"""Answers: one row a query, with its bounds, how sure they are, the support behind them and a status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pnsight._tabular import Tabular
from pnsight._typing import FloatArray
from pnsight.data.study import MAX_ROWS
from pnsight.errors import QueryError, percent_hint
from pnsight.estimands.confidence import simultaneous_levels
from pnsight.estimands.critical_values import two_sided
from pnsight.notes import Note

OK, CONTRADICTED = "ok", "contradicted"
"""Values of `status`: an answer; no answer, as the tables contradict each other beyond chance here."""

INVALID = "invalid"
"""Status of a row of a table that cannot be read."""

ROWS, MODEL, EXTRAPOLATED = "rows", "model", "extrapolated"
BASES = (ROWS, MODEL, EXTRAPOLATED)
"""What an answer rests on: mostly the group's own rows, mostly what was learned from others, or nobody near."""

INTERVAL_ENDS = ("lower_low", "lower_high", "upper_low", "upper_high", "value_low", "value_high")
"""Columns of confidence intervals: of each end, and of the quantity itself."""

SUPPORT = ("support_experimental", "support_observational")
"""Columns that count rows."""

_LATER_NUMBERS = ("value_low", "value_high", "trial_lower", "trial_upper")


@dataclass(frozen=True, repr=False)
class BoundTable(Tabular):
    """Bounds of one quantity for many queries; lower <= upper wherever `status` is ok, NaN elsewhere.

    All arrays have shape (queries,).

    Attributes
    ----------
    lower_low, lower_high, upper_low, upper_high : confidence interval of each end; None without intervals
    level : confidence of the intervals
    kept : columns of the caller's own table of queries, shown before the answers
    notes : what a reader of the table should know
    value_low, value_high : confidence interval of the quantity itself, which lies anywhere between the ends
    basis : what each answer rests on, one of `BASES`; empty where that is not said
    effective_rows : how many rows of its own, in the group of cells that is known least, each answer is worth
    trial_lower, trial_upper : bounds from the experiment alone, NaN where it does not bound the quantity
    comparisons : answers whose intervals hold together at that confidence; 0 where each interval holds by itself
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
    notes: tuple[Note, ...] = ()
    value_low: FloatArray | None = None
    value_high: FloatArray | None = None
    basis: npt.NDArray[np.str_] | None = None
    trial_lower: FloatArray | None = None
    trial_upper: FloatArray | None = None
    effective_rows: FloatArray | None = None
    comparisons: int = 0

    def __len__(self) -> int:
        return len(self.queries)

    def interval(self, end: Literal["lower", "upper"]) -> tuple[FloatArray, FloatArray]:
        """Where the interval of one end begins and stops, shape (queries,) each; NaN for a model without intervals."""
        low, high = (self.lower_low, self.lower_high) if end == "lower" else (self.upper_low, self.upper_high)
        return self._or_blank(low), self._or_blank(high)

    def standard_error(self, end: Literal["lower", "upper"]) -> FloatArray:
        """How far the estimate of one end strays, shape (queries,); NaN for a model without intervals.

        From the longer side of the interval: the other may have been cut where the quantity can go no further.
        """
        low, high = self.interval(end)
        if not self.level:
            return np.full(len(self), np.nan)
        estimate: FloatArray = getattr(self, end)
        reach: FloatArray = np.maximum(high - estimate, estimate - low)
        return reach / two_sided(simultaneous_levels(self.level, self.comparisons)[0])

    @property
    def caption(self) -> str:
        """What is bounded."""
        return f"bounds on {self.quantity}"

    def columns(self, beside: Mapping[str, Sequence[Any]] | None = None) -> dict[str, list[Any]]:
        """The table as plain lists by column name, in the order of the command line's contract.

        Columns given as `beside` stand right after the query.
        """
        own = {name: _plain(name, values) for name, values in self.arrays().items()}
        kept = {name: list(values) for name, values in self.kept.items()}
        query = {"query": list(self.queries), **{name: list(values) for name, values in (beside or {}).items()}}
        return {**kept, **query, **own}

    def arrays(self) -> dict[str, Any]:
        """The columns of the answer itself, after that of the query, as arrays; what is missing is NaN."""
        lower_low, lower_high = self.interval("lower")
        upper_low, upper_high = self.interval("upper")
        return {
            "lower": self.lower,
            "upper": self.upper,
            "lower_low": lower_low,
            "lower_high": lower_high,
            "upper_low": upper_low,
            "upper_high": upper_high,
            "support_experimental": self.support_experimental,
            "support_observational": self.support_observational,
            "status": self.status,
            "basis": np.full(len(self), "") if self.basis is None else self.basis,
            **{name: self._or_blank(getattr(self, name)) for name in _LATER_NUMBERS},
        }

    def _or_blank(self, values: FloatArray | None) -> FloatArray:
        return np.full(len(self), np.nan) if values is None else values

    def take(self, rows: npt.NDArray[np.intp]) -> BoundTable:
        """The answers in these rows, in this order."""
        per_row: dict[str, Any] = {
            name: value[rows] for name, value in vars(self).items() if isinstance(value, np.ndarray)
        }
        kept = {name: [values[row] for row in rows] for name, values in self.kept.items()}
        return replace(self, queries=[self.queries[row] for row in rows], kept=kept, **per_row)


def validate_level(level: float) -> None:
    """Check that a number can be the confidence level of intervals: at 0 they have no length, at 1 no end.

    Parameters
    ----------
    level
        The confidence level, strictly between 0 and 1.

    Raises
    ------
    QueryError
        If it is not.
    """
    if not 0.5 < (1 + level) / 2 < 1:
        raise QueryError(
            f"the confidence of the intervals is {level:g}; give a number between 0 and 1{percent_hint(level)}"
        )


def _plain(name: str, values: npt.NDArray[Any]) -> list[Any]:
    """A column of an answer as a plain list."""
    if name in SUPPORT:
        return plain_counts(values)
    return plain_numbers(values) if values.dtype.kind == "f" else list(values.tolist())


def plain_numbers(values: FloatArray) -> list[float | None]:
    """Convert numbers to plain Python.

    Parameters
    ----------
    values : shape (rows,)
        Numbers.

    Returns
    -------
    list
        The numbers, None for NaN.
    """
    plain = values.astype(object)
    plain[np.isnan(values)] = None
    return list(plain)


def plain_counts(values: FloatArray) -> list[float | int]:
    """Convert counts to plain Python.

    Parameters
    ----------
    values : shape (rows,)
        Numbers of rows.

    Returns
    -------
    list
        Integers if all are whole and small enough to be exact, else floats.
    """
    whole = (values <= MAX_ROWS).all() and (values == np.floor(values)).all()
    return list((values.astype(np.int64) if whole else values).tolist())
