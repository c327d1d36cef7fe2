"""The day on which a report is made."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime

from pnsight.errors import OutputError

EPOCH = "SOURCE_DATE_EPOCH"
"""The variable of the environment that sets the clock, in seconds since 1970, where files have to come out the same."""


def today() -> date:
    """The day that `EPOCH` says, in UTC, or else the day it is here."""
    given = os.environ.get(EPOCH)
    if not given:
        return datetime.now().astimezone().date()
    try:
        return datetime.fromtimestamp(int(given), UTC).date()
    except (ValueError, OverflowError, OSError):
        raise OutputError(
            f"{EPOCH} is {given!r}; expected whole seconds since 1970, such as 1767225600. Correct it or leave it out."
        ) from None
