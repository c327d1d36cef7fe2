"""Times to an event, cut into intervals by horizons: several arms, and the interval that the event is in as outcome.

The outcomes are the intervals (0, h1], (h1, h2], ... and "later", after the last horizon. A row that was censored shows
that the event is not in the intervals that it was followed through: an observation set. Censoring is taken to say
nothing about the time of the event, given the covariates and the arm.
"""

from __future__ import annotations

from collections.abc import Sequence

from pnsight.data.arms_and_outcomes import of_description
from pnsight.data.structure import DROP, EXPERIMENTAL, OBSERVATIONAL, Description, Structure

KIND = "time to event"

LATER = "later"
"""Name of the outcome of those whose event comes after the last horizon, if ever."""


def interval_names(horizons: Sequence[float]) -> tuple[str, ...]:
    """Names of the intervals that horizons cut time into.

    Parameters
    ----------
    horizons
        Increasing times.

    Returns
    -------
    ``0-30``, ``30-90``, ... and ``later``: one more than there are horizons.
    """
    starts = (0.0, *horizons)
    return (*(f"{start:.12g}-{end:.12g}" for start, end in zip(starts, horizons, strict=False)), LATER)


def time_to_event(
    arms: Sequence[str],
    horizons: Sequence[float],
    tables: Sequence[str] = (EXPERIMENTAL, OBSERVATIONAL),
    *,
    event_is_bad: bool = True,
    tried: Sequence[str] | None = None,
    missing: str = DROP,
) -> Structure:
    """People who choose one of several arms, and have an event at some time under each.

    Parameters
    ----------
    arms
        Their names, the reference first.
    horizons
        Increasing times, which cut time into intervals.
    tables
        Which tables there are.
    event_is_bad
        Whether later is better.
    tried
        Arms that the experiment has; None for all.
    missing
        What a row without a time shows, as `Description` has it.

    Returns
    -------
    The structure, with an observation set for each horizon after which a row may be censored.
    """
    has = tuple(arms) if tried is None else tuple(tried)
    ends = tuple(map(float, horizons))
    found = Description(KIND, tuple(arms), interval_names(ends), True, has, ends, event_is_bad, missing)
    return of_description(found).only(tables)
