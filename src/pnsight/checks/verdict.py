"""What a part of the check comes to, in one word and one sentence; and the level at which it raises an alarm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

OK, WARNING, FAILED = "ok", "warning", "failed"

FALSE_ALARMS = 0.05
"""The chance that a part raises an alarm although nothing is wrong, over all that it looks at."""


@dataclass(frozen=True)
class Verdict:
    """One part's result."""

    status: str
    text: str


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 row`` or ``2,000 rows``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def percent(share: float) -> str:
    """A share for a sentence: never 0% or 100% for what is only nearly so."""
    if 0 < share < 0.005 or 0.995 < share < 1:
        return "less than 1%" if share < 0.5 else "more than 99%"
    return f"{share:.0%}"


def as_records(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Lists by column name as one dictionary a row."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
