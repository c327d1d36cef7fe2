"""What an answer means for a hundred people: how many are helped and harmed, in words that need no formula."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from pnsight.wording._decisions import EXTRAPOLATED

Ends: TypeAlias = Sequence[float] | None
"""The least and the largest share; None where it is not known."""

PARTS = {
    "helped": "helped for sure",
    "maybe_helped": "possibly helped",
    "maybe_either": "possibly helped or harmed",
    "unaffected": "neither helped nor harmed",
    "maybe_harmed": "possibly harmed",
    "harmed": "harmed for sure",
}
"""What the parts of a hundred people are called, in the order in which they are drawn."""

_HARM_NOT_KNOWN = "how many are harmed this model does not say"

_UNANSWERED = {
    "contradicted": "the tables contradict each other about them beyond chance",
    "incoherent": "the tables contradict each other about them, though by no more than chance can do",
    "undefined": "one of the tables has no row of them that could tell",
    "crossed": "the two networks of this model disagree about them",
}
"""Why nothing is said, by status."""


def people_of_hundred(share: float) -> str:
    """How many of a hundred people a share is; 0 and 100 only where it is exactly that.

    Parameters
    ----------
    share
        From 0 to 1.

    Returns
    -------
    A whole number, ``fewer than 1`` or ``more than 99``.
    """
    if 1e-9 < share < 0.005:
        return "fewer than 1"
    if 0.995 <= share < 1 - 1e-9:
        return "more than 99"
    return f"{int(100 * share + 0.5)}"


def range_of_hundred(lower: float, upper: float) -> str:
    """How many of a hundred people there are between two shares, as it is said: ``28 to 43``.

    Parameters
    ----------
    lower, upper
        Shares from 0 to 1.

    Returns
    -------
    One number where both are the same.
    """
    least, most = people_of_hundred(lower), people_of_hundred(upper)
    return least if least == most else f"{least} to {most}"


def _whom(people: Sequence[str], among: str) -> str:
    described = f"people with {', '.join(people)}" if people else "people"
    return f"of 100 {described}{f' {among}' if among else ''}"


def _whom_on_page(people: Sequence[str], among: str) -> str:
    return f"of 100 {'such ' * bool(people)}people{f' {among}' if among else ''}"


def _per_hundred(people: Sequence[str], among: str, **values: Any) -> str:
    return f"{_whom(people, among)}, {_said(**values)}"


def _per_hundred_on_page(people: Sequence[str], among: str, **values: Any) -> str:
    return f"{_whom_on_page(people, among)}, {_said(**values)}"


def _said(
    arm: str,
    reference: str,
    outcome: str,
    better: str,
    with_arm: Ends,
    with_reference: Ends,
    helped: Sequence[float],
    harmed: Ends,
    extrapolated: bool,
) -> str:
    parts = []
    if with_arm and with_reference:
        other = f"with {reference}" if reference else "without it"
        ranges = range_of_hundred(*with_arm), range_of_hundred(*with_reference)
        parts.append(f"{ranges[0]} have {outcome} with {arm}, {ranges[1]} {other}")
    difference = f"{better} for" if better else f"{arm} makes the difference for"
    parts.append(f"{difference} {range_of_hundred(*helped)}")
    if harmed:
        does = "the other way round for" if better else "it harms"
        parts.append(f"{does} {range_of_hundred(*harmed)}")
    else:
        parts.append(_HARM_NOT_KNOWN)
    return "; ".join(parts) + (f" ({EXTRAPOLATED})" if extrapolated else "")


def _chance(level: float, helped: Ends, harmed: Ends) -> str:
    found = {"helped": helped, "harmed": harmed}
    ranges = [f"{name} {range_of_hundred(*ends)}" for name, ends in found.items() if ends]
    return f"allowing for chance, with {100 * level:.12g}% confidence each: {', '.join(ranges)}"


def _unanswered(people: Sequence[str], among: str, status: str) -> str:
    return f"{_whom(people, among)}, {_cannot_say(status)}"


def _unanswered_on_page(people: Sequence[str], among: str, status: str) -> str:
    return f"{_whom_on_page(people, among)}, {_cannot_say(status)}"


def _cannot_say(status: str) -> str:
    return f"how many are helped and how many harmed cannot be said: {_UNANSWERED[status]}"


def _harm_and_net(arm: str, reference: str, outcome: str, harmed: Ends, net: Ends) -> str:
    harm = f"{arm} harms {range_of_hundred(*harmed)} of 100" if harmed else _HARM_NOT_KNOWN
    if net is None:
        return harm
    other = f"with {reference}" if reference else "without it"
    than = f"have {outcome} with {arm} than {other}" if outcome else "are helped than harmed"
    return f"{harm}; in all, {_difference(*net)} {than}"


def _difference(lower: float, upper: float) -> str:
    """By how many more or fewer of a hundred, as it is said."""
    least, most = _more_or_fewer(lower), _more_or_fewer(upper)
    return least if least == most else f"from {least} to {most}"


def _more_or_fewer(share: float) -> str:
    people = round(100 * share)
    return f"{abs(people)} {'fewer' if people < 0 else 'more'}"


PER_HUNDRED: dict[str, Any] = {
    "harm_and_net": _harm_and_net,
    "per_hundred": _per_hundred,
    "per_hundred_chance": _chance,
    "per_hundred_unanswered": _unanswered,
}

PAGE_PER_HUNDRED: dict[str, Any] = {
    "per_hundred": _per_hundred_on_page,
    "per_hundred_unanswered": _unanswered_on_page,
}
