"""Numeric covariates: which columns are left uncut as numbers, and their scales."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from pnsight._text import count_text
from pnsight._typing import FloatArray
from pnsight.data.number_codes import LARGEST, NO_NUMBER, NumberCodes, pack
from pnsight.data.number_scale import NumberScale, days_since, earliest_day
from pnsight.data.reading.grouped_table import GroupedTable, LabelColumn
from pnsight.data.schema import MISSING, Covariate, is_number
from pnsight.errors import TableError, did_you_mean, join_names

Numeric: TypeAlias = Literal["auto", "none"] | Sequence[str]
"""Which covariates are numbers: those with many distinct ones, none, or those named."""

AUTO, NONE = "auto", "none"

MANY_NUMBERS = 20
"""A column of more distinct numbers than this is numeric unless it is said otherwise."""

_NEARLY_ALL = 0.9
"""Share of the rows with a whole number of their own from which on a column seems to name people."""


def validate_numeric(numeric: Numeric, covariates: Sequence[str], bands: Collection[str]) -> Numeric:
    """Check which covariates are said to be numbers.

    Parameters
    ----------
    numeric
        ``"auto"``, ``"none"``, or names.
    covariates
        Names of the covariates.
    bands
        Covariates that are to be cut into bands.

    Returns
    -------
    Numeric
        The same, names as a tuple.

    Raises
    ------
    TableError
        If a name is not a covariate, or is to be cut into bands as well.
    """
    if numeric in (AUTO, NONE):
        return numeric
    named = _names(numeric)
    for name in named:
        if name not in covariates:
            raise TableError(
                f"--numeric (numeric=) names {name!r}, which is not a covariate; give auto, none, or some of "
                f"{join_names(covariates) or 'none'}." + did_you_mean(str(name), covariates)
            )
        if name in bands:
            raise TableError(
                f"{name!r} is named by --numeric and by --bands (numeric=, bands=); a number is either left as it is "
                "or cut into bands, so name it in one of them."
            )
    return named


def _names(given: Any) -> tuple[str, ...]:
    """One name, or several; what is neither is refused as a name."""
    return (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)


def numeric_scales(tables: Sequence[GroupedTable], numeric: Numeric, bands: Collection[str]) -> dict[str, NumberScale]:
    """Scales of the covariates that are left as numbers.

    Parameters
    ----------
    tables
        The tables after their group-by.
    numeric
        As `validate_numeric` returns it.
    bands
        Covariates that are cut into bands.

    Returns
    -------
    dict
        By covariate.

    Raises
    ------
    TableError
        If a covariate that is named holds something else than numbers, dates or times.
    """
    found = {}
    for name in tables[0].covariates:
        if name in bands or (numeric != AUTO and name not in numeric):
            continue
        columns = [table.covariates[name] for table in tables]
        numbers = _distinct_numbers(columns)
        if numbers is not None and len(numbers) > MANY_NUMBERS:
            found[name] = _scale(tables, name, None)
            continue
        labels = [label for column in columns for label in column.present() if label != MISSING]
        origin = None if numeric == AUTO else _origin(name, labels)
        if origin is None and not all(map(is_number, labels)):
            if numeric == AUTO:
                continue
            wrong = list(dict.fromkeys(label for label in labels if not is_number(label)))
            raise TableError(
                f"--numeric (numeric=) names {name!r}, which holds {join_names(map(repr, wrong), most=3)}; expected "
                "numbers, or dates and times written as 2024-01-31 or 2024-01-31T12:30:00."
            )
        if numeric == AUTO and len(set(labels)) <= MANY_NUMBERS:
            continue
        found[name] = _scale(tables, name, origin)
    return found


def _distinct_numbers(columns: Sequence[LabelColumn]) -> npt.NDArray[Any] | None:
    """The distinct numbers of columns of one type of numbers; None where some are something else, or not finite."""
    present = [column.present_numbers() for column in columns]
    known = [numbers for numbers in present if numbers is not None]
    if len(known) < len(present) or len({numbers.dtype for numbers in known}) > 1:
        return None
    found = np.unique(np.concatenate(known))
    return found if np.isfinite(found).all() else None


def _origin(name: str, labels: Sequence[str]) -> str | None:
    """The day of the earliest date, if all labels are dates or times."""
    if not labels:
        raise TableError(f"--numeric (numeric=) names {name!r}, which holds nothing; leave it out.")
    return None if is_number(labels[0]) else earliest_day(labels)


def _scale(tables: Sequence[GroupedTable], name: str, origin: str | None) -> NumberScale:
    columns = [table.covariates[name] for table in tables]
    numbers = np.concatenate([label_numbers(column, origin)[column.place] for column in columns])
    if (np.abs(numbers[~np.isnan(numbers)]) > LARGEST).any():
        raise TableError(f"covariate {name!r} holds a number beyond {LARGEST:.2g}; expected smaller ones.")
    found = NumberScale.of(numbers, np.concatenate([table.rows for table in tables]), origin)
    different = _distinct_labels(columns) if found.low == found.high else 1
    if different > 1:
        raise TableError(
            f"covariate {name!r} holds {different:,} numbers that are all alike in their first seven digits, which are "
            f"kept; subtract {found.number_text(found.low)} from the column or scale it, leave it out with --exclude "
            f"(exclude=), or cut it into bands with --bands {name}=4 (bands=)."
        )
    return found


def _distinct_labels(columns: Sequence[LabelColumn]) -> int:
    """How many numbers there are by how they are written, which keeps digits that arithmetic does not."""
    return len({label for column in columns for label in column.present() if label != MISSING})


def label_numbers(column: LabelColumn, origin: str | None) -> FloatArray:
    """The number of each label, NaN where it is missing, shape (labels,)."""
    if column.numbers is not None:
        return column.numbers.astype(np.float64)
    if origin is None:
        found = [np.nan if label is None or label == MISSING else float(label) for label in column.labels]
    else:
        days = [None if label is None else days_since(label, origin) for label in column.labels]
        found = [np.nan if day is None else day for day in days]
    return np.array(found, dtype=np.float64)


def number_codes(covariate: Covariate, column: LabelColumn) -> NumberCodes:
    """Codes of each group's number, shape (groups,)."""
    assert covariate.number is not None
    numbers = label_numbers(column, covariate.number.origin)
    known = np.where(np.isnan(numbers), NO_NUMBER, numbers)
    return pack(known, known)[column.place]


def level_positions(covariate: Covariate, column: LabelColumn, more: Mapping[str, int] | None = None) -> np.ndarray:
    """The position of each group's level, or group of numbers, -1 if it has none; shape (groups,)."""
    if covariate.number is None:
        order = {level: code for code, level in enumerate(covariate.levels)}
        return column.map_labels({**(more or {}), **order})
    codes = number_codes(covariate, column)
    found = covariate.number.group_of(codes)
    return np.where(found < len(covariate.levels), found, -1)


def check_no_numbered_people(
    tables: Sequence[GroupedTable], scales: Mapping[str, NumberScale], numeric: Numeric
) -> None:
    """Refuse whole numbers nearly all of which are different: unless they are named, they may well number the rows.

    Parameters
    ----------
    tables
        The tables after their group-by.
    scales
        By covariate that is left as a number, its scale.
    numeric
        As `validate_numeric` returns it.

    Raises
    ------
    TableError
        If there is such a column, and nobody named it.
    """
    rows = sum(max(float(table.rows.sum()), float(len(table.rows))) for table in tables)
    for name in [name for name, scale in scales.items() if scale.whole and numeric == AUTO]:
        columns = [table.covariates[name] for table in tables]
        numbers = _distinct_numbers(columns)
        distinct = len({label for each in columns for label in each.present()} if numbers is None else numbers)
        if distinct > _NEARLY_ALL * rows:
            raise TableError(
                f"covariate {name!r} has {distinct:,} levels, all of them whole numbers, in {count_text(rows)} rows, "
                "as a column that names people has. Leave it out with --covariates (covariates=), cut it into bands "
                f"with --bands (bands=), or, if it is a number that describes people, say --numeric {name} (numeric=)."
            )
