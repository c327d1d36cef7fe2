"""Binning: numeric columns cut into bands, at edges that the user gives or at quantiles of both tables together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from pnsight._typing import FloatArray
from pnsight.data.reading.engine import ColumnRange, Engine, Histogram
from pnsight.data.schema import label
from pnsight.errors import TableError, did_you_mean, join_names

Bands: TypeAlias = Mapping[str, int | Sequence[float]]
"""By covariate, the edges of its bands, or how many bands with equally many rows to make."""

Weights: TypeAlias = Mapping[str, str | None]
"""By the role of a table, its column of weights."""

MAX_BANDS = 100
"""Bands that a covariate can have."""


def validate_bands(bands: Bands, covariates: Sequence[str]) -> dict[str, int | tuple[float, ...]]:
    """Check the bands that are asked for.

    Parameters
    ----------
    bands
        By covariate, the edges of its bands, or how many bands to make.
    covariates
        Names of the covariates.

    Returns
    -------
    dict
        The same as plain numbers.

    Raises
    ------
    TableError
        If a name is not a covariate, there are too few or too many bands, or the edges do not increase.
    """
    for name in bands:
        if name not in covariates:
            raise TableError(
                f"--bands (bands=) names {name!r}, which is not a covariate; the covariates are "
                f"{join_names(covariates) or 'none'}." + did_you_mean(name, covariates)
            )
    return {name: _validate_band(name, asked) for name, asked in bands.items()}


def _validate_band(name: str, asked: int | Sequence[float]) -> int | tuple[float, ...]:
    if isinstance(asked, int | np.integer):
        if not 2 <= asked <= MAX_BANDS:
            raise TableError(
                f"{name!r} is to be cut into {asked} bands; expected between 2 and {MAX_BANDS}, or edges such as "
                f"--bands {name}=0,40,65,120 (bands={{{name!r}: [0, 40, 65, 120]}})."
            )
        return int(asked)
    edges = tuple(float(edge) for edge in asked)
    if len(edges) < 2 or not all(low < high for low, high in pairwise(edges)):
        raise TableError(
            f"{name!r} has the edges {join_names(map(_text, edges)) or 'none'}; expected two or more numbers, each "
            "above the one before. The first may be -inf and the last inf."
        )
    return edges


def _text(number: float) -> str:
    return label(number) or "no number"


def band_edges(
    name: str,
    asked: int | tuple[float, ...],
    tables: Sequence[Engine],
    ranges: Mapping[str, ColumnRange],
    weights: Weights,
) -> tuple[float, ...]:
    """Find the edges of the bands of a column.

    Parameters
    ----------
    name
        The column.
    asked
        Its edges, or how many bands with equally many rows to make.
    tables
        The tables, with the column as numbers.
    ranges, weights
        By the role of the table, the range of the column, and the column of weights.

    Returns
    -------
    tuple of float
        The edges, between which all numbers of the tables lie.

    Raises
    ------
    TableError
        If a number lies outside the edges, or the column cannot be cut into bands.
    """
    if isinstance(asked, int):
        return _quantiles(name, asked, tables, ranges, weights)
    _check_inside(name, asked, ranges)
    return asked


def _check_inside(name: str, edges: tuple[float, ...], ranges: Mapping[str, ColumnRange]) -> None:
    for role, found in ranges.items():
        for number in (found.low, found.high):
            if number is not None and not edges[0] <= number <= edges[-1]:
                raise TableError(
                    f"covariate {name!r} holds {_text(number)} in the {role} table, outside its bands from "
                    f"{_text(edges[0])} to {_text(edges[-1])}; widen them with --bands (bands=), where the first edge "
                    "may be -inf and the last inf."
                )


def _quantiles(
    name: str, bands: int, tables: Sequence[Engine], ranges: Mapping[str, ColumnRange], weights: Weights
) -> tuple[float, ...]:
    """Edges at the quantiles of all tables together; the outer edges are infinite.

    The k-th of n quantiles is the smallest number with more than k/n of the weight at or below it: at most k/n of the
    weight lies in the bands below. Where many rows share a number, quantiles coincide and there are fewer bands.
    """
    lows = [each.low for each in ranges.values() if each.low is not None]
    highs = [each.high for each in ranges.values() if each.high is not None]
    if not lows or not all(math.isfinite(end) for end in (*lows, *highs)):
        found = "no number at all" if not lows else "an infinite number"
        raise TableError(f"covariate {name!r} holds {found}, so it has no quantiles; give its edges with --bands.")
    low, high = min(lows), max(highs)
    inner = _inner_edges(name, bands, low, high, tables, weights) - {low} if low < high else set()
    if not inner:
        raise TableError(
            f"covariate {name!r} cannot be cut into {bands} bands: too many rows share the number {_text(low)}; "
            "give edges with --bands, or leave the column as it is."
        )
    return (-math.inf, *sorted(inner), math.inf)


def _inner_edges(
    name: str, bands: int, low: float, high: float, tables: Sequence[Engine], weights: Weights
) -> set[float]:
    whole = _histogram(name, low, high, tables, weights)
    ranks = [k * float(whole.rows.sum()) / bands for k in range(1, bands)]
    return {_quantile(name, rank, whole, tables, weights) for rank in ranks}


def _quantile(name: str, rank: float, bins: Histogram, tables: Sequence[Engine], weights: Weights) -> float:
    """The smallest number with more than `rank` of the weight at or below it, found by refining the histogram."""
    low, high = _bracket(bins, rank)
    while low < high:
        from_low, to_high = _bracket(_histogram(name, low, high, tables, weights), rank)
        if from_low <= low and to_high >= high:  # numbers too close to separate
            return low
        low, high = max(low, from_low), min(high, to_high)
    return low


def _bracket(bins: Histogram, rank: float) -> tuple[float, float]:
    """Two numbers between which the quantile lies, even if bins overlap: all weight at their low, or high, ends."""
    return _passing(bins.low, bins.rows, rank), _passing(bins.high, bins.rows, rank)


def _passing(ends: FloatArray, rows: FloatArray, rank: float) -> float:
    """Where the running total first exceeds the rank."""
    order = np.argsort(ends, kind="stable")
    at = int(np.searchsorted(np.cumsum(rows[order]), rank, side="right"))
    return float(ends[order][min(at, len(order) - 1)])


def _histogram(name: str, low: float, high: float, tables: Sequence[Engine], weights: Weights) -> Histogram:
    """The histogram of all tables together."""
    parts = [table.histogram(name, low, high, weights[table.role]) for table in tables]
    return Histogram(*(np.concatenate([getattr(part, field) for part in parts]) for field in ("low", "high", "rows")))
