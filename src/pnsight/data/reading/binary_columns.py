"""Binary columns: which values of the treatment and of the outcome mean true."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from pnsight._text import count_text
from pnsight.data.reading.grouped_table import LabelColumn
from pnsight.data.reading.likely_meaning import likely_true, missing_hint
from pnsight.data.schema import label, sort_levels
from pnsight.errors import TableError, did_you_mean, join_names

_TRUTH = {"1": 1, "true": 1, "0": 0, "false": 0}
_MEANS = {"treatment": "treated", "outcome": "success", "event": "that the event happened"}


def binary_codes(
    column: str,
    what: str,
    argument: str,
    true_value: Any,
    columns: Mapping[str, LabelColumn],
    rows: Mapping[str, float],
) -> dict[str, int]:
    """Decide which labels of a binary column mean 1 and which 0.

    Parameters
    ----------
    column
        Its name.
    what, argument
        What it says (``treatment``), and the argument that names its true value (``treated``), for messages.
    true_value
        The value that means true; None if the column holds 0/1 or true/false.
    columns
        The column in each of the tables, by the role of the table.
    rows
        How many rows of all tables together have each label, for messages.

    Returns
    -------
    dict
        1 or 0 by label.

    Raises
    ------
    TableError
        If the column is empty, holds more than two values, or does not show which value means true.
    """
    found = sort_levels(value for each in columns.values() for value in each.present())
    if not found:
        raise TableError(f"{what} column {column!r} has no value in any row; name the column that says it.")
    if true_value is None and all(value in _TRUTH for value in found):
        return {value: _TRUTH[value] for value in found}
    if len(found) > 2 and coded_differently(columns):
        raise TableError(
            f"{what} column {column!r} holds {_by_table(columns)}; expected the same two values in both. "
            "Code it alike, as 0 and 1."
        )
    several = {"treatment": "arms", "outcome": "outcomes"}.get(what)
    if len(found) > 2 and several is None:
        raise TableError(
            f"{what} column {column!r} holds {len(found)} values, {_counted(found, rows)}; expected 0 and 1."
        )
    if len(found) > 2:
        raise TableError(
            f"{what} column {column!r} holds {len(found)} values, {_counted(found, rows)}; expected two. "
            "Keep the rows of two values, make a column that is 0 or 1, or name all of them with "
            f"--{several} ({several}=).{missing_hint(found)}"
        )
    named = _true_label(column, what, argument, true_value, found, rows)
    return {value: int(value == named) for value in found}


def coded_differently(columns: Mapping[str, LabelColumn]) -> bool:
    """Whether the tables hold other values in a column: each has one that the other lacks, and no more than two.

    Parameters
    ----------
    columns
        The column in each of the tables, by the role of the table.

    Returns
    -------
    bool
        True for 0 and 1 in one table and yes and no in the other.
    """
    values = [set(each.present()) for each in columns.values()]
    return (
        len(values) == 2 and max(map(len, values)) <= 2 and all(each - other for each, other in (values, values[::-1]))
    )


def _by_table(columns: Mapping[str, LabelColumn]) -> str:
    return " and ".join(
        f"{join_names(sort_levels(each.present()))} in the {role} table" for role, each in columns.items()
    )


def _counted(found: Sequence[str], rows: Mapping[str, float]) -> str:
    return join_names(f"{value} ({count_text(rows[value])} row{'s' * (rows[value] != 1)})" for value in found)


def _true_label(
    column: str, what: str, argument: str, true_value: Any, found: Sequence[str], rows: Mapping[str, float]
) -> str:
    if true_value is None:
        guess = likely_true(what, column, found)
        like = "" if guess is None else f", perhaps --{argument} {shlex.quote(guess)}"
        raise TableError(
            f"{what} column {column!r} holds {_counted(found, rows)}; expected 0/1 or true/false. "
            f"Name the value that means {_MEANS[what]} with --{argument} ({argument}=){like}."
        )
    named = label(true_value)
    if named is None or named not in found:
        raise TableError(
            f"{what} column {column!r} has no value {true_value!r} as named by --{argument}; "
            f"it holds {_counted(found, rows)}." + did_you_mean(str(named), found)
        )
    return named


def true_label(codes: Mapping[str, int]) -> str:
    """Name the label that means true.

    Parameters
    ----------
    codes
        1 or 0 by label.

    Returns
    -------
    str
        The label; ``1`` for a column that is false throughout, which does not show it.
    """
    return next((text for text, code in codes.items() if code), "1")
