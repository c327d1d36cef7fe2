"""What is declared about a study before its tables are read: arms, outcomes, times, and rows without an outcome."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

from pnsight.data.schema import label
from pnsight.data.structure import DROP, WORST_CASE
from pnsight.errors import TableError, join_names

MissingOutcome: TypeAlias = Literal["drop", "set", "worst-case"]
"""What is made of a row without an outcome: left out, any outcome as others like it have, or any at all."""

EventIs: TypeAlias = Literal["good", "bad"]

MAX_HORIZONS = 30


@dataclass(frozen=True)
class Declared:
    """What the caller says about arms and outcomes.

    Attributes
    ----------
    treated, success : values that mean treated and a response, where there are two of each
    arms, outcomes : names in order, the reference and the lowest first; None for two values that show which is which
    ordered : whether the order of the outcomes means something
    horizons : increasing times that cut time into intervals; empty unless outcomes are times to an event
    event_is_bad : whether later is better
    missing : what is made of rows without an outcome
    """

    treated: Any = None
    success: Any = None
    arms: tuple[str, ...] | None = None
    outcomes: tuple[str, ...] | None = None
    ordered: bool = True
    horizons: tuple[float, ...] = ()
    event_is_bad: bool = True
    missing: str = DROP


def declare(
    *,
    outcome: str | None,
    time: str | None,
    event: str | None,
    treated: Any,
    success: Any,
    arms: Sequence[Any] | None,
    outcomes: Sequence[Any] | None,
    unordered: bool,
    event_is: str | None,
    horizons: Sequence[float] | None,
    missing_outcome: str,
) -> Declared:
    """What the arguments of `read_study` declare.

    Parameters
    ----------
    outcome, time, event
        Columns: an outcome, or a time and whether the event happened then.
    treated, success, arms, outcomes, unordered, event_is, horizons, missing_outcome
        As `read_study` takes them.

    Returns
    -------
    The same, checked; `TableError` says what does not go together.
    """
    _check_choice("missing_outcome", missing_outcome, get_args(MissingOutcome))
    named_arms, named_outcomes = _names("arms", arms), _names("outcomes", outcomes)
    for given, one, other in ((treated, "arms", named_arms), (success, "outcomes", named_outcomes)):
        if given is not None and other is not None:
            option = "treated" if one == "arms" else "success"
            raise TableError(
                f"--{option} {given} and --{one} {','.join(other)} ({option}=, {one}=) are both given; the order of "
                f"--{one} says it already, so leave --{option} out."
            )
    if unordered and named_outcomes is None:
        raise TableError("--unordered (unordered=True) is given without --outcomes (outcomes=); name the outcomes.")
    if time is None:
        _check_outcome(outcome, event, event_is, horizons)
        return Declared(treated, success, named_arms, named_outcomes, not unordered, missing=missing_outcome)
    return Declared(
        treated,
        success,
        named_arms,
        None,
        True,
        _times(time, outcome, event, event_is, horizons, named_outcomes, missing_outcome),
        event_is == "bad",
        missing_outcome,
    )


def _check_choice(name: str, given: str, allowed: Sequence[str]) -> None:
    if given not in allowed:
        raise TableError(f"{name} is {given!r}; expected one of {join_names(map(repr, allowed))}.")


def _names(what: str, given: Sequence[Any] | None) -> tuple[str, ...] | None:
    """Names as tables label them."""
    if given is None:
        return None
    found = tuple(label(each) or "" for each in given)
    if len(found) < 2 or "" in found or len(set(found)) < len(found):
        raise TableError(
            f"{what} are {join_names(map(repr, found)) or 'none'}; expected at least two different names, the "
            f"{'reference' if what == 'arms' else 'lowest'} first."
        )
    return found


def _check_outcome(
    outcome: str | None, event: str | None, event_is: str | None, horizons: Sequence[float] | None
) -> None:
    given = {"event": event, "event_is": event_is, "horizons": horizons}
    for name, value in given.items():
        if value is not None:
            option = name.replace("_", "-")
            raise TableError(f"--{option} ({name}=) is for times to an event; name their column with --time (time=).")
    if outcome is None:
        raise TableError(
            "no outcome is named; give --outcome (outcome=) or, for times to an event, --time, --event, --event-is and "
            "--horizons."
        )


def _times(
    time: str,
    outcome: str | None,
    event: str | None,
    event_is: str | None,
    horizons: Sequence[float] | None,
    outcomes: tuple[str, ...] | None,
    missing: str,
) -> tuple[float, ...]:
    if outcome is not None or outcomes is not None:
        both = "--outcome" if outcome is not None else "--outcomes"
        raise TableError(f"--time {time} and {both} are both given; the time of the event is the outcome, use one.")
    if event is None or event_is is None or not horizons:
        raise TableError(
            f"--time {time} is given; it needs --event, the column that says whether the event happened then, "
            "--event-is good or bad, and --horizons such as 30,90,365 (event=, event_is=, horizons=)."
        )
    _check_choice("event_is", event_is, get_args(EventIs))
    if missing == WORST_CASE:
        raise TableError(
            "--missing-outcome worst-case is for outcomes, and --time is given; use drop or set. Times that were "
            "censored are taken for what they show."
        )
    found = tuple(float(each) for each in horizons)
    increasing = all(low < high for low, high in pairwise(found))
    if not (increasing and found[0] > 0 and math.isfinite(found[-1])) or len(found) > MAX_HORIZONS:
        raise TableError(
            f"horizons are {join_names(f'{each:g}' for each in found)}; expected at most {MAX_HORIZONS} times above 0, "
            "each above the one before."
        )
    return found
