"""Several arms and several outcomes: people choose one arm, and have one of the outcomes under each.

A type fixes ``X``, the arm that a person chooses, and ``Y0``, ``Y1``, ..., the outcome under each. The experiment shows
the outcome under each arm that it has, the observational table the arm chosen together with the outcome under it. The
experiment may lack an arm that people choose. With two arms and two outcomes it is `two_by_two` in another layout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from pnsight.data.structure import (
    DROP,
    EXPERIMENTAL,
    OBSERVATIONAL,
    SET,
    WORST_CASE,
    Description,
    ObservationSet,
    Structure,
    Variable,
    build_structure,
)

KIND = "arms and outcomes"

MISSING = "?"
"""What is written for an outcome that is missing."""

Statements = dict[tuple[str, str], dict[str, Callable[[Mapping[str, Any]], Any]]]
"""By table and group, its cells by name: a function of the variables."""


def trial_cell(arm: str, outcome: str) -> str:
    """Name of the cell of an outcome under an arm of the experiment."""
    return f"Y[{arm}]={outcome}"


def chosen_cell(arm: str, outcome: str) -> str:
    """Name of the cell of those who chose an arm and show an outcome."""
    return f"X={arm},Y={outcome}"


def arms_and_outcomes(
    arms: Sequence[str],
    outcomes: Sequence[str],
    tables: Sequence[str] = (EXPERIMENTAL, OBSERVATIONAL),
    *,
    tried: Sequence[str] | None = None,
    ordered: bool = True,
    missing: str = DROP,
) -> Structure:
    """People who choose one of several arms and have one of several outcomes under each.

    Parameters
    ----------
    arms, outcomes
        Their names: the reference arm and the lowest outcome first.
    tables
        Which tables there are.
    tried
        Arms that the experiment has; None for all.
    ordered
        Whether the order of the outcomes means something.
    missing
        What a row without an outcome shows, as `Description` has it.

    Returns
    -------
    The structure, with ``Y``, the outcome that people show under the arm they choose.
    """
    has = tuple(arms) if tried is None else tuple(tried)
    return of_description(Description(KIND, tuple(arms), tuple(outcomes), ordered, has, missing=missing)).only(tables)


def of_description(description: Description) -> Structure:
    """The structure that a description is of, with both tables.

    Parameters
    ----------
    description
        Arms and outcomes by name.

    Returns
    -------
    The structure.
    """
    arms, outcomes = description.arms, description.outcomes
    variables = [Variable("X", arms), *(Variable(f"Y{k}", outcomes) for k in range(len(arms)))]
    tried = [arms.index(arm) for arm in description.tried]
    worst_case = description.missing == WORST_CASE
    if worst_case:
        variables += [*(Variable(f"R{k}", SEEN) for k in tried), Variable("R", SEEN)]
    groups: Statements = {(EXPERIMENTAL, arms[k]): _trial_cells(arms[k], k, outcomes, worst_case) for k in tried}
    groups[OBSERVATIONAL, OBSERVATIONAL] = chosen_cells(arms, outcomes, worst_case)
    return build_structure(variables, groups, shown(len(arms)), tuple(_sets(description)), description)


SEEN = ("missing", "seen")
"""Whether an outcome is missing, under each arm of the experiment and in the observational table, is part of a type."""


def shown(arms: int) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    """What follows from the variables: ``Y``, the outcome under the arm that is chosen."""

    def derive(people: Mapping[str, Any]) -> Mapping[str, Any]:
        under = np.stack([people[f"Y{k}"] for k in range(arms)])
        return {"Y": np.take_along_axis(under, people["X"][None, :], axis=0)[0]}

    return derive


def _trial_cells(arm: str, k: int, outcomes: Sequence[str], worst_case: bool) -> dict[str, Callable[..., Any]]:
    def seen(people: Mapping[str, Any]) -> Any:
        return people[f"R{k}"] == 1 if worst_case else True

    found: dict[str, Callable[..., Any]] = {
        trial_cell(arm, outcome): (lambda people, y=y: (people[f"Y{k}"] == y) & seen(people))
        for y, outcome in enumerate(outcomes)
    }
    return {**found, trial_cell(arm, MISSING): lambda people: people[f"R{k}"] == 0} if worst_case else found


def chosen_cells(arms: Sequence[str], outcomes: Sequence[str], worst_case: bool) -> dict[str, Callable[..., Any]]:
    """Cells of the observational table: the arm chosen, with the outcome under it or none."""

    def seen(people: Mapping[str, Any]) -> Any:
        return people["R"] == 1 if worst_case else True

    found: dict[str, Callable[..., Any]] = {}
    for (k, arm), (y, outcome) in product(enumerate(arms), enumerate(outcomes)):
        found[chosen_cell(arm, outcome)] = lambda people, k=k, y=y: (
            (people["X"] == k) & (people["Y"] == y) & seen(people)
        )
    for k, arm in enumerate(arms if worst_case else ()):
        found[chosen_cell(arm, MISSING)] = lambda people, k=k: (people["X"] == k) & (people["R"] == 0)
    return found


def after_horizon(horizon: float) -> str:
    """What is written for an event that comes after a horizon."""
    return f">{horizon:.12g}"


def partial_outcomes(description: Description) -> dict[str, tuple[str, ...]]:
    """What may be known of an outcome short of which it is: by name, the outcomes that it may be.

    Parameters
    ----------
    description
        Outcomes by name, or intervals of times to an event.

    Returns
    -------
    Nothing known, where rows without an outcome are kept; and of times, that the event comes after a horizon.
    """
    outcomes = description.outcomes
    nothing = {MISSING: outcomes} if description.missing == SET or description.horizons else {}
    return {**nothing, **{after_horizon(h): outcomes[k + 1 :] for k, h in enumerate(description.horizons[:-1])}}


def _sets(description: Description) -> Iterable[ObservationSet]:
    for arm, (name, outcomes) in product(description.tried, partial_outcomes(description).items()):
        cells = tuple(trial_cell(arm, outcome) for outcome in outcomes)
        yield ObservationSet(trial_cell(arm, name), EXPERIMENTAL, arm, cells)
    yield from chosen_sets(description)


def chosen_sets(description: Description) -> Iterable[ObservationSet]:
    """Sets of the observational table: those who chose an arm, and of whose outcome not all is known."""
    for arm, (name, outcomes) in product(description.arms, partial_outcomes(description).items()):
        cells = tuple(chosen_cell(arm, outcome) for outcome in outcomes)
        yield ObservationSet(chosen_cell(arm, name), OBSERVATIONAL, OBSERVATIONAL, cells)
