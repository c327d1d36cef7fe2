"""A bounded sample of distinct rows that is the same in whichever order an engine gives them.

Rows are ordered by a hash of their values and the seed, and the first ones are taken (bottom-k sampling; Cohen and
Kaplan 2007): each set of so many distinct rows is as likely as any other, and nothing but the values decides.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import Any

from pnsight.data.schema import label

BETWEEN, ABSENT, PRESENT = "\x1f", "-", "="
"""What the text of a row has between its values, for a missing one, and before any other."""


def digest(values: Sequence[Any], seed: int) -> str:
    """Hash the values of a row, as databases with a function ``md5`` do.

    Parameters
    ----------
    values, seed
        Values of the row, and the seed.

    Returns
    -------
    str
        32 hexadecimal digits.
    """
    return hashlib.md5(BETWEEN.join([str(seed), *map(_text, values)]).encode(), usedforsecurity=False).hexdigest()


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else label(value)
    return ABSENT if text is None else f"{PRESENT}{text}"


def draw_rows(rows: Iterable[Sequence[Any]], keys: int, limit: int, seed: int) -> list[Sequence[Any]]:
    """Draw distinct rows in one pass, holding no more than are drawn.

    Parameters
    ----------
    rows, keys
        Tuples, and how many of their first values make a row distinct.
    limit, seed
        How many rows to draw at most, and what the hash begins with.

    Returns
    -------
    list of tuples
        The rows whose hashes come first, in that order.
    """
    return nsmallest(limit, rows, key=lambda row: digest(row[:keys], seed))


def draw_places(columns: Sequence[Sequence[Any]], limit: int, seed: int) -> list[int]:
    """Draw distinct rows that are held by column.

    Parameters
    ----------
    columns
        Values of each row in the columns that make it distinct.
    limit, seed
        As in `draw_rows`.

    Returns
    -------
    list of int
        Places of the rows that `draw_rows` would draw, in their order.
    """
    numbered = zip(*columns, range(len(columns[0])), strict=True)
    return [row[-1] for row in draw_rows(numbered, len(columns), limit, seed)]
