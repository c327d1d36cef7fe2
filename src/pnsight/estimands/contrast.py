"""Contrasts: what a structure says about two arms, one against the other, in the words of the named quantities.

A quantity is a statement about ``Y1`` and ``Y0``, the outcome under the one arm and under the other, ``X``, 1 and 0 for
those who choose them, and ``Y``, the outcome people show. Outcomes count from the worst, 0, to the best, ``top``. Of
times to an event, they are the intervals, the later the better if the event is bad; or, at a horizon, 1 for those whom
the event has spared until then (or, if it is good, reached). So the quantities mean what they mean with two outcomes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pnsight._typing import FloatArray
from pnsight.data.noncompliance import KIND as NONCOMPLIANCE
from pnsight.data.structure import Structure
from pnsight.errors import QuantityError, did_you_mean, join_names
from pnsight.estimands.expressions import Coded, People

Contrast: TypeAlias = tuple[str, str]
"""Names of an arm and of the one that it is compared with."""

Codes: TypeAlias = npt.NDArray[Any]


def read_contrast(given: str | Contrast | None) -> Contrast | None:
    """The two arms of a contrast.

    Parameters
    ----------
    given
        ``high:placebo``, or the two names; a backslash before a colon that belongs to a name.

    Returns
    -------
    The arm, and the one that it is compared with; None if none is given.
    """
    if given is None:
        return None
    parts = given.replace("\\:", "\0").split(":") if isinstance(given, str) else list(given)
    names = [part.replace("\0", ":").strip() for part in parts]
    if len(names) != 2 or names[0] == names[1]:
        raise QuantityError(
            f"the contrast is {given!r}; expected two different arms, as in --contrast high:placebo "
            "(contrast='high:placebo')."
        )
    return names[0], names[1]


def write_contrast(contrast: Contrast) -> str:
    """Two arms as `read_contrast` takes them.

    Parameters
    ----------
    contrast
        The arm, and the one that it is compared with.

    Returns
    -------
    ``high:placebo``, with a backslash before a colon that belongs to a name.
    """
    return ":".join(arm.replace(":", "\\:") for arm in contrast)


def resolve_contrast(structure: Structure, contrast: Contrast | None) -> Contrast:
    """The contrast that is meant where a structure has only two arms, and else that which is given.

    Parameters
    ----------
    structure
        Arms by name.
    contrast
        What was given.

    Returns
    -------
    The arm, and the one that it is compared with.
    """
    arms = structure.description.arms
    if contrast is None and len(arms) > 2:
        raise QuantityError(
            f"the study has the arms {join_names(arms)}; say which one is compared with which, as in --contrast "
            f"{arms[-1]}:{arms[0]} (contrast='{arms[-1]}:{arms[0]}')."
        )
    if contrast is None:
        return (arms[1], arms[0]) if arms else ("1", "0")
    for arm in contrast:
        if arm not in arms:
            raise QuantityError(
                f"the contrast names {arm!r}, which is no arm; the arms are {join_names(arms)}."
                + did_you_mean(arm, arms)
            )
    return contrast


def contrast_people(structure: Structure, contrast: Contrast | None, horizon: float | None) -> dict[str, Codes]:
    """What the named quantities speak of, for each response type.

    Parameters
    ----------
    structure
        The types.
    contrast
        Two arms; None where there are only two.
    horizon
        Of times to an event, when to look; None for the intervals themselves.

    Returns
    -------
    Arrays of shape (types,) by name: ``X``, ``Y``, ``Y0``, ``Y1`` and ``top``; with noncompliance ``D0`` and ``D1``,
    and of times ``gained``.
    """
    people, described = structure.people, structure.description
    if not described.arms:
        return {**people, "top": np.ones(structure.n_types, dtype=np.intp)}
    treated, reference = (described.arms.index(arm) for arm in resolve_contrast(structure, contrast))
    at = horizon_index(structure, horizon)
    best = 1 if at is not None else len(described.outcomes) - 1

    def rank(codes: Codes) -> Codes:
        if not described.horizons:
            return codes
        later = codes if at is None else (codes > at).astype(np.intp)
        return later if described.event_is_bad else best - later

    def arm(codes: Codes) -> Codes:
        return np.where(codes == treated, 1, np.where(codes == reference, 0, -1))

    found = {
        "X": arm(people["X"]),
        "Y0": rank(people[f"Y{reference}"]),
        "Y1": rank(people[f"Y{treated}"]),
        "Y": rank(people["Y"]),
        "top": np.full(structure.n_types, best),
    }
    if described.kind == NONCOMPLIANCE:
        found |= {name: arm(people[f"D{z}"]) for name, z in (("D0", reference), ("D1", treated)) if f"D{z}" in people}
    if described.horizons:
        gained = restricted_times(described.horizons, horizon)
        later = gained[people[f"Y{treated}"]] - gained[people[f"Y{reference}"]]
        found["gained"] = later if described.event_is_bad else -later
    return found


def horizon_index(structure: Structure, horizon: float | None) -> int | None:
    """Which of a structure's horizons is asked about.

    Parameters
    ----------
    structure
        Its horizons.
    horizon
        When to look; None for the intervals themselves.

    Returns
    -------
    Its place among the horizons; None for None, and an error for a time that is no horizon.
    """
    horizons = structure.description.horizons
    if horizon is None:
        return None
    if horizon not in horizons:
        known = (
            f"its horizons are {join_names(f'{h:g}' for h in horizons)}"
            if horizons
            else "it has none: its outcomes are no times to an event. Leave --horizon (horizon=) out, or read the "
            "tables with --time (time=)"
        )
        raise QuantityError(f"the study is asked about the horizon {horizon:g}; {known}.")
    return horizons.index(horizon)


def restricted_times(horizons: tuple[float, ...], until: float | None = None) -> FloatArray:
    """Time without the event until a horizon, by the interval that the event is in.

    Within an interval events are taken to be spread evenly, so that its middle stands for it: the mean is the area
    under the curve that is straight between horizons (restricted mean survival time).

    Parameters
    ----------
    horizons
        Ends of the intervals.
    until
        One of them; None for the last.

    Returns
    -------
    Shape (intervals + 1,).
    """
    ends = np.array(horizons)
    last = ends[-1] if until is None else until
    middles = (ends + np.concatenate([[0.0], ends[:-1]])) / 2
    return np.append(np.where(ends <= last, middles, last), last)


def vocabulary(structure: Structure) -> People:
    """What statements may name, for each response type.

    Parameters
    ----------
    structure
        The types, with arms and outcomes by name.

    Returns
    -------
    ``X``, ``Y`` and ``Y[arm]``, or ``T`` and ``T[arm]``; with noncompliance ``D[arm]``; and by position ``Y0``, ``Y1``.
    """
    people, described = structure.people, structure.description
    if not described.arms:
        return people
    time = bool(described.horizons)
    letter = "T" if time else "Y"

    def outcome(name: str, codes: Codes) -> Coded:
        return Coded(name, codes, described.outcomes, described.ordered, described.horizons)

    def under(first: str, make: Any) -> Mapping[str, Coded]:
        return {
            arm: make(f"{first}[{arm}]", people[f"{'D' if first == 'D' else 'Y'}{k}"])
            for k, arm in enumerate(described.arms)
            if f"{'D' if first == 'D' else 'Y'}{k}" in people
        }

    def taken(name: str, codes: Codes) -> Coded:
        return Coded(name, codes, described.arms, ordered=False)

    found: dict[str, Any] = {
        "X": taken("X", people["X"]),
        letter: outcome(letter, people["Y"]),
        f"{letter}[]": under(letter, outcome),
        **{f"{letter}{k}": outcome(f"{letter}{k}", people[f"Y{k}"]) for k in range(len(described.arms))},
    }
    if described.kind == NONCOMPLIANCE:
        found["D[]"] = under("D", taken)
    return found
