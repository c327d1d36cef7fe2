"""Noncompliance: people are assigned an arm, take one, and have the outcome of the one that they take.

A type fixes ``X``, the arm that a person chooses where nobody assigns one, ``D0``, ``D1``, ..., what they take if they
are assigned each arm, and ``Y0``, ``Y1``, ..., the outcome under each arm that is taken. Assignment is taken to matter
only through what is taken (exclusion). The experiment shows, by the arm assigned, what was taken and the outcome.
Source: A. Balke and J. Pearl (1997), "Bounds on treatment effects from studies with imperfect compliance".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from pnsight.data.arms_and_outcomes import (
    MISSING,
    SEEN,
    Statements,
    chosen_cells,
    chosen_sets,
    partial_outcomes,
    shown,
)
from pnsight.data.structure import (
    DROP,
    EXPERIMENTAL,
    OBSERVATIONAL,
    WORST_CASE,
    Description,
    ObservationSet,
    Structure,
    Variable,
    build_structure,
)

KIND = "noncompliance"


def taken_cell(assigned: str, taken: str, outcome: str) -> str:
    """Name of the cell of those who took an arm and had an outcome, of those assigned another or the same."""
    return f"D={taken},Y={outcome}|Z={assigned}"


def noncompliance(
    arms: Sequence[str],
    outcomes: Sequence[str],
    tables: Sequence[str] = (EXPERIMENTAL, OBSERVATIONAL),
    *,
    assigned: Sequence[str] | None = None,
    ordered: bool = True,
    missing: str = DROP,
) -> Structure:
    """People who take an arm that depends on the one they are assigned.

    Parameters
    ----------
    arms, outcomes
        Their names: the reference arm and the lowest outcome first.
    tables
        Which tables there are.
    assigned
        Arms that are assigned; None for all.
    ordered
        Whether the order of the outcomes means something.
    missing
        What a row without an outcome shows, as `Description` has it.

    Returns
    -------
    The structure.
    """
    given = tuple(arms) if assigned is None else tuple(assigned)
    found = Description(KIND, tuple(arms), tuple(outcomes), ordered, given, missing=missing)
    return of_description(found).only(tables)


def of_description(description: Description) -> Structure:
    """The structure that a description is of, with both tables.

    Parameters
    ----------
    description
        Arms and outcomes by name; those assigned are `tried`.

    Returns
    -------
    The structure.
    """
    arms, outcomes = description.arms, description.outcomes
    assigned = [arms.index(arm) for arm in description.tried]
    worst_case = description.missing == WORST_CASE
    variables = [
        Variable("X", arms),
        *(Variable(f"D{z}", arms) for z in assigned),
        *(Variable(f"Y{k}", outcomes) for k in range(len(arms))),
        *([*(Variable(f"R{z}", SEEN) for z in assigned), Variable("R", SEEN)] if worst_case else []),
    ]
    groups: Statements = {(EXPERIMENTAL, arms[z]): _trial_cells(description, z) for z in assigned}
    groups[OBSERVATIONAL, OBSERVATIONAL] = chosen_cells(arms, outcomes, worst_case)
    return build_structure(variables, groups, shown(len(arms)), tuple(_sets(description)), description)


def _trial_cells(description: Description, z: int) -> dict[str, Callable[..., Any]]:
    assigned, worst_case = description.arms[z], description.missing == WORST_CASE

    def seen(people: Mapping[str, Any]) -> Any:
        return people[f"R{z}"] == 1 if worst_case else True

    found: dict[str, Callable[..., Any]] = {}
    for (d, taken), (y, outcome) in product(enumerate(description.arms), enumerate(description.outcomes)):
        found[taken_cell(assigned, taken, outcome)] = lambda people, d=d, y=y: (
            (people[f"D{z}"] == d) & (people[f"Y{d}"] == y) & seen(people)
        )
    for d, taken in enumerate(description.arms if worst_case else ()):
        found[taken_cell(assigned, taken, MISSING)] = lambda people, d=d: (
            (people[f"D{z}"] == d) & (people[f"R{z}"] == 0)
        )
    return found


def _sets(description: Description) -> Iterable[ObservationSet]:
    pairs = product(description.tried, description.arms)
    for (assigned, taken), (name, outcomes) in product(pairs, partial_outcomes(description).items()):
        cells = tuple(taken_cell(assigned, taken, outcome) for outcome in outcomes)
        yield ObservationSet(taken_cell(assigned, taken, name), EXPERIMENTAL, assigned, cells)
    yield from chosen_sets(description)
