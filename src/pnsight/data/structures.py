"""All instances of a structure: built from their description, and where in them a row of a table is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

import numpy as np

from pnsight._typing import IndexArray
from pnsight.data import arms_and_outcomes, noncompliance, time_to_event
from pnsight.data.arms_and_outcomes import MISSING, chosen_cell, partial_outcomes, trial_cell
from pnsight.data.noncompliance import taken_cell
from pnsight.data.structure import EXPERIMENTAL, TWO_BY_TWO_KIND, WORST_CASE, Description, Structure
from pnsight.data.two_by_two import CELLS, UNKNOWN, two_by_two
from pnsight.errors import LimitError, ModelError, join_names

MAX_TYPES = 500
"""Response types of a study: with more of them formulas for the bounds take too long to find."""


def _two_by_two(description: Description) -> Structure:
    return two_by_two(description.arms, description.outcomes, description.missing)


KINDS: Mapping[str, Callable[[Description], Structure]] = {
    TWO_BY_TWO_KIND: _two_by_two,
    arms_and_outcomes.KIND: arms_and_outcomes.of_description,
    time_to_event.KIND: arms_and_outcomes.of_description,
    noncompliance.KIND: noncompliance.of_description,
}
"""How each kind of structure is built from its description."""


@lru_cache(maxsize=64)
def structure_of(description: Description, tables: tuple[str, ...]) -> Structure:
    """The structure that a description is of.

    Parameters
    ----------
    description
        What the structure is made of, of one of `KINDS`.
    tables
        Names of the tables, the experimental one first.

    Returns
    -------
    The structure; `LimitError` says what to merge where it has too many response types.
    """
    number = n_types(description)
    if number > MAX_TYPES:
        raise LimitError(_too_many(description, number))
    return KINDS[description.kind](description).only(tables)


def n_types(description: Description) -> int:
    """How many response types a structure has, without building it.

    Parameters
    ----------
    description
        What the structure is made of.

    Returns
    -------
    The number.
    """
    arms, outcomes = len(description.arms), len(description.outcomes)
    taken = arms ** len(description.tried) if description.kind == noncompliance.KIND else 1
    unseen = len(description.tried) + 1 if description.missing == WORST_CASE else 0
    return int(arms * taken * outcomes**arms * 2**unseen)


def _too_many(description: Description, number: int) -> str:
    what = "horizons" if description.horizons else "outcomes"
    several = len(description.arms) > 2
    merge = f"arms or {what}" if several and len(description.outcomes) > 2 else "arms" if several else what
    worst = (
        ", or leave --missing-outcome worst-case (missing_outcome=) out" if description.missing == WORST_CASE else ""
    )
    outcomes = "intervals of time" if description.horizons else "outcomes"
    return (
        f"{len(description.arms)} arms and {len(description.outcomes)} {outcomes} make {number:,} response types; "
        f"expected at most {MAX_TYPES:,}, up to which bounds can be compiled. Use fewer {merge}: merge those that "
        f"matter alike{worst}."
    )


def require_two_by_two(structure: Structure, what: str, instead: str) -> None:
    """Refuse a structure other than two arms and two outcomes.

    Parameters
    ----------
    structure
        Of a study.
    what
        What cannot be done with it, to begin the message.
    instead
        What to use, to end it.
    """
    if not structure.is_two_by_two:
        found = structure.description
        raise ModelError(
            f"{what} studies with two arms and two outcomes only; this one is of the kind {found.kind!r}, with the "
            f"arms {join_names(found.arms)} and the outcomes {join_names(found.outcomes)}. Use {instead}."
        )


@lru_cache(maxsize=64)
def places(structure: Structure, table: str) -> IndexArray:
    """Where a row of a table is counted, by what it shows.

    Parameters
    ----------
    structure
        The cells and sets of the table.
    table
        Its name.

    Returns
    -------
    Positions among the cells of the table and, after them, its sets: by the arm, and by the outcome or what is known of
    it (`outcome_codes`); of an experiment with noncompliance by the arm assigned first. -1 for what cannot be.
    """
    description = structure.description
    names = [structure.cells[column].name for column in range(structure.n_cells)[structure.columns_of(table)]]
    names += [structure.sets[number].name for number in structure.sets_of(table)]
    position = {name: place for place, name in enumerate(names)}
    outcomes = outcome_codes(description)

    def placed(wanted: Iterable[str]) -> IndexArray:
        return np.array([position.get(name, -1) for name in wanted], dtype=np.intp)

    if structure.is_two_by_two:
        shown = [(*CELLS[table][arm], UNKNOWN[table][arm])[: len(outcomes)] for arm in (0, 1)]
        return np.stack([placed(names) for names in shown])
    if description.kind == noncompliance.KIND and table == EXPERIMENTAL:
        return np.stack(
            [
                np.stack([placed(taken_cell(z, d, y) for y in outcomes) for d in description.arms])
                for z in description.arms
            ]
        )
    cell = trial_cell if table == EXPERIMENTAL else chosen_cell
    return np.stack([placed(cell(arm, y) for y in outcomes) for arm in description.arms])


def outcome_codes(description: Description) -> tuple[str, ...]:
    """What a row may show of its outcome, in the order of their codes.

    Parameters
    ----------
    description
        What the structure is made of.

    Returns
    -------
    The outcomes, then what may be known short of one; that it is missing, where that is a cell.
    """
    missing = (MISSING,) if description.missing == WORST_CASE else ()
    return (*description.outcomes, *partial_outcomes(description), *missing)
